internal import EDM
internal import ODataWire

/// Writes entities, feeds, references and errors as a service of the version does: V2 verbose, V4 with minimal metadata.
struct RepresentationWriter {
    let view: ServiceView
    /// V4: `Edm.Int64` and `Edm.Decimal` as strings.
    var isIEEE754Compatible = false
    private var json = JSONWriter()

    init(view: ServiceView, isIEEE754Compatible: Bool = false) {
        self.view = view
        self.isIEEE754Compatible = isIEEE754Compatible
    }

    private var isLegacy: Bool { view.isLegacy }

    // MARK: - Documents

    consuming func entity(_ representation: EntityRepresentation, selected: [String]) -> [UInt8] {
        if isLegacy {
            envelope { writer in writer.write(representation, context: nil) }
        } else {
            write(representation, context: context(representation.set, selected) + "/$entity")
        }
        return json.bytes
    }

    consuming func feed(_ feed: FeedRepresentation, selected: [String]) -> [UInt8] {
        if isLegacy {
            envelope { writer in
                writer.json.beginObject()
                if let count = feed.count { writer.member("__count", String(count)) }
                writer.entities("results", feed.entities)
                if let next = feed.nextLink { writer.member("__next", next) }
                writer.json.endObject()
            }
        } else {
            json.beginObject()
            member("@odata.context", context(feed.set, selected))
            if let count = feed.count {
                json.name("@odata.count")
                json.integer(Int64(count))
            }
            entities("value", feed.entities)
            if let next = feed.nextLink { member("@odata.nextLink", next) }
            json.endObject()
        }
        return json.bytes
    }

    consuming func references(_ urls: [String], isCollection: Bool) -> [UInt8] {
        let name = isLegacy ? "uri" : "@odata.id"
        func items(_ writer: inout Self) {
            writer.json.beginArray()
            for url in urls {
                writer.json.beginObject()
                writer.member(name, url)
                writer.json.endObject()
            }
            writer.json.endArray()
        }
        json.beginObject()
        switch (isLegacy, isCollection) {
        case (true, true):
            json.name("d")
            json.beginObject()
            json.name("results")
            items(&self)
            json.endObject()
        case (true, false):
            json.name("d")
            json.beginObject()
            member(name, urls.first ?? "")
            json.endObject()
        case (false, true):
            member("@odata.context", view.root + "$metadata#Collection($ref)")
            json.name("value")
            items(&self)
        case (false, false):
            member("@odata.context", view.root + "$metadata#$ref")
            member(name, urls.first ?? "")
        }
        json.endObject()
        return json.bytes
    }

    consuming func property(_ value: Value, _ property: Property, context: String) -> [UInt8] {
        json.beginObject()
        if isLegacy {
            json.name("d")
            json.beginObject()
            json.name(property.name)
            self.value(value, property.type)
            json.endObject()
        } else {
            member("@odata.context", view.root + "$metadata#" + context)
            json.name("value")
            self.value(value, property.type)
        }
        json.endObject()
        return json.bytes
    }

    consuming func serviceDocument() -> [UInt8] {
        let sets = view.model.entitySets.map(\.name)
        json.beginObject()
        if isLegacy {
            json.name("d")
            json.beginObject()
            json.name("EntitySets")
            json.beginArray()
            for set in sets { json.string(set) }
            json.endArray()
            json.endObject()
        } else {
            member("@odata.context", view.root + "$metadata")
            json.name("value")
            json.beginArray()
            for set in sets {
                json.beginObject()
                member("name", set)
                member("kind", "EntitySet")
                member("url", set)
                json.endObject()
            }
            json.endArray()
        }
        json.endObject()
        return json.bytes
    }

    consuming func error(_ error: SandboxError) -> [UInt8] {
        json.beginObject()
        json.name("error")
        json.beginObject()
        member("code", error.code.rawValue)
        if isLegacy {
            json.name("message")
            json.beginObject()
            member("lang", "en")
            member("value", error.message)
            json.endObject()
        } else {
            member("message", error.message)
            if let target = error.target { member("target", target) }
        }
        json.endObject()
        json.endObject()
        return json.bytes
    }

