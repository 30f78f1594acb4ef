/// Sixteen bytes that tell one store's files from another's. Drawn when a log is made, never changed.
public struct StoreIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// Always sixteen.
    public let bytes: [UInt8]

    /// Nil unless there are sixteen bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    static func random() -> StoreIdentifier {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return StoreIdentifier(unchecked: bytes)
    }

    fileprivate init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    init(_ slice: ArraySlice<UInt8>) {
        precondition(slice.count == 16)
        bytes = Array(slice)
    }

    /// The chain value in front of a log's first record.
    var initialChain: UInt32 { crc32c(bytes[...]) }

    /// Thirty-two hexadecimal digits.
    public var description: String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
