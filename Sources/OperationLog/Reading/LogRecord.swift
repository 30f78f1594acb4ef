/// One record as it was appended.
public struct LogRecord: Sendable, Hashable {
    public let sequence: UInt64
    /// What the payload is, in the words of whoever appended it.
    public let kind: UInt8
    public let payload: [UInt8]

    public init(sequence: UInt64, kind: UInt8, payload: [UInt8]) {
        self.sequence = sequence
        self.kind = kind
        self.payload = payload
    }
}
