package import EDM
package import Operations

extension WorkingSet {
    package func row(_ id: EntityID) throws(StateError) -> EntityRow? { try row(id, isCached: true) }

    /// Returns the row of an entity.
    ///
    /// - Parameter isCached: Whether to cache a row of the backing, because it may be read again.
    package func row(_ id: EntityID, isCached: Bool) throws(StateError) -> EntityRow? {
        switch rowTable.find(id) {
        case .row(let row): row
        case .removed: nil
        case .below: try isBelow(id) ? storedRow(id, isCached: isCached) : nil
        }
    }

    /// Returns the set and type of an entity's row, or nil if it has none. Does not copy a row or values in memory.
    func kind(of id: EntityID) throws(StateError) -> EntityKind? {
        let known = rowTable.kind(of: id) ?? (mayBeCached(id) ? cleanRows.kind(of: id) : nil)
        return if let known { known } else { try row(id)?.kind }
    }

    /// Returns the kind and the values of an entity's row, or nil if it has none. Does not copy a row in memory.
    func content(of id: EntityID) throws(StateError) -> EntityContent? {
        if let content = rowTable.content(of: id) { return content }
        if mayBeCached(id), let content = cleanRows.content(of: id) { return content }
        return try row(id).map { EntityContent(kind: $0.kind, values: $0.values) }
    }

    /// Returns the origin of an entity's row, and whether it has an ETag. Does not copy a row in memory.
    func version(of id: EntityID) throws(StateError) -> (origin: EntityRow.Origin, hasETag: Bool)? {
        if let known = rowTable.version(of: id) { return known }
        return try row(id).map { ($0.origin, $0.hasETag) }
    }

    /// Returns whether ``cleanRows`` may contain the current row.
    private func mayBeCached(_ id: EntityID) -> Bool { tracking.phase != .idle && !rowTable.isRemoved(id) }

    /// Returns the row of the backing.
    private func storedRow(_ id: EntityID, isCached: Bool) throws(StateError) -> EntityRow? {
        guard let backing else { return nil }
        guard isCached, tracking.phase != .idle else { return try backing.row(id) }
        return try cleanRows.row(id) { () throws(StateError) in try backing.row(id) }
    }

    package func putRow(_ row: EntityRow) throws(StateError) {
        guard tracking.isActive else {
            rowTable.put(row)
            return
        }
        tracking.dirtyItems?.rows.insert(row.id)
        tracking.journal?.append(.row(row.id, rowTable.find(row.id)))
        let old = rowTable.put(row)
        tracking.digest.replace(old.map(SnapshotItem.row), by: .row(row))
    }

    package func removeRow(_ id: EntityID) throws(StateError) {
        tracking.dirtyItems?.rows.insert(id)
        tracking.journal?.append(.row(id, rowTable.find(id)))
        let old = rowTable.remove(id, hidesBelow: try isBelow(id))
        tracking.digest.replace(old.map(SnapshotItem.row), by: nil)
    }

    package func findRows(set: String, where values: [(property: String, value: Value)]) throws(StateError)
        -> [EntityID]
    {
        let own = rowTable.find(set: set, where: values)
        guard let backing else { return own }
        let below = try backing.findRows(set: set, where: values)
        if rowTable.isEmpty || below.isEmpty { return own.isEmpty ? below : own }
        let others = below.contains { rowTable.contains($0) } ? below.filter { !rowTable.contains($0) } : below
        return own.isEmpty ? others : (own + others).sorted()
    }

    package func mayHaveRows(
        set: String, where property: String, in range: ClosedRange<Int64>
    ) throws(StateError) -> Bool {
        guard let backing, rowTable.isEmpty else { return true }
        return try backing.mayHaveRows(set: set, where: property, in: range)
    }

    package func mayHaveKeyless(set: String) throws(StateError) -> Bool {
        guard let backing, rowTable.isEmpty, bases.isEmpty else { return true }
        return try backing.mayHaveKeyless(set: set)
    }

    package func rows(set: String) throws(StateError) -> [EntityID] {
        let below = try backing?.rows(set: set) ?? []
        if rowTable.isEmpty { return below }
        let own = rowTable.rows.filter { $0.set == set }.map(\.id)
        return (own + below.filter { !rowTable.contains($0) }).sorted()
    }

    // MARK: Identity

