package import EDM

/// Reads the responses of a service into values that are independent of the protocol version and of the format.
///
/// The format is JSON; responses of V2 and V3 that are XML are read as Atom.
///
/// V2 and V3 verbose JSON: with and without `d`, `results` or a plain array, `__metadata`, `__deferred`. V4: minimal,
/// full or no metadata, control information with and without `odata.`, numbers as strings (IEEE754Compatible).
/// Annotations with vocabulary terms and advertised operations are skipped. Facets are not enforced: values from the
/// service are accepted as they are. Delta items are accepted in the forms of 4.0 and 4.01, whatever the version.
package struct PayloadReader: Sendable {
    /// The reader of the entities and values in the documents.
    var entities: EntityPayloadReader
    package var limits: JSONScanner.Limits
    package var version: ODataVersion { entities.valueReader.version }
    package var model: EntityDataModel { entities.valueReader.model }
    /// Whether an unreadable entity in a collection is returned as ``DeltaItem/unreadable(_:)``, so that all other
    /// entities can be used. Otherwise the whole payload is rejected.
    package var setsAside: Bool {
        get { entities.setsAside }
        set { entities.setsAside = newValue }
    }
    /// Whether the values of most entities of a page are returned encoded, for a caller that stores them.
    package var encodesRows = false
    /// The converter of the document, if it is Atom.
    var markup: AtomConverter? {
        get { entities.valueReader.markup }
        set { entities.valueReader.markup = newValue }
    }

    package init(version: ODataVersion, model: EntityDataModel, limits: JSONScanner.Limits = .init()) {
        entities = EntityPayloadReader(valueReader: PropertyValueReader(version: version, model: model))
        self.limits = limits
    }

    /// Reads an entity of `type` or of a derived type.
    package func entity(_ bytes: [UInt8], type: EntityType) throws(PayloadError) -> EntityPayload {
        if let atom = forMarkup(bytes) { return try atom.entity(bytes, type: type) }
        let json = unwrapped(try document(bytes) { Self.isProperty($0, $1, type.findProperty, isOpen: type.isOpen) })
        guard let object = json.object else {
            throw PayloadError(.unexpectedShape, "The payload is \(json.kindName), not an entity of type \(type.name).")
        }
        if !version.isLegacy, !type.isOpen, type.findProperty("value") == nil, let value = object["value"] {
            throw PayloadError(
                .unexpectedShape, "The payload contains \(value.kindName), not an entity of type \(type.name).")
        }
        // Function results and some proxies wrap a single entity in a collection.
        if version.isLegacy, object.members.count == 1, let items = object["results"]?.array, items.count == 1,
            let only = items[0].object
        {
            return try entities.entity(only, type: type)
        }
        return try entities.entity(object, type: type)
    }

    /// Reads an entity like an item of a collection: with ``setsAside``, an entity with an unreadable value is returned
    /// as unreadable.
    package func wholeEntity(_ bytes: [UInt8], type: EntityType) throws(PayloadError) -> DeltaItem {
        if let atom = forMarkup(bytes) { return try atom.wholeEntity(bytes, type: type) }
        do throws(PayloadError) {
            let payload = try entity(bytes, type: type)
            guard setsAside, let obstacle = entities.obstacle(in: payload) else { return .entity(payload) }
            throw obstacle
        } catch {
            if setsAside, let found = damagedEntity(bytes, type) { return .unreadable(found) }
            let isOfOneValue = error.code == .typeMismatch || error.code == .unknownType
            guard setsAside, isOfOneValue, let json = try? unwrapped(document(bytes) { _, _ in true }) else {
                throw error
            }
            return .unreadable(entities.unreadable(json, error, type))
        }
    }

    /// Reads one page of entities of `type` or of derived types into memory. Use ``feedReader(_:type:)`` for streaming.
    package func feed(_ bytes: [UInt8], type: EntityType) throws(PayloadError) -> FeedPayload {
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
        // Must be last, because the page may contain its set after the items.
        if feed.entities.contains(where: reader.isElsewhere) {
            feed.otherEntities = feed.entities.filter(reader.isElsewhere)
            feed.entities.removeAll(where: reader.isElsewhere)
        }
        feed.count = reader.count
        feed.nextLink = reader.nextLink
        feed.deltaLink = reader.deltaLink
        return feed
    }

    /// Returns a reader that reads a complete page item by item.
    package func feedReader(_ bytes: [UInt8], type: EntityType) throws(PayloadError) -> FeedReader {
        FeedReader(
            scanner: try FeedScanner(bytes, version: version, limits: limits), reader: self, type: type)
    }

    /// Returns a reader that reads a page item by item while it arrives; see ``FeedReader/append(_:)``.
    package func feedReader(type: EntityType) -> FeedReader {
        FeedReader(scanner: FeedScanner(version: version, limits: limits), reader: self, type: type)
    }

    /// Reads the response to a delta link of a single entity of `type`.
    package func deltaItem(_ bytes: [UInt8], type: EntityType) throws(PayloadError) -> DeltaItem {
        if let atom = forMarkup(bytes) { return try atom.deltaItem(bytes, type: type) }
        let json = unwrapped(try document(bytes) { Self.isProperty($0, $1, type.findProperty, isOpen: type.isOpen) })
        guard let object = json.object else {
            throw PayloadError(.unexpectedShape, "The payload is \(json.kindName), not an entity of type \(type.name).")
        }
        return try entities.item(object, type: type)
    }

    /// Reads the value of a single structural property, such as the response to `Customers(1)/Name`.
    package func value(_ bytes: [UInt8], of property: Property) throws(PayloadError) -> Value {
        try value(bytes, type: property.type, name: property.name)
    }

    /// Reads the value of a property, or the result of a function, of `type`.
    ///
    /// - Parameter name: The member that contains the value in V2. If it is nil or absent, the only member is used.
    package func value(_ bytes: [UInt8], type: TypeReference, name: String? = nil) throws(PayloadError) -> Value {
        if let atom = forMarkup(bytes) { return try atom.value(bytes, type: type, name: name) }
        let complex: String? = if case .complex(let name) = type.kind { name } else { nil }
        let own = complex.flatMap(model.findComplexType)
        let json = unwrapped(
            try document(bytes) {
                $0 == name || Self.isProperty($0, $1, own?.findProperty, isOpen: own?.isOpen ?? true)
            })
        if let object = json.object {
            if !version.isLegacy {
                if let wrapped = object["value"] { return try entities.valueReader.value(wrapped, type: type) }
            } else if let name, let member = object[name] {
                return try entities.valueReader.value(member, type: type)
            } else if complex != nil, !type.isCollection {
                // A complex value is under its name or bare, which is determined by whether the members belong to its
                // type.
                let isBare = object.members.contains { own?.findProperty($0.name) != nil || $0.name == "__metadata" }
                if !isBare, object.members.count == 1 {
                    return try entities.valueReader.value(object.members[0].value, type: type)
                }
            } else if object.members.count == 1 {
                return try entities.valueReader.value(object["results"] ?? object.members[0].value, type: type)
            }
        }
        return try entities.valueReader.value(json, type: type)
    }

    /// Reads the number in the response to `/$count`, which is plain text. Skips white space and a byte order mark.
    package static func count(_ bytes: [UInt8]) -> Int64? {
        var text = bytes[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        let trimmed = text.drop { $0 <= 0x20 }.prefix { $0 > 0x20 }
        guard text.drop(while: { $0 <= 0x20 }).dropFirst(trimmed.count).allSatisfy({ $0 <= 0x20 }) else { return nil }
        return Int64(String(decoding: trimmed, as: UTF8.self))
    }

    /// Parses the whole document, and throws if it reports a failure of the service.
    ///
    /// - Parameter isProperty: Returns whether the member is a property of the content, as opposed to an error of the
    ///   service.
    func document(
        _ bytes: [UInt8], isProperty: (String, JSONValue) -> Bool = { _, _ in false }
    ) throws(PayloadError) -> JSONValue {
        if let markup { return try markup.document(AtomConverter.parse(bytes, limits)) }
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

    /// Returns whether ``inStreamError(in:of:)`` has to read the response. Most responses do not contain the text of such
    /// an error at all.
    package func mayReportError(_ bytes: [UInt8]) -> Bool {
        markup != nil || forMarkup(bytes) != nil || Self.containsErrorName(bytes)
    }

    /// Returns whether the bytes contain the end of a name such as `odata.error`, with its quotation mark.
    private static func containsErrorName(_ bytes: [UInt8]) -> Bool {
        // `firstRange(of:)` calls its comparisons through witness tables.
        let text = Array("error\"".utf8)
        var place = 0
        while place + text.count <= bytes.count {
            var length = 0
            while length < text.count, bytes[place + length] == text[length] { length += 1 }
            if length == text.count { return true }
            place += 1
        }
        return false
    }

    /// Returns the failure that a response reports in spite of its status, or nil.
    ///
    /// - Parameter type: The type of the entity that the response may contain.
    package func inStreamError(in bytes: [UInt8], of type: EntityType?) -> PayloadError? {
        if let atom = forMarkup(bytes) { return atom.inStreamError(in: bytes, of: type) }
        guard markup != nil || Self.containsErrorName(bytes) else { return nil }
        do throws(PayloadError) {
            _ = try document(bytes) { name, value in
                type.map { Self.isProperty(name, value, $0.findProperty, isOpen: $0.isOpen) } ?? false
            }
            return nil
        } catch {
            return error.code == .serviceError ? error : nil
        }
    }

    /// Returns whether a member is a property. An open type may have any property; an error has at least a code or a
    /// message.
    private static func isProperty(
        _ name: String, _ value: JSONValue, _ find: ((String) -> Property?)?, isOpen: Bool
    ) -> Bool {
        find?(name) != nil || (isOpen && value["code"] == nil && value["message"] == nil)
    }

    /// Returns the type of the entities in a set or contained collection, given in the form of ``EntityPayload/set``.
    package func entityType(in set: String) -> EntityType? { entities.entityType(in: set) }

    /// Returns the description of an entity that is a document of its own, of which only the beginning was received.
    package func unreadable(beginning bytes: [UInt8], _ declared: EntityType) -> UnreadableEntity {
        var skimmer = ItemSkipper(limits)
        _ = try? skimmer.pass(bytes, from: 0)
        let error = PayloadError(
            .tooLarge, "The entity is too large. It is larger than \(limits.itemSize) bytes.")
        var found = entities.unreadable(skimmer, error, declared)
        // The rest was not read.
        found.hasExpanded = true
        return found
    }

    /// Returns the entity if an invalid string is the only error in the document.
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
        return entities.damaged(entity, error, type)
    }

    /// Returns the content of V2's `d`, or the value itself if there is none.
    func unwrapped(_ json: JSONValue) -> JSONValue {
        guard version.isLegacy, markup == nil, let object = json.object, object.members.count == 1,
            let content = object["d"]
        else {
            return json
        }
        return content
    }
}

/// Reads a page of entities, or of changes, one by one.
///
/// See ``PayloadReader/feedReader(_:type:)`` and, for a page that is still arriving,
/// ``PayloadReader/feedReader(type:)``.
package struct FeedReader: Sendable {
    private var scanner: FeedScanner
    private var reader: PayloadReader
    private let type: EntityType

    init(scanner: FeedScanner, reader: PayloadReader, type: EntityType) {
        self.scanner = scanner
        self.reader = reader
        self.type = type
        self.scanner.rows.encodes = reader.encodesRows
    }

    /// Appends the next bytes of the page. To be called after ``next()`` has returned nil.
    package mutating func append(_ chunk: [UInt8]) { scanner.append(chunk) }

    /// Declares the page complete. ``next()`` then continues to the last item, or throws if the page is truncated.
    package mutating func finish() { scanner.finish() }

    /// The count of the page. It and the links are complete after ``next()`` has returned nil for a complete page.
    package var count: Int64? { scanner.count }
    package var nextLink: String? { scanner.nextLink }
    package var deltaLink: String? { scanner.deltaLink }
    package var context: String? { scanner.context }

    /// Returns the next item, or nil if it requires more bytes or if a complete page has no more items.
    ///
    /// Results and errors do not depend on the division into chunks. Stores at most one item and one chunk.
    package mutating func next() throws(PayloadError) -> DeltaItem? {
        let item: JSONValue
        let next = try scanner.nextItem()
        if scanner.isMarkup, reader.markup == nil { reader.markup = AtomConverter() }
        switch consume next {
        case .row(let payload):
            guard reader.setsAside, let obstacle = reader.entities.obstacle(in: payload) else {
                return .entity(payload)
            }
            let text = UnreadableEntity.shortened(JSONValue.string(payload.etag ?? "").text)
            return .unreadable(UnreadableEntity(error: obstacle, entity: payload, text: text))
        case .oversized(let found):
            let error = PayloadError(.tooLarge, "The entity is too large. \(found.message)")
            guard reader.setsAside else { throw error.below(scanner.itemStep) }
            return .unreadable(reader.entities.unreadable(found.skimmer, error, type))
        case .value(let value): item = value
        case .damaged(let value, let error):
            guard reader.setsAside else { throw PayloadError(error) }
            return .unreadable(reader.entities.damaged(value, error, type))
        case nil, .checked: return nil
        }
        if let object = item.object, !scanner.isMarkup {
            scanner.rows.adoptSchema(object, type: type, version: reader.version)
        }
        do { return try reader.entities.itemOrUnreadable(item, type: type) } catch {
            throw error.below(scanner.itemStep)
        }
    }

    /// Returns whether an entity belongs to a different set than the page, according to the page's context or, if that
    /// contains no set, to the types.
    func isElsewhere(_ entity: EntityPayload) -> Bool {
        guard let set = entity.set else { return false }
        let own = context.flatMap(ContextURL.init)?.set
        if let own, own == set || reader.model.findEntitySet(own) != nil { return own != set }
        guard let other = reader.model.findEntitySet(set)?.entityType.name else { return true }
        return !reader.model.isType(other, derivedFrom: type.name)
            && !reader.model.isType(type.name, derivedFrom: other)
    }
}
