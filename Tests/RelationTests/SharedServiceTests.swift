import Logging
import Testing
import Tidelog

/// A `DataService` that several tasks share. Some of these patterns are verified by the compiler alone.
@Suite(.timeLimit(.minutes(10))) struct SharedServiceTests {
    /// Owns a service, and hands the entities that it reads to its callers.
    private actor Repository {
        private let service: TradeService
        private(set) var reads = 0

        init(_ service: TradeService) { self.service = service }

        func orders(over total: Int64) async throws -> sending [Order] {
            reads += 1
            return try await service.box(for: Order.self).query { Order.total > DecimalValue(total) }.find()
        }

        func add(_ order: sending Order) async throws -> EntityID {
            try await service.box(for: Order.self).put(order)
        }
    }

    @MainActor private final class Model {
        private let repository: Repository
        private var orders: [Order] = []
        var count: Int { orders.count }

        init(_ repository: Repository) { self.repository = repository }

        func load() async throws { orders = try await repository.orders(over: 1) }
    }

    @Test func `two calls run at the same time and return entities`() async throws {
        let trade = try await Trade.filled()
        let store = trade.store
        async let orders = store.entities(Order.self, in: "Orders")
        async let customers = store.entities(Customer.self, in: "Customers")
        let (found, owners) = try await (orders, customers)
        #expect(found.count == 3)
        #expect(owners.count == 1)
        #expect(try await trade.pending == 4)
    }

    @Test func `an actor owns a service and returns entities to the main actor`() async throws {
        let trade = try await Trade.filled()
        let repository = Repository(trade.store)
        let model = await Model(repository)
        try await model.load()
        #expect(await model.count == 2)
        #expect(await repository.reads == 1)
    }

    @Test func `a new entity is handed to an actor`() async throws {
        let trade = try await Trade.filled()
        let repository = Repository(trade.store)
        let id = try await repository.add(Order(9))
        #expect(try await trade.box(Order.self).get(id)?.total == 9)
    }

    @Test func `the tasks of a group use one box, and read and save entities`() async throws {
        let trade = try await Trade.filled()
        let box = try trade.box(Order.self)
        let ids = try await box.all.compactMap(\.entityID)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in ids {
                group.addTask {
                    guard let order = try await box.get(id) else { return }
                    order.total = 100
                    try await box.put(order)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await box.query { Order.total == 100 }.count() == 3)
    }

    @Test func `a detached task returns values of entities`() async throws {
        let trade = try await Trade.filled()
        let store = trade.store
        let totals = try await Task.detached { try await store.box(for: Order.self).all.compactMap(\.total) }.value
        #expect(totals.sorted() == [1, 2, 3])
        #expect(try await trade.pending == 4)
    }

    @Test func `the settings of a service are changed by many tasks`() async throws {
        let trade = try await Trade()
        let store = trade.store
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    store.traceRequests = number % 2 == 0
                    store.logger[metadataKey: "number"] = "\(number)"
                }
            }
        }
        store.traceRequests = false
        #expect(!store.traceRequests)
        #expect(store.logger[metadataKey: "number"] != nil)
        #expect(try await trade.pending == 0)
    }
}

extension Trade {
    /// A customer with three orders.
    fileprivate static func filled() async throws -> Trade {
        let trade = try await Trade()
        let customer = Customer("Ada")
        try await trade.box(Order.self).put((1...3).map { Order($0, owner: customer) })
        return trade
    }
}
