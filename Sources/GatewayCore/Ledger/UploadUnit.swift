package import ODataWire

/// A part of an upload that takes effect as a whole, and is repeatable.
package struct UploadUnit: Sendable, Hashable {
    /// The index of the part in the batch; 0 for a single request.
    package let part: Int
    package let identifiers: [RepeatabilityIdentifier]
    /// The Content-IDs of the members, as far as they have some.
    package let contentIDs: [String?]
    /// The number of requests.
    package let members: Int
    /// Whether the unit is a change set. Otherwise it is a request by itself.
    package let isChangeSet: Bool
    /// The bytes whose digest is the fingerprint.
    package let content: [UInt8]

    package var dialect: RepeatabilityIdentifier.Dialect { identifiers.first?.dialect ?? .oasis }

    package func keys(endpoint: String) -> [LedgerKey] { identifiers.map { LedgerKey(endpoint: endpoint, $0) } }

    /// Creates the unit for requests that take effect together. Returns `nil` if they are not repeatable.
    ///
    /// - Throws: A refusal if only some of them are repeatable, or two have the same identifier.
    package init?(
        part: Int, requests: [WireRequest], contentIDs: [String?], isChangeSet: Bool, head: HTTPHeaders = .empty
    ) throws(RequestRefusal) {
        var identifiers: [RepeatabilityIdentifier] = []
        if let whole = try RepeatabilityIdentifier(head) {
            identifiers = [whole]
        } else {
            for request in requests {
                if let identifier = try RepeatabilityIdentifier(request.headers) { identifiers.append(identifier) }
            }
            guard !identifiers.isEmpty else { return nil }
            guard identifiers.count == requests.count, Set(identifiers).count == identifiers.count,
                Set(identifiers.map(\.dialect)).count == 1
            else {
                throw RepeatabilityIdentifier.refusal(
                    identifiers[0].dialect,
                    "Either all requests of a change set are repeatable, with different identifiers, or none.")
            }
        }
        self.part = part
        self.identifiers = identifiers
        self.contentIDs = contentIDs
        self.isChangeSet = isChangeSet
        members = requests.count
        var content: [UInt8] = []
        func append(_ bytes: some Collection<UInt8>) {
            withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { content.append(contentsOf: $0) }
            content.append(contentsOf: bytes)
        }
        for request in requests {
            append(Array(request.method.utf8))
            append(Array(request.url.utf8))
            append(Array((request.headers["X-HTTP-Method"] ?? "").utf8))
            append(Array((request.headers["If-Match"] ?? "").utf8))
            append(request.body)
        }
        for identifier in identifiers {
            append(Array("\(identifier.dialect) \(identifier.firstSent)".utf8))
            append(Array(identifier.client.utf8))
            append(Array(identifier.request.utf8))
        }
        self.content = content
    }
}
