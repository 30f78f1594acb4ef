import EDM
import Operations

/// Migration of the state to other metadata. Pending operations are reapplied as far as they fit.
extension Fold {
    /// Migrates the base state. The pending operations have to be reverted before, and the storage has to have tables
    /// for the new sets.
    mutating func migrate(from old: EntityDataModel, _ oldIndex: RelationshipIndex) throws(StateError) {
        guard let model, let index else { return }
        let migration = ModelMigration(from: old, to: model, index: index)
        if migration.touchesValues { try migrateRows(migration) }
        if migration.touchesLinks { try migrateLinks(migration) }
        for id in try storage.bookkeeping.mergeBases() {
            guard let mergeBase = try storage.bookkeeping.mergeBase(id) else { continue }
            let migrated = migration.migrated(mergeBase)
            if let migrated {
                try storage.bookkeeping.putMergeBase(migrated)
            } else {
                try storage.bookkeeping.removeMergeBase(id)
            }
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
            for link in migration.migrated(link) { try putIfAllowed(link, migration) }
        }
    }

    /// Keeps a link if both entities exist, the metadata allow it, and no other link occupies its end.
    private func putIfAllowed(_ link: LinkRow, _ migration: ModelMigration) throws(StateError) {
        guard let first = try storage.row(link.first), let second = try storage.row(link.second),
            let end = migration.end(of: link, first, second)
        else { return }
        if end.first != .many, try !storage.links(link.relationship, first: link.first).isEmpty { return }
        if end.second != .many, try !storage.links(link.relationship, second: link.second).isEmpty { return }
        try storage.putLink(link)
    }

    /// Adds the links that existing dependent properties define under a new constraint.
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

    /// Requires all queries to be downloaded in full. No delta reports new properties of entities that the store
    /// already has.
    func forgetDownloads() throws(StateError) {
        for var query in try storage.bookkeeping.queries() where query.run != 0 || query.isComplete {
            query.run = 0
            query.isComplete = false
            try storage.bookkeeping.putQuery(query)
        }
    }

    /// Returns the part of a pending operation that is visible in the current state; see
    /// ``PendingOperation/visible(in:_:)``.
    func visible(_ pending: PendingOperation) throws(StateError) -> Operation? {
        guard pending.isUnfit, let model else { return pending.operation }
        return try pending.visible(in: storage, model)
    }

    /// Replaces the content of operations in their positions. Operations that were sent do not change.
    mutating func amend(_ amended: [AmendedOperation]) throws(StateError) {
        var touched: Set<EntityID> = []
        for amended in amended {
            guard var pending = try storage.pendingOperation(amended.operation), pending.status.batch == nil else {
                continue
            }
            try revertPending()
            // The new content may refer to other entities.
            touched.formUnion(pending.operation.touchedEntities)
            try storage.removePending(pending.sequence)
            pending.operation = amended.content
            pending.status = .pending
            if let time { pending.since = time }
            try storage.putPending(pending)
            try keepNextEntity(above: pending.operation.createdEntities)
            try register(pending.operation)
        }
        try discardMergeBases(of: touched.sorted())
        try removeGone(among: touched)
    }

    /// Moves operations that no longer fit the metadata to the error archive. The parts that fit stay visible.
    mutating func refuse(_ unfit: [UnfitOperation]) throws(StateError) {
        let left = try batches(of: unfit.map(\.operation))
        for unfit in unfit { try setStatus(unfit.operation, .rejected(unfit.refusal)) }
        try close(left)
    }
}
