internal import EDM
internal import ODataWire

/// The error of a page that a feed cannot consist of, as a sentence.
package struct FeedError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
    /// The pause that the service asks for, in milliseconds.
    package var retryAfter: Int64?

    package init(_ description: String, retryAfter: Int64? = nil) {
        self.description = description
        self.retryAfter = retryAfter
    }
}

/// The metadata of a service with feeds.
package struct FeedModel: Sendable {
    let model: EntityDataModel

    /// Returns `nil` if the bytes are no metadata.
    package init?(metadata: [UInt8]) {
        guard let model = try? CSDLReader().read(metadata) else { return nil }
        self.model = model
    }
}

/// The entity set of a feed: its key, and the shape of its rows.
package struct FeedSource: Sendable {
    let model: EntityDataModel
    let type: EntityType
    let encoder: RequestEncoder
    /// The top-level members that contain the key.
    let keyMembers: Set<String>

    /// - Throws: An error if the set has no rows with keys.
    package init(_ metadata: FeedModel, set: String, root: ServiceRoot) throws(FeedError) {
        let model = metadata.model
        guard let type = model.findEntitySet(set)?.entityType else {
            throw FeedError("The metadata contain no entity set \(set).")
        }
        guard !type.keyParts.isEmpty else { throw FeedError("The entities of \(set) have no key.") }
        guard model.version != .v3 else { throw FeedError("Feeds of OData V3 are not supported.") }
        self.model = model
        self.type = type
        keyMembers = Set(type.keyParts.map { String($0.path.prefix { $0 != "/" }) })
        encoder = RequestEncoder(version: model.version, model: model, serviceRoot: root.description)
    }

    package var isLegacy: Bool { model.version.isLegacy }

    /// The names of the key properties in expressions.
    package var keyNames: [String] { type.keyParts.map(\.path) }

    /// A text that changes if the keys of rows, or their format, change.
    package var shape: String { "\(model.version.rawValue) \(type.name) \(keyNames.joined(separator: ","))" }

    static func bytes(_ value: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.value(value)
        return writer.bytes
    }

    /// Returns the key predicate of a row.
    func key(of row: JSONObject) throws(FeedError) -> String {
        let members = row.members.filter { keyMembers.contains($0.name) }
        let bytes = Self.bytes(.object(JSONObject(members)))
        let reader = PayloadReader(version: model.version, model: model)
        guard let entity = try? reader.entity(bytes, type: type), let key = KeyPredicate(of: type, in: entity.values)
        else { throw FeedError("A row has no key. Select the key properties in the query.") }
        return encoder.predicate(key, of: type)
    }
}

/// Reads a page of a feed while it arrives.
package struct FeedPageReader: Sendable {
    private let source: FeedSource
    private let digest: @Sendable ([UInt8]) -> RowDigest
    private var scanner: FeedScanner

    /// - Parameter digest: The hash function for the content of rows.
    package init(_ source: FeedSource, digest: @escaping @Sendable ([UInt8]) -> RowDigest) {
        self.source = source
        self.digest = digest
        scanner = FeedScanner(version: source.model.version)
    }

    /// The context URL, after the page was read.
    package var context: String? { scanner.context }
    /// The link to the next page, after the page was read.
    package var nextLink: String? { scanner.nextLink }

    /// Returns the rows that are complete after the next bytes of the page.
    package mutating func rows(_ chunk: [UInt8]) throws(FeedError) -> [FeedRow] {
        scanner.append(chunk)
        return try rows()
    }

    /// Returns the remaining rows at the end of the page. Throws if the page is truncated.
    package mutating func end() throws(FeedError) -> [FeedRow] {
        scanner.finish()
        return try rows()
    }

    private mutating func rows() throws(FeedError) -> [FeedRow] {
        var rows: [FeedRow] = []
        do throws(PayloadError) {
            while let item = try scanner.next() {
                guard let object = item.object else { throw PayloadError(.unexpectedShape, "A row is no object.") }
                rows.append(try row(object, item))
            }
        } catch {
            throw FeedError("A page of the service cannot be read: \(error.message)")
        }
        return rows
    }

    private func row(_ object: JSONObject, _ item: JSONValue) throws(PayloadError) -> FeedRow {
        if RowContent.isIncomplete(item) {
            throw PayloadError(.unexpectedShape, "An expanded collection has several pages.")
        }
        let key: String
        do throws(FeedError) { key = try source.key(of: object) } catch {
            throw PayloadError(.unexpectedShape, error.description)
        }
        return FeedRow(key: key, digest: digest(RowContent.bytes(of: item)), body: FeedSource.bytes(item))
    }
}
