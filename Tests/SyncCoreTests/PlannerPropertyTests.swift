import EDM
import ODataWire
import Operations
import SeededRandom
import SyncCore
import Testing

/// Invariants of every plan, for random operations. A failure prints its seed.
struct PlannerPropertyTests {
    static let seeds: [UInt64] = Array(1...40)

    /// - Parameter transactions: The number of transactionIDs that some of the operations have.
    func randomStore(
        _ seed: UInt64, operations: Int, transactions: Int = 0, in given: TestStore? = nil
    ) throws -> (TestStore, RandomOperations) {
        let store = try given ?? TestStore()
        for number in 1...3 {
            let number = Value.integer(Int64(number))
            for (set, key) in [
                ("Customers", "CustomerID"), ("Suppliers", "SupplierID"), ("Products", "ProductID"),
                ("Fathers", "FatherID"), ("Cities", "CityID"), ("Persons", "PersonID"),
            ] {
                try store.download(set, [key: number], etag: set == "Customers" ? "\"1\"" : nil)
            }
            try store.download("Orders", ["OrderID": number, "CustomerID": number], etag: "\"1\"")
            try store.download("Mayors", ["MayorID": number, "CityID": number])
            try store.download("Children", ["ChildID": number, "FatherID": number])
        }
        var random = RandomOperations(
            random: SeededRandom(seed: seed), model: store.model, rows: { (try? store.state.rows(set: $0)) ?? [] },
            set: { (try? store.state.set(of: $0)) ?? nil })
        for _ in 0..<operations {
            if transactions > 0 {
                let number = Int.random(in: 0..<transactions, using: &random.random)
                store.transactionID = random.chance(30) ? "T\(number)" : nil
            }
            try perform(&random, store)
        }
        return (store, random)
    }

    private func perform(_ random: inout RandomOperations, _ store: TestStore) throws {
        let actions = try random.actions(next: store.newID())
        guard !actions.isEmpty else { return }
        do { try store.perform(actions, changeSet: actions.count > 1) } catch ValidationError.refused {}
    }

    @Test(arguments: seeds)
    func `no request refers to an unknown entity, and no operation is sent twice or separated from its change set`(
        _ seed: UInt64
    ) throws {
        let (store, _) = try randomStore(seed, operations: 25)
        var rounds = 0
        while try !store.state.pendingOperations().isEmpty {
            let plan = try readIfNeeded(store, limit: 7)
            try checkReferences(plan, store, seed)
            try checkCompleteness(plan, store, seed)
            #expect(try store.plan(limit: 7) == plan, "seed \(seed): not the same plan twice")
            #expect(try TestStore(replaying: store.records).plan(limit: 7) == plan, "seed \(seed): replayed")
            guard !plan.isEmpty, rounds < 200 else {
                Issue.record("seed \(seed): stuck with \(plan.held)")
                return
            }
            try store.answer(plan, etags: seed % 2 == 0)
            rounds += 1
        }
    }

    @Test(arguments: seeds)
    func `after all uploads, the service has the former current state of the store`(_ seed: UInt64) throws {
        let (store, _) = try randomStore(seed, operations: 25)
        let links = try store.state.allLinks.filter(\.inLocal).map(name).sorted()
        let entities = try store.state.allRows.map(\.id)
        var rounds = 0
        while try !store.state.pendingOperations().isEmpty, rounds < 200 {
            try store.answer(try readIfNeeded(store, limit: 500))
            rounds += 1
        }
        #expect(try store.state.pendingOperations().isEmpty, "seed \(seed)")
        #expect(try store.state.allRows.map(\.id) == entities, "seed \(seed)")
        #expect(try store.state.allLinks.filter(\.inBase).map(name).sorted() == links, "seed \(seed)")
    }

    @Test(arguments: seeds)
    func `no operation is held back by a rejection that it does not depend on`(_ seed: UInt64) throws {
        var (store, random) = try randomStore(seed, operations: 25)
        let all = try store.state.pendingOperations()
        let refusing = Set(all.map(\.sequence).filter { _ in random.chance(10) })
        var rounds = 0
        while rounds < 200 {
            let plan = try readIfNeeded(store, limit: 500)
            guard !plan.isEmpty else { break }
            try store.answer(plan, refusing: refusing)
            rounds += 1
        }
        #expect(rounds < 200, "seed \(seed): the rounds never end")
        let tainted = taint(all, refusing)
        for pending in try store.state.pendingOperations() {
            #expect(tainted.contains(pending.sequence), "seed \(seed): operation \(pending.sequence) is held in vain")
        }
    }

    // MARK: Checks

