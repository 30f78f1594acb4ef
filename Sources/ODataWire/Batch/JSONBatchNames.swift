/// The identifiers in the JSON form of a batch: of each request, and of the atomicity group of each change set.
///
/// All of them are unique (OData JSON Format 4.01, section 19.1).
struct JSONBatchNames {
    struct RequestGroup {
        /// The atomicity group, or nil for a query.
        let group: String?
        let identifiers: [String]

        /// The identifier with which a later request declares its dependency on this part.
        var name: String? { group ?? identifiers.first }
    }

    private(set) var parts: [RequestGroup] = []
    private var taken: Set<String> = []

    /// Assigns identifiers to all requests and groups.
    ///
    /// Content-IDs are kept; other requests and groups get unused identifiers. The assignment is deterministic.
    init(_ batch: BatchRequest) throws(BatchWriteError) {
        for id in batch.parts.flatMap(\.contentIDs).compactMap(\.self) {
            guard taken.insert(id).inserted else { throw .duplicateContentID(id) }
        }
        for (index, part) in batch.parts.enumerated() {
            let identifiers = part.contentIDs.enumerated().map { $1 ?? free("r\(index + 1)_\($0 + 1)") }
            if case .changeSet = part {
                parts.append(RequestGroup(group: free("g\(index + 1)"), identifiers: identifiers))
            } else {
                parts.append(RequestGroup(group: nil, identifiers: identifiers))
            }
        }
    }

    private mutating func free(_ wanted: String) -> String {
        var name = wanted
        while !taken.insert(name).inserted { name += "_" }
        return name
    }
}

extension BatchPart {
    fileprivate var contentIDs: [String?] {
        switch self {
        case .changeSet(let members): members.map(\.contentID)
        case .query(let request): [request.headers["Content-ID"]]
        }
    }
}
