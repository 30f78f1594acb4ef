/// A record as it was appended.
public struct LogRecord: Sendable, Hashable {
    public let sequence: UInt64
    /// The kind of the payload, defined by the code that appends records.
    public let kind: UInt8
    /// The payload as a slice of the block's bytes, which stay in memory as long as the slice does.
    public let bytes: ArraySlice<UInt8>

    public init(sequence: UInt64, kind: UInt8, payload: [UInt8]) {
        self.init(sequence: sequence, kind: kind, bytes: payload[...])
    }

    init(sequence: UInt64, kind: UInt8, bytes: ArraySlice<UInt8>) {
        self.sequence = sequence
        self.kind = kind
        self.bytes = bytes
    }

    /// A copy of the payload.
    public var payload: [UInt8] { Array(bytes) }
}
