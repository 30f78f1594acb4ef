internal import EDM
internal import ODataWire

/// Entities as one version's clients see them.
struct Representation {
    let view: ServiceView
    let state: SandboxState
    let evaluation: Evaluation

    func entity(
        _ row: Row, expansion: Expansion = Expansion(), selection: Selection = Selection()
    ) throws(SandboxError) -> EntityRepresentation {
        guard let set = view.set(row.id.set) else { throw Transaction.gone }
        var entity = EntityRepresentation(set: set, url: view.root + view.url(of: row), etag: view.etag(of: row))
        for property in set.entityType.properties where selection.includes(property.name) {
            if let value = row.values[property.name] {
                entity.values[property.name] = value.converted(to: property.type)
            }
        }
        entity.mediaContentType = row.media?.contentType
        for property in set.entityType.navigationProperties {
            if let item = expansion[property.name], !view.isLegacy || selection.includesExpanded(property.name) {
                let targets = try targets(of: row, property, item, selection.below(property.name))
                entity.expanded.append((property, targets))
            } else if view.isLegacy, selection.includes(property.name) {
                entity.deferred.append(property.name)
            }
        }
        return entity
    }

    private func targets(
        of row: Row, _ property: Property, _ item: Expansion.Item, _ selection: Selection
    ) throws(SandboxError) -> [EntityRepresentation] {
        guard let master = view.master.model.findEntitySet(row.id.set)?.entityType.findProperty(property.name),
            let navigation = master.navigation
        else { throw Transaction.gone }
        var rows = state.targets(of: row.id, through: navigation).compactMap { state[$0] }
        if property.isCollection {
            rows = try evaluation.select(rows, item.options)
            rows = Array(rows.dropFirst(clamped(item.options.skip ?? 0)).prefix(clamped(item.options.top ?? .max)))
        }
        let selection = item.options.select.isEmpty ? selection : Selection(item.options.select)
        return try rows.map { row throws(SandboxError) in
            try entity(row, expansion: item.nested, selection: selection)
        }
    }

    private func clamped(_ count: Int64) -> Int { Int(clamping: max(0, count)) }
}
