/// What the parts of a batch are called in its JSON form: each request has an identifier, each change set the name of its
/// atomicity group, and no two of them are the same (OData JSON Format 4.01, section 19.1).
struct JSONBatchNames {
    struct Part {
        /// nil for a query.
        let group: String?
        let identifiers: [String]

        /// What a later request names to come after this part.
        var name: String? { group ?? identifiers.first }
    }

    private(set) var parts: [Part] = []
    private var taken: Set<String> = []

    /// Content-IDs stay what they are; what has none gets a name that is free. The same batch gives the same names.
    init(_ batch: BatchRequest) throws(BatchWriteError) {
        for id in batch.parts.flatMap(\.contentIDs).compactMap(\.self) {
            guard taken.insert(id).inserted else { throw .duplicateContentID(id) }
        }
        for (index, part) in batch.parts.enumerated() {
            let identifiers = part.contentIDs.enumerated().map { $1 ?? free("r\(index + 1)_\($0 + 1)") }
            if case .changeSet = part {
                parts.append(Part(group: free("g\(index + 1)"), identifiers: identifiers))
            } else {
                parts.append(Part(group: nil, identifiers: identifiers))
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
