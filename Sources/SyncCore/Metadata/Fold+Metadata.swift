import EDM
import Operations

/// Other metadata than before: the state goes over to them, and what is pending is put back on top as far as it fits.
extension Fold {
    /// Brings the base over from the metadata that it was made by. Only where the pending operations are taken off, and the
    /// storage has made room for the new sets.
    mutating func migrate(from old: EntityDataModel, _ oldIndex: RelationshipIndex) throws(StateError) {
        guard let model, let index else { return }
        let migration = ModelMigration(from: old, to: model, index: index)
        if migration.touchesValues { try migrateRows(migration) }
        if migration.touchesLinks { try migrateLinks(migration) }
        for id in try storage.ancestors() {
            guard let ancestor = try storage.ancestor(id) else { continue }
            let migrated = migration.migrated(ancestor)
            if let migrated { try storage.putAncestor(migrated) } else { try storage.removeAncestor(id) }
        }
        for constraint in migration.newConstraints(besides: oldIndex) { try follow(constraint) }
        if migration.changesContent { try forgetDownloads() }
    }

    private func migrateRows(_ migration: ModelMigration) throws(StateError) {
        let rekeyed = migration.rekeyedSets
        for set in migration.new.allSets {
            for id in try storage.rows(set: set.name) {
                guard let row = try storage.row(id), let migrated = migration.migrated(row) else { continue }
                if migrated != row { try storage.putRow(migrated) }
                if rekeyed.contains(set.name), let type = migration.new.findEntityType(migrated.type),
                    let key = try storage.keyText(KeyText.of(migrated.values, type: type), of: id, in: set),
                    try storage.entity(set: set.name, key: key) == nil
                {
                    try storage.assignKey(set: set.name, key: key, to: id)
                }
            }
        }
    }

    private func migrateLinks(_ migration: ModelMigration) throws(StateError) {
        var links: [LinkRow] = []
        do {
            try storage.forEachLink { links.append($0) }
        } catch {
            throw error as? StateError ?? StateError(.unavailable, "The links could not be read: \(error)")
        }
        for link in links { try storage.removeLink(link.relationship, first: link.first, second: link.second) }
        for link in links {
            for link in migration.migrated(link) { try keep(link, migration) }
        }
    }

    /// Keeps a link where both its entities are left, the metadata allow it, and no other link has its place.
    private func keep(_ link: LinkRow, _ migration: ModelMigration) throws(StateError) {
        guard let first = try storage.row(link.first), let second = try storage.row(link.second),
            let end = migration.end(of: link, first, second)
        else { return }
        if end.first != .many, try !storage.links(link.relationship, first: link.first).isEmpty { return }
        if end.second != .many, try !storage.links(link.relationship, second: link.second).isEmpty { return }
        try storage.putLink(link)
    }

    /// The links that dependent properties say which are known already.
    private mutating func follow(_ constraint: RelationshipIndex.Constraint) throws(StateError) {
        let dependent = constraint.pairs.map(\.dependent)
        for id in try storage.rows(set: constraint.dependentSet) {
            guard let row = try storage.row(id), dependent.allSatisfy({ (row.values[$0] ?? .null) != .null }) else {
                continue
            }
            try edit(.base) { e throws(StateError) in
                try e.synchronizeDependent(row, changed: dependent, clearing: false)
            }
        }
    }

    /// What is new about entities that are here already no delta tells: everything has to be read once more.
    func forgetDownloads() throws(StateError) {
        for var query in try storage.queries() where query.run != 0 || query.isComplete {
            query.run = 0
            query.isComplete = false
            try storage.putQuery(query)
        }
    }

    /// What is to be seen of a pending operation; see ``PendingOperation/visible(in:_:)``.
    func visible(_ pending: PendingOperation) throws(StateError) -> Operation? {
        guard pending.isUnfit, let model else { return pending.operation }
        return try pending.visible(in: storage, model)
    }

    /// They stay at their places and say something else. What is at the service's is left alone.
    mutating func amend(_ amended: [AmendedOperation]) throws(StateError) {
        var touched: Set<EntityID> = []
        for amended in amended {
            guard var pending = try storage.pendingOperation(amended.operation), pending.status.batch == nil else {
                continue
            }
            try unwindAll()
            // It may name others than before.
            touched.formUnion(pending.operation.touchedEntities)
            try storage.removePending(pending.sequence)
            pending.operation = amended.content
            pending.status = .pending
            if let time { pending.since = time }
            try storage.putPending(pending)
            try keepNextEntity(above: pending.operation.createdEntities)
            try register(pending.operation)
        }
        try forgetAncestors(of: touched.sorted())
        try removeGone(among: touched)
    }

    /// Operations that no longer fit the metadata go to the error archive. What they say that does fit stays visible.
    mutating func refuse(_ unfit: [UnfitOperation]) throws(StateError) {
        let left = try batches(of: unfit.map(\.operation))
        for unfit in unfit { try setStatus(unfit.operation, .rejected(unfit.refusal)) }
        try close(left)
    }
}
