public import EDM

/// Reads what a service answers, in the JSON of its version, into values that no longer depend on the version.
///
/// V2 and V3 verbose JSON: with and without `d`, `results` or a plain array, `__metadata`, `__deferred`. V4: minimal, full
/// or no metadata, control information with and without `odata.`, numbers as strings (IEEE754Compatible). Annotations of
/// vocabularies and advertised operations are passed over. Facets are not enforced: what a service has
/// sent is a fact. The items of deltas are understood in the forms of 4.0 and 4.01, whichever the version.
public struct PayloadReader: Sendable {
    public let version: ODataVersion
    public let model: EntityDataModel
    public var limits: JSONScanner.Limits
    /// Whether an entity in a collection that cannot be read is given as ``DeltaItem/unreadable(_:)``, so that the others can
    /// be taken. Otherwise the payload is refused as a whole.
    public var setsAside = false

    public init(version: ODataVersion, model: EntityDataModel, limits: JSONScanner.Limits = .init()) {
        self.version = version
        self.model = model
        self.limits = limits
    }

    /// One entity of `type` or of a type derived from it.
    public func entity(_ bytes: [UInt8], type: EntityType) throws(PayloadError) -> EntityPayload {
        let json = unwrapped(try document(bytes) { Self.isProperty($0, $1, type.findProperty, isOpen: type.isOpen) })
        guard let object = json.object else {
            throw PayloadError(.unexpectedShape, "The payload is \(json.kindName), not an entity of type \(type.name).")
        }
        if !version.isLegacy, !type.isOpen, type.findProperty("value") == nil, let value = object["value"] {
            throw PayloadError(
                .unexpectedShape, "The payload wraps \(value.kindName), and is no entity of type \(type.name).")
        }
        // Function results and some proxies wrap a single entity into a collection of one.
        if version.isLegacy, object.members.count == 1, let items = object["results"]?.array, items.count == 1,
            let only = items[0].object
        {
            return try entity(only, type: type)
        }
        return try entity(object, type: type)
    }

    /// One entity as an item of a collection has it: with ``setsAside`` one with a value that cannot be read is given as
    /// unreadable.
    public func wholeEntity(_ bytes: [UInt8], type: EntityType) throws(PayloadError) -> DeltaItem {
        do throws(PayloadError) {
            let payload = try entity(bytes, type: type)
            guard setsAside, let obstacle = obstacle(in: payload) else { return .entity(payload) }
            throw obstacle
        } catch {
            if setsAside, let found = damagedEntity(bytes, type) { return .unreadable(found) }
            let isOfOneValue = error.code == .typeMismatch || error.code == .unknownType
            guard setsAside, isOfOneValue, let json = try? unwrapped(document(bytes) { _, _ in true }) else {
                throw error
            }
            return .unreadable(unreadable(json, error, type))
        }
    }

    /// One page of entities of `type` or of types derived from it, all in memory; ``feedReader(_:type:)`` streams it.
    public func feed(_ bytes: [UInt8], type: EntityType) throws(PayloadError) -> FeedPayload {
        var reader = try feedReader(bytes, type: type)
        var feed = FeedPayload(entities: [])
        while let item = try reader.next() {
            switch item {
            case .entity(let entity): feed.entities.append(entity)
            case .removed(let entity): feed.removed.append(entity)
            case .link(let link): feed.links.append(link)
            case .unreadable(let found): feed.unreadable.append(found)
            }
        }
        // Only now: the page may name its set behind the items.
        if feed.entities.contains(where: reader.isElsewhere) {
            feed.otherEntities = feed.entities.filter(reader.isElsewhere)
            feed.entities.removeAll(where: reader.isElsewhere)
        }
        feed.count = reader.count
        feed.nextLink = reader.nextLink
        feed.deltaLink = reader.deltaLink
        return feed
    }

    /// Reads a page item by item.
    public func feedReader(_ bytes: [UInt8], type: EntityType) throws(PayloadError) -> FeedReader {
        FeedReader(
            scanner: try FeedScanner(bytes, version: version, limits: limits), reader: self, type: type)
    }

