import EDM
package import ODataQuery
import OperationLog
package import Operations
import SyncCore
import Views

/// Entities with their links, for comparisons with other states or stores.
package actor StoreComparison {
    nonisolated let core: StoreCore
    package nonisolated var unownedExecutor: UnownedSerialExecutor { core.executor.asUnownedSerialExecutor() }

    init(core: StoreCore) { self.core = core }

    /// The names of the metadata's entity sets and singletons, in byte order; empty before metadata are installed.
    package var setNames: [String] {
        guard let model = core.fold.model else { return [] }
        return model.allSets.map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns some entities of a set, in ascending order of their IDs.
    package func comparedEntities(
        of set: String, after last: EntityID, limit: Int
    ) throws(TidelogError) -> [ComparedEntity] {
        guard let model = core.fold.model, model.findEntitySet(set) != nil else { return [] }
        return try core.read { state throws in
            try core.views.rowTables.rows(set: set, after: last, limit: limit).compactMap { try compared($0, model) }
        }
    }

    /// Returns the given entities that exist.
    package func comparedEntities(_ ids: [EntityID]) throws(TidelogError) -> [EntityID: ComparedEntity] {
        guard let model = core.fold.model else { return [:] }
        return try core.read { state throws in
            var found: [EntityID: ComparedEntity] = [:]
            for id in ids { found[id] = try state.row(id).flatMap { try compared($0, model) } }
            return found
        }
    }

    /// Returns the entities of a set with these keys, with nil for each key without an entity.
    package func comparedEntities(of set: String, keys: [KeyPredicate]) throws(TidelogError) -> [ComparedEntity?] {
        guard let model = core.fold.model, let type = model.findEntitySet(set)?.entityType else {
            return keys.map { _ in nil }
        }
        return try core.read { state throws in
            try keys.map { key in
                if let link = ComparedEntity.link(in: key) {
                    let names = AddressResolver(state: state, model: model, root: try state.header().service?.root)
                    let found = try? names.entity(at: link)
                    return try found.flatMap { try state.row($0) }.flatMap { try compared($0, model) }
                }
                let ids = try state.findRows(set: set, where: key.located(in: type))
                return try ids.first.flatMap { try state.row($0) }.flatMap { try compared($0, model) }
            }
        }
    }

    private func compared(_ row: EntityRow, _ model: EntityDataModel) throws -> ComparedEntity? {
        guard let type = model.findEntityType(row.type) else { return nil }
        let forms = try core.linkForms(model)
        let name = forms.readLink(row)
        let isContained = model.findEntitySet(row.set)?.isContained == true
        var compared = ComparedEntity(
            id: row.id, set: row.set, type: type, name: name,
            key: isContained ? ComparedEntity.key(link: name) : KeyPredicate(of: type, in: row.values),
            values: row.values)
        let links = try core.state.links(of: row.id).filter(\.inLocal)
        guard !links.isEmpty else { return compared }
        for property in type.navigationProperties {
            guard let end = property.navigation else { continue }
            let isForward = end.relationship.isForward
            if !isForward, end.partner != nil { continue }
            var targets: [ComparedEntity.End] = []
            for link in links where link.relationship == end.relationship.name {
                guard (isForward ? link.first : link.second) == row.id else { continue }
                targets.append(try self.end(isForward ? link.second : link.first, forms, model))
            }
            if !targets.isEmpty { compared.links.append((property.name, targets.sorted { $0.id < $1.id })) }
        }
        return compared
    }

    private func end(_ id: EntityID, _ forms: LinkForms, _ model: EntityDataModel) throws -> ComparedEntity.End {
        guard let row = try core.state.row(id) else {
            return ComparedEntity.End(id: id, name: "\(try core.state.set(of: id) ?? "")(\(id))", hasKey: false)
        }
        let hasKey = model.findEntityType(row.type).map { KeyPredicate(of: $0, in: row.values) != nil } ?? false
        return ComparedEntity.End(id: id, name: forms.readLink(row), hasKey: hasKey && row.origin != .local)
    }
}
