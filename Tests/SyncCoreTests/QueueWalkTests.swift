import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// Reading the queue in pages until a batch is full produces the same batch as reading all of it.
struct QueueWalkTests {
    private let random = PlannerPropertyTests()

    private func plan(
        _ store: TestStore, limit: Int = 500, reach: PlanScope = .queue, pageSize: Int = .max
    ) throws -> UploadPlan {
        var options = UploadPlanner.Options(requestLimit: limit, service: store.service, reach: reach)
        options.pageSize = pageSize
        return try UploadPlanner(storage: store.state, model: store.model, options: options).plan()
    }

    @Test(arguments: PlannerPropertyTests.seeds)
    func `pages of any size lead to the plan of the whole queue`(_ seed: UInt64) throws {
        let (store, _) = try random.randomStore(seed, operations: 40, transactions: seed % 3 == 0 ? 0 : 3)
        let whole = try plan(store)
        for size in [1, 2, 3, 7, 20] {
            #expect(try plan(store, pageSize: size) == whole, "seed \(seed): pages of \(size)")
        }
    }

    @Test(arguments: PlannerPropertyTests.seeds)
    func `a walk that stops when a batch is full finds the same batch`(_ seed: UInt64) throws {
        let (store, _) = try random.randomStore(seed, operations: 40, transactions: seed % 2 == 0 ? 0 : 3)
        for limit in [1, 2, 5, 12, 500] {
            let (short, long) = (
                try plan(store, limit: limit, reach: .batch, pageSize: 3), try plan(store, limit: limit)
            )
            #expect(short.changeSets == long.changeSets, "seed \(seed): limit \(limit)")
            #expect(short.entitiesToRead == long.entitiesToRead, "seed \(seed): limit \(limit)")
            for (sequence, reason) in short.held {
                #expect(long.held[sequence] == reason, "seed \(seed): limit \(limit), operation \(sequence)")
            }
            let said = Set(long.held.keys).union(long.changeSets.flatMap(\.operations))
            #expect(try said == Set(store.state.pendingOperations().map(\.sequence)), "seed \(seed): limit \(limit)")
        }
    }

    @Test(arguments: PlannerPropertyTests.seeds)
    func `batches of any size complete the queue`(_ seed: UInt64) throws {
        let (store, _) = try random.randomStore(seed, operations: 25, transactions: seed % 2 == 0 ? 0 : 2)
        let limit = Int(seed % 5) + 1
        var rounds = 0
        while try !store.state.pendingOperations().isEmpty, rounds < 200 {
            let plan = try random.readIfNeeded(store, limit: limit)
            guard !plan.isEmpty || !plan.entitiesToRead.isEmpty else { break }
            try store.answer(plan)
            rounds += 1
        }
        #expect(try store.state.pendingOperations().isEmpty, "seed \(seed): limit \(limit)")
    }

    @Test
    func `a transaction at both ends of the queue stays complete, and the planner reads no more than necessary`()
        throws
    {
        let store = try TestStore()
        let orders = try (1...30).map { try store.download("Orders", ["OrderID": .integer(Int64($0))]) }
        for (index, order) in orders.enumerated() {
            store.transactionID = index == 4 || index == 20 ? "T" : nil
            try store.perform([.update(order, changes: ["Note": .string("n")], bindings: [])])
        }
        let all = try store.state.pendingOperations().map(\.sequence)
        let short = try plan(store, limit: 3, reach: .batch, pageSize: 2)
        #expect(store.groups(short) == [[all[0]], [all[1]], [all[2]]])
        #expect(short.held.isEmpty)
        let long = try plan(store, limit: 8, reach: .batch, pageSize: 2)
        #expect(store.groups(long).contains([all[4], all[20]]))
    }

    @Test func `many changes of an entity are not all read for each batch`() throws {
        let store = try TestStore()
        let order = try store.download("Orders", ["OrderID": .integer(1)], etag: "\"1\"")
        for number in 0..<60 {
            try store.add(
                .operation(Operation(.update(order, changes: ["Note": .string("\(number)")], bindings: []))))
        }
        let before = store.state.queue.operationsRead
        let short = try plan(store, limit: 2, reach: .batch, pageSize: 4)
        #expect(short.changeSets.count == 1)
        #expect(short.held.count < 30)
        #expect(store.state.queue.operationsRead - before < 60)
    }

    @Test func `many changes of an entity that has to be read first are not all read`() throws {
        let store = try TestStore()
        store.service = ServiceOptions(supportsPatch: false)
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        for number in 0..<60 {
            try store.add(
                .operation(Operation(.update(order, changes: ["Note": .string("\(number)")], bindings: []))))
        }
        let short = try plan(store, limit: 2, reach: .batch, pageSize: 4)
        #expect(short.entitiesToRead == [order])
        #expect(short.held.count < 30)
    }

    @Test func `operations that are not sent do not end the search for the next batch`() throws {
        let store = try TestStore()
        let orders = try (1...3).map { try store.download("Orders", ["OrderID": .integer(Int64($0))]) }
        let first = try store.perform([.update(orders[0], changes: ["Note": .string("a")], bindings: [])])
        for number in 0..<60 {
            var local = Operation(.update(orders[1], changes: ["Note": .string("\(number)")], bindings: []))
            local.delivery = .localOnly
            try store.add(.operation(local))
        }
        let last = try store.perform([.update(orders[2], changes: ["Note": .string("b")], bindings: [])])
        #expect(try store.groups(plan(store, limit: 2, reach: .batch, pageSize: 4)) == [first, last])
    }

    @Test func `an operation of a change set that is not sent does not hold back the others`() throws {
        let store = try TestStore()
        let orders = try (1...2).map { try store.download("Orders", ["OrderID": .integer(Int64($0))]) }
        let operations = try store.perform(
            orders.map { .update($0, changes: ["Note": .string("a")], bindings: []) }, changeSet: true)
        try store.add(.deliveryChanged([operations[1]], to: .localOnly))
        let plan = try plan(store)
        #expect(store.groups(plan) == [[operations[0]]])
        #expect(plan.held == [operations[1]: .localOnly])
    }
}
