package import ODataWire

/// The identification of a request in the logs of several programs (W3C Trace Context, header `traceparent`).
package struct TraceContext: Sendable, Hashable {
    package static let header = "traceparent"

    /// 32 hexadecimal digits.
    package let trace: String
    /// The value of the header.
    package let value: String

    /// Reads the identification that a client or a proxy has made. Returns `nil` if there is none, or a malformed one.
    package init?(_ headers: HTTPHeaders) {
        let values = headers.values(Self.header)
        guard values.count == 1, let text = values.first else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts.prefix(4).map(\.utf8.count) == [2, 32, 16, 2],
            parts.prefix(4).allSatisfy({ $0.utf8.allSatisfy(Self.isHexadecimal) }), parts[0] != "ff",
            parts[0] != "00" || parts.count == 4, parts[1].contains(where: { $0 != "0" }),
            parts[2].contains(where: { $0 != "0" })
        else { return nil }
        trace = String(parts[1])
        value = text
    }

    /// Creates an identification from random numbers.
    package init(_ first: UInt64, _ second: UInt64, span: UInt64) {
        trace = Self.digits(first) + Self.digits(second)
        value = "00-\(trace)-\(Self.digits(span | 1))-00"
    }

    private static func digits(_ number: UInt64) -> String {
        let text = String(number | 1, radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
