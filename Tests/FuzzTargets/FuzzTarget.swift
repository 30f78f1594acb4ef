/// What is fuzzed. Each target takes any bytes and finds out whether the code holds what it promises of them; a trap is a
/// finding by itself.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// A segment's bytes, read and verified.
    case blocks
    /// A record's kind and payload, decoded.
    case records
    /// The end of a log's last segment, recovered, appended to and read again.
    case recovery

    public func run(_ input: [UInt8]) throws(Finding) {
        switch self {
        case .blocks: try fuzzBlocks(input)
        case .records: try fuzzRecords(input)
        case .recovery: try fuzzRecovery(input)
        }
    }
}

/// A promise that did not hold.
public struct Finding: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

func require(_ condition: Bool, _ promise: @autoclosure () -> String) throws(Finding) {
    if !condition { throw Finding(promise()) }
}
