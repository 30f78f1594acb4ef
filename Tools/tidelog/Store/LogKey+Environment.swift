#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif
#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
internal import OperationLog

extension [LogKey] {
    /// Returns the keys in `TIDELOG_KEY`: 64 hexadecimal digits, or 32 bytes in Base64, separated by commas. The first
    /// key writes, all of them read. The environment is used for the same reason as for credentials.
    static func fromEnvironment() throws -> [LogKey] {
        guard let variable = getenv("TIDELOG_KEY") else { return [] }
        return try keys(in: String(cString: variable))
    }

    /// Returns the key in `TIDELOG_COPY_KEY`, which encrypts a copy for another person.
    static func ofCopy() throws -> LogKey {
        let text = getenv("TIDELOG_COPY_KEY").map { String(cString: $0) } ?? ""
        guard let key = try keys(in: text, of: "TIDELOG_COPY_KEY").first else {
            throw CommandFailure(
                "The environment has no TIDELOG_COPY_KEY.",
                recovery:
                    "Set it to \(2 * LogKey.byteCount) hexadecimal digits that the recipient of the copy receives.")
        }
        return key
    }

    /// Returns the keys in a text in the format of `TIDELOG_KEY`; none for an empty text. Errors do not contain the
    /// text.
    static func keys(in text: String, of variable: String = "TIDELOG_KEY") throws -> [LogKey] {
        if text.isEmpty { return [] }
        return try text.split(separator: ",", omittingEmptySubsequences: false).enumerated().map { index, part in
            guard let key = LogKey(hexadecimal(part) ?? Data(base64Encoded: String(part)).map { [UInt8]($0) } ?? [])
            else {
                throw CommandFailure(
                    "Key \(index + 1) in \(variable) is not a valid key.",
                    recovery:
                        "Use \(LogKey.byteCount) bytes in Base64, or \(2 * LogKey.byteCount) hexadecimal digits."
                )
            }
            return key
        }
    }

    private static func hexadecimal(_ text: Substring) -> [UInt8]? {
        let digits = text.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count == 2 * LogKey.byteCount, !digits.contains(nil) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0]! << 4 | digits[$0 + 1]!) }
    }
}
