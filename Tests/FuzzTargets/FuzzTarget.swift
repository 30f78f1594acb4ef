/// A function to fuzz. Each target accepts any bytes and checks the requirements of the code; a trap is a finding too.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// Reads and verifies the bytes of a segment.
    case blocks
    /// Reads and verifies the bytes of an encrypted segment.
    case encryptedBlocks
    /// Decodes the kind and payload of a record.
    case records
    /// Recovers the end of a log's last segment, appends to it and reads it again.
    case recovery
    /// Decodes and restores the items of a snapshot of the state.
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

    /// Valid inputs with which fuzzing starts.
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

/// A violated requirement.
public struct Finding: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}

func require(_ condition: Bool, _ promise: @autoclosure () -> String) throws(Finding) {
    if !condition { throw Finding(promise()) }
}
