internal import EDM
internal import OfflineStore
internal import OperationLog
internal import Operations
internal import SyncCore

/// Orders and customers in a fixed ratio, so that the links of a row are similar at each size.
enum GrowingStore {
    static let ordersOfCustomer = 20

    static func measure(_ orders: Int, _ surroundings: BenchEnvironment, _ costs: inout GrowingCosts) async throws {
        let customers = orders / ordersOfCustomer
        let objects = ObjectShop(surroundings, orders: orders, customers: customers)
        var (puts, walks): ([Double], [Double]) = ([], [])
        for round in 0...surroundings.rounds {
            let put = try await objects.put()
            let walk = try await Stopwatch.seconds {
                guard try await objects.walk() == orders else {
                    throw Failure("The store does not contain all orders.")
                }
            }
            guard round > 0 else { continue }
            puts.append(put)
            walks.append(walk)
        }
        costs.add("put in one change set", at: orders, seconds: median(puts), units: orders)
        costs.add("walk the orders of each customer", at: orders, seconds: median(walks), units: orders)
        await objects.close()
        let store = try await filled(orders, customers, try surroundings.directory.fresh("growing"))
        let reads = 2_000
        let points = try await seconds(surroundings) { try await read(reads, of: orders, in: store) }
        costs.add("point read by readLink", at: orders, seconds: points, units: reads)
        let filters = 100
        let found = try await seconds(surroundings) { try await filter(filters, of: customers, in: store) }
        costs.add("$filter on an indexed column", at: orders, seconds: found, units: filters * ordersOfCustomer)
        await store.close()
    }

    /// Returns the median of the rounds, one of which is not counted.
    private static func seconds(
        _ surroundings: BenchEnvironment, _ body: () async throws -> Void
    ) async throws -> Double {
        var laps: [Double] = []
        for round in 0...surroundings.rounds {
            let seconds = try await Stopwatch.seconds(body)
            if round > 0 { laps.append(seconds) }
        }
        return median(laps)
    }

    private static func filled(_ orders: Int, _ customers: Int, _ directory: String) async throws -> LocalStore {
        let store = try await LocalStore(
            StoreFiles(directory: directory), options: .init(log: .init(durability: .none), snapshots: .manual))
        try await store.record([
            .serviceInstalled(ServiceDescription(root: OrderPages.root, metadata: OrderModel.metadata()))
        ])
        var page: [EntityImage] = (1...customers).map { number in
            EntityImage(
                entity: EntityID(rawValue: UInt64(number)), set: "Customers", type: "Shop.Customer",
                values: ["CustomerID": .integer(Int64(number)), "Name": .string("Customer \(number)")])
        }
        for order in OrderGenerator().prefix(orders) {
            var order = order
            order.customer = 1 + order.id % customers
            page.append(order.image(entity: customers + order.id))
            if page.count >= 1_000 {
                try await store.record([.entitiesRead(page)])
                page.removeAll()
            }
        }
        if !page.isEmpty { try await store.record([.entitiesRead(page)]) }
        return store
    }

    private static func read(_ count: Int, of orders: Int, in store: isolated LocalStore) throws {
        for number in 0..<count {
            guard try !store.load(.link("Orders(\(1 + number &* 7_919 % orders))")).values.isEmpty else {
                throw Failure("An order is missing.")
            }
        }
    }

    private static func filter(_ count: Int, of customers: Int, in store: isolated LocalStore) throws {
        for number in 0..<count {
            let found = try store.query("Orders?$filter=CustomerID eq \(1 + number &* 7_919 % customers)").entities
            guard found.count == ordersOfCustomer else { throw Failure("\(found.count) orders were found.") }
        }
    }
}

/// A queue of a given number of operations, which is planned and answered.
enum GrowingQueue {
    static func measure(_ operations: Int, _ surroundings: BenchEnvironment, _ costs: inout GrowingCosts) throws {
        // A small queue takes too little time to measure, so there are more rounds.
        let rounds = max(surroundings.rounds, 2_000 / operations)
        var (planning, answering): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            let queue = try UploadQueue(
                path: surroundings.directory.fresh("queue.sqlite"), day: OfflineDay(operations: operations))
            let result = try queue.drain()
            planning.append(result.planning)
            answering.append(result.firstAnswer + result.answering)
        }
        costs.add("plan", at: operations, seconds: median(planning), units: operations)
        costs.add("answers into the state", at: operations, seconds: median(answering), units: operations)
    }
}
