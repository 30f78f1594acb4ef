internal import EDM
internal import ODataWire

/// Entities as one version's clients see them.
struct Representation {
    let view: ServiceView
    let state: SandboxState
    let evaluation: Evaluation

    func entity(
        _ row: Row, expansion: Expansion = Expansion(), selection: Selection = Selection()
    ) throws(SandboxError) -> EntityPayload {
        guard let type = view.set(row.id.set)?.entityType, let master = view.master.model.findEntitySet(row.id.set) else {
            throw Transaction.gone
        }
        let url = view.url(of: row)
        var payload = EntityPayload(type: type.name, id: view.root + url, editLink: url, etag: view.etag(of: row))
        for property in type.properties where selection.includes(property.name) {
            if let value = row.values[property.name] { payload.values[property.name] = value.converted(to: property.type) }
        }
        if let media = row.media {
            payload.mediaContentType = media.contentType
            payload.mediaReadLink = url + "/$value"
            payload.mediaEditLink = url + "/$value"
        }
        for name in expansion.names where !view.isLegacy || selection.includesExpanded(name) {
            guard let item = expansion[name], let property = master.entityType.findProperty(name) else { continue }
            payload.expanded.append(try expanded(property, item, of: row, selection.below(name)))
        }
        return payload
    }

    private func expanded(
        _ property: Property, _ item: Expansion.Item, of row: Row, _ selection: Selection
    ) throws(SandboxError) -> EntityPayload.Expanded {
        guard let navigation = property.navigation else { throw Transaction.gone }
        var rows = state.targets(of: row.id, through: navigation).compactMap { state[$0] }
        if property.isCollection {
            rows = try evaluation.select(rows, item.options)
            rows = Array(rows.dropFirst(clamped(item.options.skip ?? 0)).prefix(clamped(item.options.top ?? .max)))
        }
        let selection = item.options.select.isEmpty ? selection : Selection(item.options.select)
        return EntityPayload.Expanded(
            navigation: property.name,
            entities: try rows.map { row throws(SandboxError) in
                try entity(row, expansion: item.nested, selection: selection)
            })
    }

    private func clamped(_ count: Int64) -> Int { Int(clamping: max(0, count)) }
}
