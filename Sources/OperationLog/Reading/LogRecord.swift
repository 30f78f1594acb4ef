/// A record as it was appended.
package struct LogRecord: Sendable, Hashable {
    package let sequence: UInt64
    /// The kind of the payload, defined by the code that appends records.
    package let kind: UInt8
    /// The payload as a slice of the block's bytes, which stay in memory as long as the slice does.
    package let bytes: ArraySlice<UInt8>

    package init(sequence: UInt64, kind: UInt8, payload: [UInt8]) {
        self.init(sequence: sequence, kind: kind, bytes: payload[...])
    }

    init(sequence: UInt64, kind: UInt8, bytes: ArraySlice<UInt8>) {
        self.sequence = sequence
        self.kind = kind
        self.bytes = bytes
    }

    /// A copy of the payload.
    package var payload: [UInt8] { Array(bytes) }
}
