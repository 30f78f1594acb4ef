internal import EDM
internal import ODataQuery
internal import ODataWire

/// Creates the representation of entities for clients of one version.
struct Representation {
    let view: ServiceView
    let state: SandboxState
    let evaluation: QueryEvaluation
    /// The entities of the deep insert that is being answered.
    var marks: [RowID: DeepInsertMark] = [:]

    func entity(
        _ row: Row, expansion: Expansion = Expansion(), selection: Selection = Selection()
    ) throws(SandboxError) -> EntityPayload {
        guard let set = view.set(row.id.set) else { throw Transaction.gone }
        let url = view.root + view.url(of: row, in: state)
        // V4 with minimal metadata omits values that follow from the key.
        var entity = EntityPayload(type: set.entityType.name, id: view.isLegacy ? url : nil, etag: view.etag(of: row))
        if view.master.configuration.entityIDs.contains(row.id.set) {
            entity.id = "urn:sandbox:\(row.id.set):\(row.id.number)"
            if view.isLegacy { entity.editLink = url }
        }
        for property in set.entityType.properties where selection.includes(property.name) {
            if let value = row.values[property.name] {
                entity.values[property.name] = value.converted(to: property.type)
            }
        }
        if view.capabilities.repeatsContentIDs { entity.contentID = marks[row.id]?.contentID }
        if let media = row.media {
            entity.mediaContentType = media.contentType
            entity.mediaETag = media.etag
            entity.mediaReadLink = url + "/$value"
            entity.mediaEditLink = url + "/$value"
        }
        if !view.isLegacy {
            for property in set.entityType.properties where property.type.primitive == .stream {
                let address = url + "/" + property.name
                entity.namedStreams.append(
                    EntityPayload.NamedStream(
                        property: property.name, readLink: address, editLink: address,
                        etag: row.streams[property.name]?.etag))
            }
        }
        if entity.id == nil, set.entityType.keyProperties.contains(where: { entity.values[$0.name] == nil }) {
            entity.id = url
        }
        entity.deferred = []
        for property in set.entityType.navigationProperties {
            if let item = expansion[property.name], !view.isLegacy || selection.includesExpanded(property.name) {
                let targets = try targets(of: row, property, item, selection.below(property.name))
                entity.expanded.append(EntityPayload.Expanded(navigation: property.name, entities: targets))
            } else if view.isLegacy, selection.includes(property.name) {
                entity.deferred?.append(property.name)
            }
        }
        return entity
    }

    private func targets(
        of row: Row, _ property: Property, _ item: Expansion.Item, _ selection: Selection
    ) throws(SandboxError) -> [EntityPayload] {
        guard let master = view.master.model.findEntitySet(row.id.set)?.entityType.findProperty(property.name),
            let navigation = master.navigation
        else { throw Transaction.gone }
        var rows = state.targets(of: row.id, through: navigation).compactMap { state[$0] }
        if property.isCollection {
            rows = try evaluation.select(rows, item.options)
            rows = Array(rows.dropFirst(clamped(item.options.skip ?? 0)).prefix(clamped(item.options.top ?? .max)))
        }
        if property.isCollection, !marks.isEmpty {
            rows.sort { (marks[$0.id]?.place ?? .max) < (marks[$1.id]?.place ?? .max) }
            if view.capabilities.deepInsertAnswer == .reversed { rows.reverse() }
        }
        let selection = item.options.select.isEmpty ? selection : Selection(item.options.select)
        return try rows.map { row throws(SandboxError) in
            try entity(row, expansion: item.nested, selection: selection)
        }
    }

    private func clamped(_ count: Int64) -> Int { Int(clamping: max(0, count)) }
}
