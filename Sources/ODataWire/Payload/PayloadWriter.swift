package import EDM
import ODataQuery

/// Writes responses of a service: V2 and V3 verbose JSON with `d`, V4 JSON with minimal metadata.
///
/// The inverse of ``PayloadReader``, for the project's own services and tools.
package struct PayloadWriter: Sendable {
    package let version: ODataVersion
    package let model: EntityDataModel
    /// The URL of the service root, with a slash at its end.
    package let serviceRoot: String
    let values: ValueJSONWriter

    /// - Parameter isIEEE754Compatible: Whether to write `Edm.Int64` and `Edm.Decimal` of V4 as strings, which a client
    ///   may request.
    package init(version: ODataVersion, model: EntityDataModel, serviceRoot: String, isIEEE754Compatible: Bool = false)
    {
        self.version = version
        self.model = model
        self.serviceRoot = serviceRoot.hasSuffix("/") ? serviceRoot : serviceRoot + "/"
        values = ValueJSONWriter(version: version, model: model, isIEEE754Compatible: isIEEE754Compatible)
    }

    /// The media type of all output.
    package var mediaType: String {
        version.isLegacy ? "application/json" : "application/json;odata.metadata=minimal"
    }

    /// Returns one entity.
    ///
    /// - Parameters:
    ///   - type: The declared type of the set. The entity's own type is written if it differs.
    ///   - set: The set for the context URL of V4. `isSingleton` omits `/$entity`.
    package func entity(
        _ entity: EntityPayload, type: EntityType, set: String, isSingleton: Bool = false
    ) -> [UInt8] {
        document { writer in
            begin(&writer, context: isSingleton ? "#\(set)" : "#\(set)/$entity")
            write(entity, type, to: &writer, isOpen: true)
            writer.endObject()
        }
    }

    /// Returns one page of a set.
    package func feed(_ feed: FeedPayload, type: EntityType, set: String) -> [UInt8] {
        collection(feed.count, feed.nextLink, feed.deltaLink, context: "#\(set)") { writer in
            for entity in feed.entities { write(entity, type, to: &writer) }
        }
    }

    /// Returns a structural property's value. In V4, it is in `value`.
    package func value(_ value: Value, of property: Property, context: String) -> [UInt8] {
        document { writer in
            writer.beginObject()
            if version.isLegacy {
                writer.name(property.name)
            } else {
                writer.name("@odata.context")
                writer.string("\(serviceRoot)$metadata#\(context)")
                writer.name("value")
            }
            values.write(value, as: property.type, to: &writer)
            writer.endObject()
        }
    }

    /// Returns the reference of a single-valued navigation property.
    package func reference(_ url: String) -> [UInt8] {
        document { writer in
            begin(&writer, context: "#$ref")
            writer.name(version.isLegacy ? "uri" : "@odata.id")
            writer.string(url)
            writer.endObject()
        }
    }

    /// Returns the references of a collection-valued navigation property.
    package func references(_ references: ReferencesPayload) -> [UInt8] {
        collection(references.count, references.nextLink, nil, context: "#Collection($ref)") { writer in
            for url in references.urls {
                writer.beginObject()
                writer.name(version.isLegacy ? "uri" : "@odata.id")
                writer.string(url)
                writer.endObject()
            }
        }
    }

    package func serviceDocument(_ service: ServiceDocument) -> [UInt8] {
        document { writer in
            begin(&writer, context: "")
            writer.name(version.isLegacy ? "EntitySets" : "value")
            writer.beginArray()
            for entry in service.entries {
                if version.isLegacy {
                    if entry.kind == .entitySet { writer.string(entry.name) }
                    continue
                }
                writer.beginObject()
                writer.name("name")
                writer.string(entry.name)
                writer.name("kind")
                writer.string(entry.kind.rawValue)
                writer.name("url")
                writer.string(entry.url)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
        }
    }

    /// Returns an error response.
    package func error(_ error: ServiceError) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("error")
        writer.beginObject()
        writer.name("code")
        writer.string(error.code)
        writer.name("message")
        if version.isLegacy {
            writer.beginObject()
            writer.name("lang")
            writer.string("en")
            writer.name("value")
            writer.string(error.message)
            writer.endObject()
        } else {
            writer.string(error.message)
            if let target = error.target {
                writer.name("target")
                writer.string(target)
            }
            if !error.details.isEmpty {
                writer.name("details")
                write(error.details, to: &writer)
            }
        }
        if let inner = error.innerError {
            writer.name("innererror")
            writer.raw(inner)
        }
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }

    private func write(_ details: [ServiceError.Detail], to writer: inout JSONWriter) {
        writer.beginArray()
        for detail in details {
            writer.beginObject()
            writer.name("code")
            writer.string(detail.code)
            writer.name("message")
            writer.string(detail.message)
            if let target = detail.target {
                writer.name("target")
                writer.string(target)
            }
            writer.endObject()
        }
        writer.endArray()
    }
}

extension PayloadWriter {
    /// Wraps the output of `content` in the `d` of V2.
    func document(_ content: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        guard version.isLegacy else {
            content(&writer)
            return writer.bytes
        }
        writer.beginObject()
        writer.name("d")
        content(&writer)
        writer.endObject()
        return writer.bytes
    }