    // MARK: - Parts

    private mutating func envelope(_ body: (inout Self) -> Void) {
        json.beginObject()
        json.name("d")
        body(&self)
        json.endObject()
    }

    private func context(_ set: EntitySet, _ selected: [String]) -> String {
        view.root + "$metadata#" + set.name + (selected.isEmpty ? "" : "(" + selected.joined(separator: ",") + ")")
    }

    private mutating func member(_ name: String, _ text: String) {
        json.name(name)
        json.string(text)
    }

    private mutating func entities(_ name: String, _ entities: [EntityRepresentation]) {
        json.name(name)
        json.beginArray()
        for entity in entities { write(entity, context: nil) }
        json.endArray()
    }

    private mutating func write(_ entity: EntityRepresentation, context: String?) {
        let type = entity.set.entityType
        json.beginObject()
        if isLegacy { metadata(of: entity) } else { control(of: entity, context) }
        for (name, value) in entity.values {
            json.name(name)
            self.value(value, type.findProperty(name)?.type)
        }
        for name in entity.deferred {
            json.name(name)
            json.beginObject()
            json.name("__deferred")
            json.beginObject()
            member("uri", entity.url + "/" + name)
            json.endObject()
            json.endObject()
        }
        for (navigation, targets) in entity.expanded { expanded(navigation, targets) }
        json.endObject()
    }

    private mutating func expanded(_ navigation: Property, _ targets: [EntityRepresentation]) {
        if navigation.isCollection, !isLegacy {
            entities(navigation.name, targets)
            return
        }
        json.name(navigation.name)
        if navigation.isCollection {
            json.beginObject()
            entities("results", targets)
            json.endObject()
        } else if let only = targets.first {
            write(only, context: nil)
        } else {
            json.null()
        }
    }

    private mutating func metadata(of entity: EntityRepresentation) {
        json.name("__metadata")
        json.beginObject()
        member("id", entity.url)
        member("uri", entity.url)
        member("type", entity.set.entityType.name)
        if let etag = entity.etag { member("etag", etag) }
        if let contentType = entity.mediaContentType {
            member("content_type", contentType)
            member("media_src", entity.url + "/$value")
            member("edit_media", entity.url + "/$value")
        }
        json.endObject()
    }

    private mutating func control(of entity: EntityRepresentation, _ context: String?) {
        if let context { member("@odata.context", context) }
        if let etag = entity.etag { member("@odata.etag", etag) }
        guard let contentType = entity.mediaContentType else { return }
        member("@odata.mediaContentType", contentType)
        member("@odata.mediaReadLink", entity.url + "/$value")
        member("@odata.mediaEditLink", entity.url + "/$value")
    }

    // MARK: - Values

    private mutating func value(_ value: Value, _ type: TypeReference?) {
        switch value {
        case .null: json.null()
        case .boolean(let flag): json.boolean(flag)
        case .raw(let text): json.raw(text)
        case .collection(let items):
            json.beginArray()
            for item in items { self.value(item, type?.item) }
            json.endArray()
        case .complex(let complex):
            let members = type.flatMap { view.model.findComplexType($0.name) }
            json.beginObject()
            if isLegacy, let type {
                json.name("__metadata")
                json.beginObject()
                member("type", type.name)
                json.endObject()
            }
            for (name, value) in complex.properties {
                json.name(name)
                self.value(value, members?.findProperty(name)?.type)
            }
            json.endObject()
        default:
            let text = PrimitiveLiteral.format(value, as: type?.primitive, version: view.version, form: .json)
            if isNumber(value, type?.primitive) { json.raw(text) } else { json.string(text) }
        }
    }

    /// V2 writes as strings what JavaScript's numbers could not hold, and all fractions.
    private func isNumber(_ value: Value, _ type: PrimitiveType?) -> Bool {
        switch value {
        case .integer: type != .int64 || (!isLegacy && !isIEEE754Compatible)
        case .decimal(let number): !isLegacy && !isIEEE754Compatible && number.isFinite
        case .double(let number): !isLegacy && number.isFinite
        case .single(let number): !isLegacy && number.isFinite
        default: false
        }
    }
}
