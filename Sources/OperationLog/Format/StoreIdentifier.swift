/// A 16-byte identifier that distinguishes the files of different stores.
///
/// It is generated at random when a log is created and never changes.
package struct StoreIdentifier: Sendable, Hashable, CustomStringConvertible {
    /// The identifier's sixteen bytes.
    package let bytes: [UInt8]

    /// Creates an identifier, or returns nil unless there are sixteen bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    package static func random() -> StoreIdentifier {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return StoreIdentifier(unchecked: bytes)
    }

    fileprivate init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    init(_ slice: ArraySlice<UInt8>) {
        precondition(slice.count == 16)
        bytes = Array(slice)
    }

    /// The chain value before a log's first record.
    var initialChain: UInt32 { crc32c(bytes[...]) }

    /// The identifier as thirty-two hexadecimal digits.
    package var description: String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
