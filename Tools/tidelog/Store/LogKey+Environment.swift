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

    /// Returns the keys in a text in the format of `TIDELOG_KEY`; none for an empty text. Errors do not contain the
    /// text.
    static func keys(in text: String) throws -> [LogKey] {
        if text.isEmpty { return [] }
        return try text.split(separator: ",", omittingEmptySubsequences: false).enumerated().map { index, part in
            guard let key = LogKey(hexadecimal(part) ?? Data(base64Encoded: String(part)).map { [UInt8]($0) } ?? [])
            else {
                throw CommandFailure(
                    "Key \(index + 1) in TIDELOG_KEY is not a valid key.",
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
