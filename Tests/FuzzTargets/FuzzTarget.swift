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
    /// Reads a JSON document.
    case json
    /// Reads pages, deltas, entities and errors of a service.
    case payloads
    /// Reads the response to a batch, as multipart or JSON.
    case batchResponses
    /// Prepares a batch of a client for the origin of a gateway.
    case batchRequests
    /// Reads metadata in XML or JSON.
    case metadata
    /// Parses URLs with query options, also as a gateway does.
    case urls
    /// Parses literals of all types.
    case literals
    /// Reads the head of a message, and the forms that a gateway stores or sends in links.
    case headers
    /// Reads a file of defining queries.
    case queryFiles
    /// Reads `store.json`, the description of a store.
    case storeDescriptions

    public func run(_ input: [UInt8]) throws(Finding) {
        switch self {
        case .blocks: try fuzzBlocks(input, keys: [])
        case .encryptedBlocks: try fuzzBlocks(input, keys: [FuzzLog.key])
        case .records: try fuzzRecords(input)
        case .recovery: try fuzzRecovery(input)
        case .snapshot: try fuzzSnapshot(input)
        case .json: try fuzzJSON(input)
        case .payloads: try fuzzPayloads(input)
        case .batchResponses: try fuzzBatchResponses(input)
        case .batchRequests: try fuzzBatchRequests(input)
        case .metadata: try fuzzMetadata(input)
        case .urls: try fuzzURLs(input)
        case .literals: try fuzzLiterals(input)
        case .headers: try fuzzHeaders(input)
        case .queryFiles: try fuzzQueryFiles(input)
        case .storeDescriptions: try fuzzStoreDescriptions(input)
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
        case .json: jsonSeeds
        case .payloads: payloadSeeds
        case .batchResponses: batchResponseSeeds
        case .batchRequests: batchRequestSeeds
        case .metadata: metadataSeeds
        case .urls: urlSeeds
        case .literals: literalSeeds
        case .headers: headerSeeds
        case .queryFiles: queryFileSeeds
        case .storeDescriptions: storeDescriptionSeeds
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