    /// Reads a page item by item while it arrives: see ``FeedReader/append(_:)``.
    public func feedReader(type: EntityType) -> FeedReader {
        FeedReader(scanner: FeedScanner(version: version, limits: limits), reader: self, type: type)
    }

    /// The item that a delta link of a single entity of `type` answers.
    public func deltaItem(_ bytes: [UInt8], type: EntityType) throws(PayloadError) -> DeltaItem {
        let json = unwrapped(try document(bytes) { Self.isProperty($0, $1, type.findProperty, isOpen: type.isOpen) })
        guard let object = json.object else {
            throw PayloadError(.unexpectedShape, "The payload is \(json.kindName), not an entity of type \(type.name).")
        }
        return try item(object, type: type)
    }

    /// The value of a single structural property, as `Customers(1)/Name` answers it.
    public func value(_ bytes: [UInt8], of property: Property) throws(PayloadError) -> Value {
        try value(bytes, type: property.type, name: property.name)
    }

    /// The value of a property, or the result of a function, of `type`.
    ///
    /// - Parameter name: the member that V2 wraps the value in; where it is nil or absent, the only member.
    public func value(_ bytes: [UInt8], type: TypeReference, name: String? = nil) throws(PayloadError) -> Value {
        let complex: String? = if case .complex(let name) = type.kind { name } else { nil }
        let own = complex.flatMap(model.findComplexType)
        let json = unwrapped(
            try document(bytes) {
                $0 == name || Self.isProperty($0, $1, own?.findProperty, isOpen: own?.isOpen ?? true)
            })
        if let object = json.object {
            if !version.isLegacy {
                if let wrapped = object["value"] { return try value(wrapped, type: type) }
            } else if let name, let member = object[name] {
                return try value(member, type: type)
            } else if complex != nil, !type.isCollection {
                // A complex value comes under its name, or bare: told apart by whether the members are its own.
                let isBare = object.members.contains { own?.findProperty($0.name) != nil || $0.name == "__metadata" }
                if !isBare, object.members.count == 1 { return try value(object.members[0].value, type: type) }
            } else if object.members.count == 1 {
                return try value(object["results"] ?? object.members[0].value, type: type)
            }
        }
        return try value(json, type: type)
    }

    /// The number that `/$count` answers, as plain text; spaces and a byte order mark around it are passed over.
    public static func count(_ bytes: [UInt8]) -> Int64? {
        var text = bytes[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        let trimmed = text.drop { $0 <= 0x20 }.prefix { $0 > 0x20 }
        guard text.drop(while: { $0 <= 0x20 }).dropFirst(trimmed.count).allSatisfy({ $0 <= 0x20 }) else { return nil }
        return Int64(String(decoding: trimmed, as: UTF8.self))
    }

    /// The whole document, which must not say that the service failed.
    ///
    /// - Parameter isProperty: whether the member is a property of what is read, and no error of the service's.
    func document(
        _ bytes: [UInt8], isProperty: (String, JSONValue) -> Bool = { _, _ in false }
    ) throws(PayloadError) -> JSONValue {
        let json: JSONValue
        do { json = try JSONValue.parse(bytes, limits: limits, allowsRepeatedNames: false) } catch {
            throw PayloadError(error)
        }
        for object in [json.object, version.isLegacy ? json["d"]?.object : nil] {
            guard let object else { continue }
            for member in object.members where ServiceErrorReader.names.contains(member.name) {
                if member.value != .null, !isProperty(member.name, member.value) { throw .inStream(member.value) }
            }
        }
        return json
    }

    /// What the answer says of its failure in spite of its status; nil if it does not.
    ///
    /// - Parameter type: of the entity that the answer may hold.
    public func inStreamError(in bytes: [UInt8], of type: EntityType?) -> PayloadError? {
        // Most answers have no such word at all.
        guard bytes.firstRange(of: Array("error\"".utf8)) != nil else { return nil }
        do throws(PayloadError) {
            _ = try document(bytes) { name, value in
                type.map { Self.isProperty(name, value, $0.findProperty, isOpen: $0.isOpen) } ?? false
            }
            return nil
        } catch {
            return error.code == .serviceError ? error : nil
        }
    }

    /// An open type may have anything; an error has at least a code or a message.
    private static func isProperty(
        _ name: String, _ value: JSONValue, _ find: ((String) -> Property?)?, isOpen: Bool
    ) -> Bool {
        find?(name) != nil || (isOpen && value["code"] == nil && value["message"] == nil)
    }

    /// The entity, if all that is wrong with the document is a string that is no text.
    private func damagedEntity(_ bytes: [UInt8], _ type: EntityType) -> UnreadableEntity? {
        guard var scanner = try? JSONScanner(bytes, limits: limits) else { return nil }
        scanner.checksNames = true
        scanner.toleratesBadText = true
        guard let json = try? scanner.value(), (try? scanner.end()) != nil, let error = scanner.badText else {
            return nil
        }
        let entity = unwrapped(json)
        for object in [json.object, entity.object] {
            if let object, object.members.contains(where: { ServiceErrorReader.names.contains($0.name) }) { return nil }
        }
        return damaged(entity, error, type)
    }

    /// What stands inside the `d` of V2, if there is one.
    func unwrapped(_ json: JSONValue) -> JSONValue {
        guard version.isLegacy, let object = json.object, object.members.count == 1, let content = object["d"] else {
            return json
        }
        return content
    }
}

/// Reads a page of entities, or of changes, one by one; see ``PayloadReader/feedReader(_:type:)`` and, for a page that is
/// still arriving, ``PayloadReader/feedReader(type:)``.
public struct FeedReader: Sendable {
    private var scanner: FeedScanner
    private let reader: PayloadReader
    private let type: EntityType

