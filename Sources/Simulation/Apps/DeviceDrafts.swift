import EDM
import OfflineStore
import Operations

/// The drafts of entities that the store of a device must contain, as its user made and changed them.
struct DeviceDrafts {
    /// A draft, with the properties that the simulation changes.
    struct Draft: Hashable {
        let set: String
        /// The draft that contains this one.
        var parent: EntityID?
        /// The values of `Mark`, `Note` and `Remark`.
        var texts: [String: String]
        /// The entity of which the draft is a copy; nil for a new draft, and for a restored one.
        var origin: EntityID?
        /// The values that the user wrote into the draft. No request may contain them before the activation.
        var written: Set<String> = []
        /// Whether the draft was made by an undo. Its values may be at the service already.
        var isRestored = false

        /// Returns whether the store shows the draft in the same way.
        fileprivate func isShown(by other: Draft) -> Bool {
            set == other.set && parent == other.parent && texts == other.texts
        }
    }

    private(set) var expected: [EntityID: Draft] = [:]
    /// Whether an undo or a failed call may have changed the drafts, so that the store determines them.
    var isStale = false

    subscript(id: EntityID) -> Draft? {
        get { expected[id] }
        set { expected[id] = newValue }
    }

    /// The drafts in the order of their creation.
    var identifiers: [EntityID] { expected.keys.sorted() }

    func children(of id: EntityID) -> [EntityID] { identifiers.filter { expected[$0]?.parent == id } }

    /// The values that no request may contain.
    var unsent: Set<String> {
        isStale ? [] : expected.values.reduce(into: []) { if !$1.isRestored { $0.formUnion($1.written) } }
    }

    mutating func removeTree(_ id: EntityID) {
        for child in children(of: id) { expected[child] = nil }
        expected[id] = nil
    }

    // MARK: Comparison with the store

    /// Returns the drafts that the store contains.
    static func stored(in store: LocalStore) async throws(TidelogError) -> [EntityID: Draft] {
        var found: [EntityID: Draft] = [:]
        for set in FieldService.draftSets {
            for entity in try await store.query(set).entities {
                guard let id = entity.entityID else { continue }
                found[id] = Draft(set: set, texts: FieldService.texts(entity.values))
            }
        }
        for order in try await store.query("OrderDrafts?$expand=Items").entities {
            for item in order.expanded.flatMap(\.entities) {
                if let id = item.entityID { found[id]?.parent = order.entityID }
            }
        }
        return found
    }

    /// Compares the drafts with those of the store, or accepts those of the store if an undo may have changed them.
    ///
    /// - Returns: The differences as sentences, and the number of drafts that an undo restored.
    mutating func compare(_ found: [EntityID: Draft]) -> (differences: [String], restored: Int) {
        guard !isStale else { return ([], accept(found)) }
        var differences: [String] = []
        for id in identifiers {
            guard let draft = expected[id] else { continue }
            guard let stored = found[id] else {
                differences.append("does not have draft \(id): \(Self.text(draft))")
                continue
            }
            if !draft.isShown(by: stored) {
                differences.append("has draft \(id) as \(Self.text(stored)), not \(Self.text(draft))")
            }
        }
        for id in found.keys.sorted() where expected[id] == nil {
            differences.append("has an unexpected draft \(id): \(found[id].map(Self.text) ?? "")")
        }
        return (differences, 0)
    }

    private mutating func accept(_ found: [EntityID: Draft]) -> Int {
        var restored = 0
        for (id, stored) in found {
            if var known = expected[id] {
                known.written.formIntersection(stored.texts.values)
                (known.texts, known.parent) = (stored.texts, stored.parent)
                expected[id] = known
            } else {
                expected[id] = stored
                expected[id]?.isRestored = true
                restored += 1
            }
        }
        expected = expected.filter { found[$0.key] != nil }
        isStale = false
        return restored
    }

    private static func text(_ draft: Draft) -> String {
        ([draft.set] + draft.texts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            + (draft.parent.map { ["in \($0)"] } ?? [])).joined(separator: " ")
    }
}
