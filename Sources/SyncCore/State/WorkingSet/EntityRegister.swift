import Operations

/// The sets of registered entities, as runs of consecutive entity IDs of one set. Downloads assign consecutive IDs.
struct EntityRegister {
    struct Run {
        let first: UInt64
        var last: UInt64
        let set: String

        func contains(_ id: UInt64) -> Bool { first <= id && id <= last }
    }

    /// The runs in ascending order, each without gaps.
    private(set) var runs: [Run] = []
    private(set) var count = 0

    var isEmpty: Bool { runs.isEmpty }

    func set(of id: EntityID) -> String? {
        guard let place = place(of: id.rawValue), runs[place].contains(id.rawValue) else { return nil }
        return runs[place].set
    }

    /// Returns the index of the last run that starts at or before the entity, or nil if there is none.
    private func place(of id: UInt64) -> Int? {
        if let last = runs.last, last.first <= id { return runs.count - 1 }
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].first <= id { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : low - 1
    }

    /// Registers an entity. Returns whether it was not registered before.
    mutating func register(_ id: EntityID, set: String) -> Bool {
        let id = id.rawValue
        let place = place(of: id)
        if let place, runs[place].contains(id) { return false }
        count += 1
        if let place, runs[place].last &+ 1 == id, runs[place].set == set {
            runs[place].last = id
        } else {
            runs.insert(Run(first: id, last: id, set: set), at: place.map { $0 + 1 } ?? 0)
        }
        return true
    }

    mutating func remove(_ id: EntityID) {
        let id = id.rawValue
        guard let place = place(of: id), runs[place].contains(id) else { return }
        count -= 1
        let run = runs[place]
        let before = run.first < id ? [Run(first: run.first, last: id - 1, set: run.set)] : []
        let after = id < run.last ? [Run(first: id + 1, last: run.last, set: run.set)] : []
        runs.replaceSubrange(place...place, with: before + after)
    }

    func forEach<Failure: Error>(_ body: (EntityID, String) throws(Failure) -> Void) throws(Failure) {
        for run in runs { for id in run.first...run.last { try body(EntityID(rawValue: id), run.set) } }
    }

    mutating func removeAll() { (runs, count) = ([], 0) }
}