    init(scanner: FeedScanner, reader: PayloadReader, type: EntityType) {
        self.scanner = scanner
        self.reader = reader
        self.type = type
    }

    /// Adds the bytes that follow those already given. To be called once ``next()`` has given nil.
    public mutating func append(_ chunk: [UInt8]) { scanner.append(chunk) }

    /// Says that no more bytes follow; ``next()`` goes on to the last item, or finds that the page is cut off.
    public mutating func finish() { scanner.finish() }

    /// These are complete once ``next()`` has given nil for a page that is there whole.
    public var count: Int64? { scanner.count }
    public var nextLink: String? { scanner.nextLink }
    public var deltaLink: String? { scanner.deltaLink }
    public var context: String? { scanner.context }

    /// The next item; nil where more bytes are needed for it, and for good behind the last one of a whole page.
    ///
    /// The result, and the error, are the same whichever way the bytes were cut. No more is held than one item and a chunk.
    public mutating func next() throws(PayloadError) -> DeltaItem? {
        let item: JSONValue
        switch try scanner.nextItem() {
        case .row(let row):
            let payload = EntityPayload(etag: row.etag, values: row.values)
            guard reader.setsAside, row.etag != nil, let obstacle = reader.obstacle(in: payload) else {
                return .entity(payload)
            }
            let text = UnreadableEntity.shortened(JSONValue.string(row.etag ?? "").text)
            return .unreadable(UnreadableEntity(error: obstacle, entity: payload, text: text))
        case .oversized(let found):
            let error = PayloadError(.tooLarge, "The entity is too large to be read. \(found.message)")
            guard reader.setsAside else { throw error.below(scanner.itemStep) }
            return .unreadable(reader.unreadable(found.skimmer, error, type))
        case .value(let value): item = value
        case .damaged(let value, let error):
            guard reader.setsAside else { throw PayloadError(error) }
            return .unreadable(reader.damaged(value, error, type))
        case nil, .checked: return nil
        }
        if let object = item.object { scanner.rows.learn(object, type: type, version: reader.version) }
        do { return try reader.itemOrUnreadable(item, type: type) } catch { throw error.below(scanner.itemStep) }
    }

    /// Whether an entity is of another set than the page: by the page's context or, where that names no set, by the types.
    func isElsewhere(_ entity: EntityPayload) -> Bool {
        guard let set = entity.set else { return false }
        let own = context.flatMap(ContextURL.init)?.set
        if let own, own == set || reader.model.findEntitySet(own) != nil { return own != set }
        guard let other = reader.model.findEntitySet(set)?.entityType.name else { return true }
        return !reader.model.isType(other, derivedFrom: type.name)
            && !reader.model.isType(type.name, derivedFrom: other)
    }
}
