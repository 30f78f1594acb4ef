internal import EDM
internal import ODataQuery
internal import ODataWire

/// The reason why a reading of a feed is not published, as a sentence.
package struct FeedError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a reason. The raw value is the end of the reading in metrics.
    package enum Cause: String, Sendable, Hashable, CaseIterable {
        /// The service cannot be reached, or answers with an error.
        case origin = "failed"
        /// The response is not understood, or the query cannot be a feed.
        case answer = "refused"
        /// So many rows are missing that the operator has to accept it.
        case removals
        /// The feed exceeds a bound of the configuration.
        case limit
        /// The storage cannot be used.
        case storage
    }

    package let description: String
    package let cause: Cause
    /// The pause that the service asks for, in milliseconds.
    package var retryAfter: Int64?

    package init(_ description: String, cause: Cause = .answer, retryAfter: Int64? = nil) {
        self.description = description
        self.cause = cause
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

    /// The key, if it is one integer, whose literal is its text in JSON.
    private let integerKey: String?

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
        keyMembers = Set(type.keyParts.map(\.propertyName))
        let isInteger = type.keyParts.count == 1 && Self.plain.contains(type.keyParts[0].type.primitive)
        integerKey = isInteger && !type.keyParts[0].path.contains("/") ? type.keyParts[0].path : nil
        encoder = RequestEncoder(version: model.version, model: model, serviceRoot: root.description)
    }

    package var isLegacy: Bool { model.version.isLegacy }

    /// The names of the key properties in expressions.
    package var keyNames: [String] { type.keyParts.map(\.path) }

    /// A text that changes if the keys of rows, or their format, change.
    package var shape: String { "\(model.version.rawValue) \(type.name) \(keyNames.joined(separator: ","))" }

    /// The types whose literals are plain integers in every version.
    private static let plain: Set<PrimitiveType?> = [.int16, .int32]

    private static func isPlainInteger(_ text: String) -> Bool {
        let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
        return text.utf8.count - digits.count <= 1
            && digits.first.map { $0 != UInt8(ascii: "0") || digits.count == 1 && digits.count == text.utf8.count }
                ?? false
            && digits.allSatisfy { (0x30...0x39).contains($0) }
    }

    static func bytes(_ value: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.value(value)
        return writer.bytes
    }

    /// Returns the key predicate of a row.
    func key(of row: JSONObject) throws(FeedError) -> String {
        if let integerKey, case .number(let text)? = row[integerKey], Self.isPlainInteger(text) { return "(\(text))" }
        let members = row.members.filter { keyMembers.contains($0.name) }
        let bytes = Self.bytes(.object(JSONObject(members)))
        let reader = PayloadReader(version: model.version, model: model)
        guard let entity = try? reader.entity(bytes, type: type), let key = KeyPredicate(of: type, in: entity.values)
        else { throw FeedError("A row has no key. Select the key properties in the query.") }
        return encoder.predicate(key, of: type)
    }
}
