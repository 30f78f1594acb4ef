import EDM
import Operations

/// The migration of the state to other metadata. Pending operations are reapplied as far as they fit.
struct MetadataFold {
    private let storage: WorkingSet
    private let migration: ModelMigration
    private let oldIndex: RelationshipIndex

    init(
        _ storage: WorkingSet, from old: (EntityDataModel, RelationshipIndex),
        to new: (EntityDataModel, RelationshipIndex)
    ) {
        self.storage = storage
        migration = ModelMigration(from: old.0, to: new.0, index: new.1)
        oldIndex = old.1
    }

    /// Migrates the base state. The pending operations have to be reverted before, and the storage has to have tables
    /// for the new sets.
    func apply(to layers: inout LayeredState) throws(StateError) {
        let rekeyed = migration.rekeyedSets
        if migration.touchesValues || !rekeyed.isEmpty { try migrateRows(rekeyed) }
        if migration.touchesLinks { try migrateLinks() }
        for id in try storage.bookkeeping.mergeBases() {
            guard let mergeBase = try storage.bookkeeping.mergeBase(id) else { continue }
            let migrated = migration.migrated(mergeBase)
            if let migrated {
                try storage.bookkeeping.putMergeBase(migrated)
            } else {
                try storage.bookkeeping.removeMergeBase(id)
            }
        }
        for constraint in migration.newConstraints(besides: oldIndex) { try follow(constraint, &layers) }
        if migration.changesContent { try QueryBookkeeping(storage: storage).forgetDownloads() }
    }

    /// - Parameter rekeyed: The sets whose keys are assigned again. The order of an enumeration's members, which is
    ///   compatible with any other, determines the texts of its keys.
    private func migrateRows(_ rekeyed: Set<String>) throws(StateError) {
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

    private func migrateLinks() throws(StateError) {
        var links: [LinkRow] = []
        do {
            try storage.forEachLink { links.append($0) }
        } catch {
            throw error as? StateError ?? StateError(.unavailable, "The links could not be read: \(error)")
        }
        for link in links { try storage.removeLink(link.relationship, first: link.first, second: link.second) }
        for link in links {
            for link in migration.migrated(link) { try putIfAllowed(link) }
        }
    }

    /// Keeps a link if both entities exist, the metadata allow it, and no other link occupies its end.
    private func putIfAllowed(_ link: LinkRow) throws(StateError) {
        guard let first = try storage.row(link.first), let second = try storage.row(link.second),
            let end = migration.end(of: link, first, second)
        else { return }
        if end.first != .many, try !storage.links(link.relationship, first: link.first).isEmpty { return }
        if end.second != .many, try !storage.links(link.relationship, second: link.second).isEmpty { return }
        try storage.putLink(link)
    }

    /// Adds the links that existing dependent properties define under a new constraint.
    private func follow(
        _ constraint: RelationshipIndex.Constraint, _ layers: inout LayeredState
    ) throws(StateError) {
        let dependent = constraint.pairs.map(\.dependent)
        for id in try storage.rows(set: constraint.dependentSet) {
            guard let row = try storage.row(id), dependent.allSatisfy({ (row.values[$0] ?? .null) != .null }) else {
                continue
            }
            try layers.edit(.base) { e throws(StateError) in
                try e.synchronizeDependent(row, changed: dependent, clearing: false)
            }
        }
    }

}
