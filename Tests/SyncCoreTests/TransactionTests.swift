import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// Operations with the same transactionID are sent in one change set, regardless of their places in the queue.
///
/// Features: UQ-13.
struct TransactionTests {
    private let store: TestStore
    private let customer: EntityID
    private let orders: [EntityID]

    init() throws {
        let store = try TestStore()
        self.store = store
        customer = try store.download("Customers", ["CustomerID": .integer(1)])
        orders = try [1, 2, 3].map { try store.download("Orders", ["OrderID": .integer($0)]) }
    }

    private func note(_ order: Int, _ text: String, in transaction: String? = nil) throws -> SequenceNumber {
        store.transactionID = transaction
        defer { store.transactionID = nil }
        return try store.perform([.update(orders[order], changes: ["Note": .string(text)], bindings: [])])[0]
    }

    private func rename(_ name: String, in transaction: String? = nil) throws -> SequenceNumber {
        store.transactionID = transaction
        defer { store.transactionID = nil }
        return try store.perform([.update(customer, changes: ["Name": .string(name)], bindings: [])])[0]
    }

    private func groups() throws -> [[SequenceNumber]] { store.groups(try store.plan()) }

    @Test func `members of a transaction share a change set, without independent operations between them`() throws {
        let first = try note(0, "a", in: "T")
        let other = try note(1, "b")
        let second = try note(2, "c", in: "T")
        let third = try rename("d", in: "U")
        #expect(Set(try groups()) == [[first, second], [other], [third]])
    }

    @Test func `dependencies of a member precede the transaction, and its dependents follow it`() throws {
        let needed = try rename("before")
        let first = try note(0, "a", in: "T")
        let behind = try note(0, "again")
        let renamed = try rename("in between")
        let second = try rename("x", in: "T")
        // Each round sends one change of an entity, because their order matters.
        var rounds: [[[SequenceNumber]]] = []
        while try !store.state.pendingOperations().isEmpty, rounds.count < 9 {
            let plan = try store.plan()
            rounds.append(store.groups(plan))
            try store.answer(plan)
        }
        let order = rounds.flatMap { $0 }
        #expect(order == [[needed], [renamed], [first, second], [behind]])
    }

    @Test func `an operation between two members that depend on it and that it depends on is included`() throws {
        let first = try note(0, "a", in: "T")
        let free = try store.newID()
        // Depends on the order, which the transaction changes before; the transaction's later operations depend on it.
        let between = try store.perform([
            .update(orders[0], changes: ["Note": .string("between")], bindings: [])
        ])[0]
        let second = try store.perform([
            .create(
                store.creation(
                    free, "Customers", bindings: [Binding(navigation: "Orders", targets: [orders[0]])]), parent: nil)
        ])[0]
        store.transactionID = "T"
        let third = try store.perform([.update(free, changes: ["Name": .string("x")], bindings: [])])[0]
        #expect(try groups() == [[first, between, second, third]])
    }

    @Test func `two interdependent transactions are merged`() throws {
        let a = try note(0, "a", in: "T")
        let b = try note(1, "b", in: "U")
        let c = try note(1, "c", in: "T")
        let d = try note(0, "d", in: "U")
        #expect(try groups() == [[a, b, c, d]])
    }

    @Test func `a new entity and its change are one change set with a reference`() throws {
        store.transactionID = "T"
        let new = try store.create("Customers", ["Name": .string("n")])
        let create = try store.state.header().applied
        store.transactionID = nil
        let other = try note(0, "x")
        store.transactionID = "T"
        let update = try store.perform([.update(new, changes: ["Name": .string("m")], bindings: [])])[0]
        #expect(Set(try groups()) == [[create, update], [other]])
    }

    @Test func `if one member is rejected, all members wait with the reason`() throws {
        let first = try note(0, "a", in: "T")
        let second = try note(1, "b", in: "T")
        try store.answer(try store.plan(), refusing: [second])
        let plan = try store.plan()
        #expect(plan.isEmpty)
        #expect(plan.held == [first: .withOperation(second), second: .rejected])
        #expect(store.groups(try store.plan(retrying: [second])) == [[first, second]])
    }

    @Test func `an undone operation is no longer a member of its transaction`() throws {
        let first = try note(0, "a", in: "T")
        let second = try note(1, "b", in: "T")
        try store.answer(try store.plan(), refusing: [second])
        #expect(try store.undo([second]) == [second])
        #expect(try groups() == [[first]])
    }

    @Test func `without batches, a transaction of several requests has no plan and states the reason`() throws {
        let first = try note(0, "a", in: "T")
        let second = try note(1, "b", in: "T")
        let third = try note(2, "c", in: "U")
        var options = UploadPlanner.Options()
        options.service.supportsBatch = false
        let plan = try UploadPlanner(storage: store.state, model: store.model, options: options).plan()
        #expect(store.groups(plan) == [[third]])
        for sequence in [first, second] {
            guard case .noLegalPlan? = plan.held[sequence] else {
                Issue.record("\(String(describing: plan.held[sequence]))")
                continue
            }
        }
    }

    // MARK: Random

    @Test(arguments: PlannerPropertyTests.seeds)
    func `no transaction is split, no order is changed, and all operations are sent`(_ seed: UInt64) throws {
        let properties = PlannerPropertyTests()
        let (store, _) = try properties.randomStore(seed, operations: 25, transactions: 3)
        let links = try store.state.allLinks.filter(\.inLocal).map(name).sorted()
        let entities = try store.state.allRows.map(\.id)
        var rounds = 0
        while try !store.state.pendingOperations().isEmpty {
            let plan = try properties.readIfNeeded(store, limit: 7)
            try properties.checkReferences(plan, store, seed)
            try properties.checkCompleteness(plan, store, seed)
            let groups = store.groups(plan)
            let members = try Dictionary(grouping: store.state.pendingOperations(), by: \.operation.transactionID)
            for (transaction, members) in members where transaction != nil {
                let places = Set(members.map { member in groups.firstIndex { $0.contains(member.sequence) } })
                #expect(places.count == 1, "seed \(seed): transaction \(transaction ?? "") is torn apart")
            }
            guard !plan.isEmpty, rounds < 200 else {
                Issue.record("seed \(seed): stuck with \(plan.held)")
                return
            }
            try store.answer(plan, etags: seed % 2 == 0)
            rounds += 1
        }
        #expect(try store.state.allRows.map(\.id) == entities, "seed \(seed)")
        #expect(try store.state.allLinks.filter(\.inBase).map(name).sorted() == links, "seed \(seed)")
    }

    private func name(_ link: LinkRow) -> String { "\(link.relationship) \(link.first) \(link.second)" }
}
