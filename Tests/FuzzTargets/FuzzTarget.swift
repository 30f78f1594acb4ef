/// What is fuzzed. Each target takes any bytes and finds out whether the code holds what it promises of them; a trap is a
/// finding by itself.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// A segment's bytes, read and verified.
    case blocks
    /// The same of an encrypted segment.
    case encryptedBlocks
    /// A record's kind and payload, decoded.
    case records
    /// The end of a log's last segment, recovered, appended to and read again.
    case recovery
    /// The items of a state's snapshot, decoded and restored.
    case snapshot

    public func run(_ input: [UInt8]) throws(Finding) {
        switch self {
        case .blocks: try fuzzBlocks(input, keys: [])
        case .encryptedBlocks: try fuzzBlocks(input, keys: [FuzzLog.key])
        case .records: try fuzzRecords(input)
        case .recovery: try fuzzRecovery(input)
        case .snapshot: try fuzzSnapshot(input)
        }
    }

    /// Inputs that are as they should be, to begin with.
    public var seeds: [[UInt8]] {
        switch self {
        case .blocks: FuzzLog.seeds(keys: []).map { [0] + $0 }
        case .encryptedBlocks: FuzzLog.seeds(keys: [FuzzLog.key]).map { [0] + $0 }
        case .records: recordSeeds
        case .recovery: FuzzLog.tailSeeds
        case .snapshot: snapshotSeeds
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
