package import EDM
package import ODataWire
package import Operations
import SyncCore
import Views

/// An entity with its links, for comparisons.
package struct ComparedEntity: Sendable {
    package var id: EntityID
    package var set: String
    package var type: EntityType
    /// The readLink of the entity.
    package var name: String
    /// The key, or nil if the entity has none yet.
    package var key: KeyPredicate?
    package var values: PropertyValues
    /// The targets by navigation property, in the order of the metadata, with ascending IDs. A link that can be
    /// navigated from both ends is listed at its first end.
    package var links: [(navigation: String, targets: [End])] = []

    package init(
        id: EntityID, set: String, type: EntityType, name: String, key: KeyPredicate?, values: PropertyValues
    ) {
        self.id = id
        self.set = set
        self.type = type
        self.name = name
        self.key = key
        self.values = values
    }

    /// Returns the key of a contained entity, which other stores identify only by its whole path. Nil if an entity on
    /// the path has no key yet.
    fileprivate static func key(link: String) -> KeyPredicate? {
        link.contains("(~") ? nil : KeyPredicate([(name: "", value: .string(link))])
    }

    fileprivate static func link(in key: KeyPredicate) -> String? {
        guard key.values.count == 1, key.values[0].name.isEmpty, case .string(let link) = key.values[0].value else {
            return nil
        }
        return link
    }

    /// The target of a link.
    package struct End: Sendable, Hashable {
        package var id: EntityID
        package var name: String
        /// Whether the name identifies the entity in other stores too.
        package var hasKey: Bool
    }
}

extension LocalStore {
    /// The names of the metadata's entity sets and singletons, in byte order; empty before metadata are installed.
    package var setNames: [String] {
        guard let model = fold.model else { return [] }
        return model.allSets.map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns some entities of a set, in ascending order of their IDs.
    package func comparedEntities(
        of set: String, behind last: EntityID, limit: Int
    ) throws(TidelogError) -> [ComparedEntity] {
        guard let model = fold.model, model.findEntitySet(set) != nil else { return [] }
        return try read { state throws in
            try views.rowTables.rows(set: set, behind: last, limit: limit).compactMap { try compared($0, model) }
        }
    }

    /// Returns the given entities that exist.
    package func comparedEntities(_ ids: [EntityID]) throws(TidelogError) -> [EntityID: ComparedEntity] {
        guard let model = fold.model else { return [:] }
        return try read { state throws in
            var found: [EntityID: ComparedEntity] = [:]
            for id in ids { found[id] = try state.row(id).flatMap { try compared($0, model) } }
            return found
        }
    }

    /// Returns the entities of a set with these keys, with nil for each key without an entity.
    package func comparedEntities(of set: String, keys: [KeyPredicate]) throws(TidelogError) -> [ComparedEntity?] {
        guard let model = fold.model, let type = model.findEntitySet(set)?.entityType else {
            return keys.map { _ in nil }
        }
        return try read { state throws in
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
        let forms = try linkForms(model)
        let name = forms.readLink(row)
        let isContained = model.findEntitySet(row.set)?.isContained == true
        var compared = ComparedEntity(
            id: row.id, set: row.set, type: type, name: name,
            key: isContained ? ComparedEntity.key(link: name) : KeyPredicate(of: type, in: row.values),
            values: row.values)
        let links = try state.links(of: row.id).filter(\.inLocal)
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
        guard let row = try state.row(id) else {
            return ComparedEntity.End(id: id, name: "\(try state.set(of: id) ?? "")(\(id))", hasKey: false)
        }
        let hasKey = model.findEntityType(row.type).map { KeyPredicate(of: $0, in: row.values) != nil } ?? false
        return ComparedEntity.End(id: id, name: forms.readLink(row), hasKey: hasKey && row.origin != .local)
    }
}