    /// ``StateHeader/nextEntity``, without a copy of the header.
    package var nextEntity: EntityID {
        get throws(StateError) { try cachedHeader.isKnown ? cachedHeader.header.nextEntity : header().nextEntity }
    }

    /// ``StateHeader/applied``, without a copy of the header.
    package var applied: SequenceNumber {
        get throws(StateError) { try cachedHeader.isKnown ? cachedHeader.header.applied : header().applied }
    }

    /// The root of ``StateHeader/service``, without a copy of the header.
    package var serviceRoot: String? {
        get throws(StateError) { try cachedHeader.isKnown ? cachedHeader.header.service?.root : header().service?.root }
    }

    package func set(of id: EntityID) throws(StateError) -> String? {
        if let set = register.set(of: id) { return set }
        return try isBelow(id) ? backing?.set(of: id) : nil
    }

    package func register(_ id: EntityID, set: String) throws(StateError) {
        if try isBelow(id), try backing?.set(of: id) != nil { return }
        guard register.register(id, set: set), tracking.isActive else { return }
        tracking.journal?.append(.registration(id))
        tracking.dirtyItems?.entities.insert(id)
        tracking.digest.replace(nil, by: .entity(id, set: set))
    }

    package func entity(set: String, key: String) throws(StateError) -> EntityID? {
        if let id = keys[SetKey(set: set, key: key)] { return id }
        return try backing?.entity(set: set, key: key)
    }

    package func mayHaveKeys(set: String, from first: String, through last: String) throws(StateError) -> Bool {
        guard let backing, keys.isEmpty else { return true }
        return try backing.mayHaveKeys(set: set, from: first, through: last)
    }

    package func assignKey(set: String, key: String, to id: EntityID) throws(StateError) {
        let place = SetKey(set: set, key: key)
        guard tracking.isActive else {
            keys[place] = id
            return
        }
        tracking.dirtyItems?.keys.insert(place)
        tracking.journal?.append(.key(place, keys[place]))
        let old = keys.updateValue(id, forKey: place)
        tracking.digest.replace(old.map { .key(key, set: set, of: $0) }, by: .key(key, set: set, of: id))
    }

    // MARK: Base states

    package func base(_ id: EntityID) throws(StateError) -> BaseState? {
        if let place = bases.place(of: id) { return bases[at: place] }
        return try isBelow(id) ? backing?.base(id) : nil
    }

    /// Returns whether a base state is saved. Does not copy it if the working set decides.
    func hasBase(_ id: EntityID) throws(StateError) -> Bool {
        if let place = bases.place(of: id) { return bases[at: place] != nil }
        guard try isBelow(id) else { return false }
        return try backing?.base(id) != nil
    }

    package func saveBase(_ id: EntityID, _ base: BaseState) throws(StateError) {
        guard tracking.isActive else {
            bases.updateValue(base, for: id)
            return
        }
        tracking.dirtyItems?.bases.insert(id)
        tracking.journal?.append(.base(id, bases[id]))
        let old = bases.updateValue(base, for: id) ?? nil
        tracking.digest.replace(old.map { .base(id, $0) }, by: .base(id, base))
    }

    package func removeBase(_ id: EntityID) throws(StateError) {
        tracking.dirtyItems?.bases.insert(id)
        tracking.journal?.append(.base(id, bases[id]))
        let old = bases.removeValue(for: id) ?? nil
        if try isBelow(id) { bases.updateValue(nil, for: id) }
        tracking.digest.replace(old.map { .base(id, $0) }, by: nil)
    }

    package func drainBases(limit: Int) throws(StateError) -> [(EntityID, BaseState)] {
        if let backing {
            try tracking.requireBacking()
            if !bases.isEmpty { try flush() }
            return try backing.drainBases(limit: limit)
        }
        var taken: [(EntityID, BaseState)] = []
        for id in bases.entities.sorted().prefix(limit) {
            guard let base = bases[id] ?? nil else { continue }
            taken.append((id, base))
            try removeBase(id)
        }
        return taken
    }

    package func serviceEntities(_ ids: [EntityID]) throws(StateError) -> [ServiceEntity] {
        if let backing, rowTable.isEmpty, bases.isEmpty, register.isEmpty { return try backing.serviceEntities(ids) }
        var found: [ServiceEntity] = []
        var seen: Set<EntityID> = []
        for id in ids where seen.insert(id).inserted {
            if let set = try set(of: id) { found.append(ServiceEntity(id: id, set: set, row: try serviceRow(id))) }
        }
        return found
    }
}