    /// Reads the entities whose ETag is unknown, as the engine does before a batch.
    func readIfNeeded(_ store: TestStore, limit: Int) throws -> UploadPlan {
        let plan = try store.plan(limit: limit)
        guard !plan.entitiesToRead.isEmpty else { return plan }
        for id in plan.entitiesToRead {
            let set = try store.state.set(of: id)!
            store.nextKey += 1
            let image = EntityImage(
                entity: id, set: set, type: store.model.findEntitySet(set)!.entityType.name, values: [:],
                etag: "W/\"\(store.nextKey)\"")
            try store.add(.entitiesRead([image]))
        }
        return try store.plan(limit: limit, unreadable: Set(plan.entitiesToRead))
    }

    func checkReferences(_ plan: UploadPlan, _ store: TestStore, _ seed: UInt64) throws {
        let resolver = EntityResolver(storage: store.state, model: store.model)
        var known: Set<ResourceReference> = []
        for id in try 1..<store.newID().rawValue {
            guard let row = try resolver.serviceRow(EntityID(rawValue: id)), let reference = try resolver.reference(row)
            else { continue }
            known.insert(reference)
        }
        var contentIDs: Set<String> = []
        for changeSet in plan.changeSets {
            var created: Set<String> = []
            for request in changeSet.requests {
                for reference in request.references {
                    if case .contentID(let id) = reference {
                        #expect(created.contains(id), "seed \(seed): $\(id) is not created before in its change set")
                    } else {
                        #expect(known.contains(reference), "seed \(seed): the service does not know \(reference)")
                    }
                }
                #expect(
                    contentIDs.insert(request.contentID).inserted, "seed \(seed): Content-ID \(request.contentID) twice"
                )
                if request.creates != nil { created.insert(request.contentID) }
            }
        }
    }

    func checkCompleteness(_ plan: UploadPlan, _ store: TestStore, _ seed: UInt64) throws {
        let pending = try store.state.pendingOperations()
        let groups = store.groups(plan)
        let sent = groups.flatMap { $0 }
        #expect(Set(sent).count == sent.count, "seed \(seed): an operation is in two change sets")
        #expect(Set(sent).isDisjoint(with: plan.held.keys), "seed \(seed): sent and held")
        #expect(
            Set(sent).union(plan.held.keys) == Set(pending.map(\.sequence)), "seed \(seed): an operation is forgotten")
        for (changeSet, members) in Dictionary(
            grouping: pending.filter { $0.operation.changeSet != nil }, by: \.operation.changeSet)
        {
            let places = Set(members.map { member in groups.firstIndex { $0.contains(member.sequence) } })
            #expect(places.count == 1, "seed \(seed): change set \(changeSet ?? 0) is torn apart")
        }
        let requests = plan.changeSets.map(\.requests.count)
        #expect(requests.count <= 1 || requests.reduce(0, +) <= 7, "seed \(seed): \(requests)")
        // Two changes of the same entity keep their order.
        let place = Dictionary(uniqueKeysWithValues: sent.enumerated().map { ($1, $0) })
        for (index, later) in pending.enumerated() {
            for earlier in pending[..<index]
            where !Set(earlier.operation.createdEntities + changed(earlier)).isDisjoint(with: changed(later)) {
                guard let second = place[later.sequence] else { continue }
                let first = place[earlier.sequence]
                #expect(
                    first.map { $0 < second } == true, "seed \(seed): \(later.sequence) overtakes \(earlier.sequence)")
            }
        }
    }

    /// Returns the entities that the operation changes or deletes under their own URL.
    private func changed(_ pending: PendingOperation) -> [EntityID] {
        switch pending.operation.action {
        case .update(let id, _, _), .delete(let id): [id]
        default: []
        }
    }

    /// Returns the refused operations and those that depend on them: operations on the same entities, and their change
    /// sets.
    private func taint(_ operations: [PendingOperation], _ refused: Set<SequenceNumber>) -> Set<SequenceNumber> {
        var tainted = refused
        var entities: Set<EntityID> = []
        var changeSets: Set<SequenceNumber> = []
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for pending in operations {
                let touched = Set(pending.operation.touchedEntities)
                let isTainted =
                    tainted.contains(pending.sequence) || pending.operation.changeSet.map(changeSets.contains) == true
                    || !touched.isDisjoint(with: entities)
                guard isTainted else { continue }
                if tainted.insert(pending.sequence).inserted { isGrowing = true }
                if let changeSet = pending.operation.changeSet, changeSets.insert(changeSet).inserted {
                    isGrowing = true
                }
                if !touched.isSubset(of: entities) {
                    entities.formUnion(touched)
                    isGrowing = true
                }
            }
        }
        return tainted
    }

    func name(_ link: LinkRow) -> String { "\(link.relationship) \(link.first) \(link.second)" }
}