    func begin(_ writer: inout JSONWriter, context: String) {
        writer.beginObject()
        guard !version.isLegacy else { return }
        writer.name("@odata.context")
        writer.string("\(serviceRoot)$metadata\(context)")
    }

    func collection(
        _ count: Int64?, _ nextLink: String?, _ deltaLink: String?, context: String,
        items: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        document { writer in
            begin(&writer, context: context)
            if let count {
                writer.name(version.isLegacy ? "__count" : "@odata.count")
                if version.isLegacy { writer.string(String(count)) } else { writer.integer(count) }
            }
            writer.name(version.isLegacy ? "results" : "value")
            writer.beginArray()
            items(&writer)
            writer.endArray()
            for (link, name, legacyName) in [
                (nextLink, "@odata.nextLink", "__next"), (deltaLink, "@odata.deltaLink", "__delta"),
            ] {
                guard let link else { continue }
                writer.name(version.isLegacy ? legacyName : name)
                writer.string(link)
            }
            writer.endObject()
        }
    }

    func write(
        _ entity: EntityPayload, _ declared: EntityType, to writer: inout JSONWriter, isOpen: Bool = false
    ) {
        if !isOpen { writer.beginObject() }
        if version.isLegacy {
            writeMetadata(entity, declared, to: &writer)
        } else {
            writeControls(entity, declared, to: &writer)
        }
        let type = entity.type.flatMap(model.findEntityType) ?? declared
        for (name, value) in entity.values {
            values.property(name, value, type.findProperty(name)?.type, &writer)
        }
        for expanded in entity.expanded { write(expanded, type, to: &writer) }
        if version.isLegacy { writeDeferred(entity, type, to: &writer) }
        if !isOpen { writer.endObject() }
    }

    private func writeMetadata(_ entity: EntityPayload, _ declared: EntityType, to writer: inout JSONWriter) {
        writer.name("__metadata")
        writer.beginObject()
        let members = [
            ("id", entity.id), ("uri", entity.editLink ?? entity.id), ("type", entity.type ?? declared.name),
            ("etag", entity.etag), ("content_type", entity.mediaContentType), ("media_src", entity.mediaReadLink),
            ("edit_media", entity.mediaEditLink), ("media_etag", entity.mediaETag),
        ]
        for case (let name, let text?) in members {
            writer.name(name)
            writer.string(text)
        }
        writer.endObject()
    }

    private func writeControls(_ entity: EntityPayload, _ declared: EntityType, to writer: inout JSONWriter) {
        let type = entity.type.flatMap { $0 == declared.name ? nil : "#" + $0 }
        let members = [
            ("type", type), ("id", entity.id), ("etag", entity.etag), ("readLink", entity.readLink),
            ("editLink", entity.editLink), ("mediaReadLink", entity.mediaReadLink),
            ("mediaEditLink", entity.mediaEditLink), ("mediaContentType", entity.mediaContentType),
            ("mediaEtag", entity.mediaETag),
        ]
        for case (let name, let text?) in members {
            writer.name("@odata." + name)
            writer.string(text)
        }
        for stream in entity.namedStreams {
            let members = [
                ("mediaReadLink", stream.readLink), ("mediaEditLink", stream.editLink), ("mediaEtag", stream.etag),
            ]
            for case (let name, let text?) in members {
                writer.name("\(stream.property)@odata.\(name)")
                writer.string(text)
            }
        }
        if let contentID = entity.contentID {
            writer.name("@Core.ContentID")
            writer.string(contentID)
        }
    }

    private func write(_ expanded: EntityPayload.Expanded, _ type: EntityType, to writer: inout JSONWriter) {
        let property = type.findProperty(expanded.navigation)
        guard let target = property?.navigation.flatMap({ model.findEntityType($0.targetType) }) else { return }
        if !version.isLegacy, let nextLink = expanded.nextLink {
            writer.name(expanded.navigation + "@odata.nextLink")
            writer.string(nextLink)
        }
        writer.name(expanded.navigation)
        guard property?.isCollection == true else {
            if let entity = expanded.entities.first { write(entity, target, to: &writer) } else { writer.null() }
            return
        }
        if version.isLegacy {
            writer.beginObject()
            writer.name("results")
        }
        writer.beginArray()
        for entity in expanded.entities { write(entity, target, to: &writer) }
        writer.endArray()
        if version.isLegacy {
            if let nextLink = expanded.nextLink {
                writer.name("__next")
                writer.string(nextLink)
            }
            writer.endObject()
        }
    }

    /// Writes the links of the navigation properties that are not expanded, which V2 requires.
    private func writeDeferred(_ entity: EntityPayload, _ type: EntityType, to writer: inout JSONWriter) {
        guard let address = entity.editLink ?? entity.id else { return }
        for property in type.navigationProperties
        where !entity.expanded.contains(where: { $0.navigation == property.name })
            && entity.deferred?.contains(property.name) != false
        {
            writer.name(property.name)
            writer.raw("{\"__deferred\":{\"uri\":\(JSONValue.string("\(address)/\(property.name)").text)}}")
        }
    }
}
