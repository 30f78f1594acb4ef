package import EDM

/// The representation of removed entities and changed links in a delta.
public enum DeltaForm: String, Sendable, Hashable, CaseIterable {
    /// Entities of all sets, removed entities and links as separate items. In V2 as Olingo writes it, without links.
    case flat = "4.0"
    /// Related entities inside of their owners, such as in `Orders@delta`.
    case nested = "4.01"
}

extension PayloadWriter {
    /// Returns one page of a delta of a set, with entities of other sets (see ``EntityPayload/set``), removed entities
    /// and links.
    ///
    /// An entity's changes of navigation properties are written in the nested form only.
    ///
    /// - Parameters:
    ///   - type: The type of the set's entities.
    ///   - set: The set for the context URL of V4, which marks the page as a delta.
    package func delta(
        _ items: [DeltaItem], nextLink: String?, deltaLink: String?, type: EntityType, set: String, form: DeltaForm
    ) -> [UInt8] {
        collection(nil, nextLink, deltaLink, context: "#\(set)/$delta") { writer in
            for item in items { write(item, type, set, form, to: &writer) }
        }
    }

    private func write(
        _ item: DeltaItem, _ declared: EntityType, _ set: String, _ form: DeltaForm, to writer: inout JSONWriter
    ) {
        writer.beginObject()
        switch item {
        case .entity(let entity):
            // A set of the container, or the path of a containment collection.
            if let own = entity.set, own != set, !version.isLegacy {
                member("@odata.context", "#\(own)/$entity", &writer)
            }
            let contained = entity.type.flatMap(model.findEntityType)
            let type = entity.set.flatMap(model.findEntitySet)?.entityType ?? contained ?? declared
            write(entity, type, to: &writer, isOpen: true)
            if form == .nested { for change in entity.changes { write(change, type, form, to: &writer) } }
        case .removed(let removed): write(removed, removed.entity.set ?? set, form, to: &writer)
        case .link(let link):
            let kind = link.isAdded ? "$link" : "$deletedLink"
            member("@odata.context", "#\(link.set ?? set)/\(kind)", &writer)
            member("source", link.source, &writer)
            member("relationship", link.relationship, &writer)
            if let target = link.target { member("target", target, &writer) }
        // An unreadable entity cannot be written.
        case .unreadable: break
        }
        writer.endObject()
    }

    private func write(_ removed: RemovedEntity, _ set: String, _ form: DeltaForm, to writer: inout JSONWriter) {
        let id = removed.entity.id ?? ""
        guard form == .nested, !version.isLegacy else {
            let context = version.isLegacy ? "$metadata#\(set)/$deletedEntity" : "#\(set)/$deletedEntity"
            member("@odata.context", context, &writer)
            member("id", id, &writer)
            if let reason = removed.reason, !version.isLegacy { member("reason", reason.rawValue, &writer) }
            return
        }
        writer.name("@removed")
        writer.beginObject()
        if let reason = removed.reason { member("reason", reason.rawValue, &writer) }
        writer.endObject()
        member("@id", id, &writer)
    }

    private func write(_ change: NavigationDelta, _ type: EntityType, _ form: DeltaForm, to writer: inout JSONWriter) {
        guard let navigation = type.findProperty(change.navigation)?.navigation,
            let target = model.findEntityType(navigation.targetType)
        else { return }
        writer.name(change.navigation + "@delta")
        writer.beginArray()
        for item in change.items { write(item, target, "", form, to: &writer) }
        writer.endArray()
    }

    private func member(_ name: String, _ text: String, _ writer: inout JSONWriter) {
        writer.name(name)
        writer.string(text)
    }
}
