internal import Foundation
internal import HTTPTypes
internal import Tidelog

extension Bench {
    static let relations = Bench(
        name: "relations", summary: "Objects with relations, put and walked, beside SQLite by hand; the generator."
    ) { surroundings in
        let orders = surroundings.operations ?? 100_000
        var report = Report()
        let shop = ObjectShop(surroundings, orders: orders)
        surroundings.say("relations: putting \(orders) orders")
        var (puts, putsByHand): ([Double], [Double]) = ([], [])
        for round in 0...surroundings.rounds {
            let seconds = (try await shop.put(), try shop.putByHand())
            guard round > 0 else { continue }
            puts.append(Double(orders) / seconds.0)
            putsByHand.append(Double(orders) / seconds.1)
        }
        report.cases.append(
            Case(
                "put orders in one change set", median(puts), .rowsPerSecond,
                against: .init(name: "SQLite by hand", value: median(putsByHand)), target: .ratioAtLeast(0.4)))
        surroundings.say("relations: walking from the customers to their orders")
        let (found, expected) = (try await shop.walk(), try shop.walkByHand())
        guard found == expected else { throw Failure("Of the orders \(found) were found, by hand \(expected).") }
        let walks = try await Race.run(
            laps: surroundings.rounds,
            [
                Contender(name: "Tidelog", units: orders) { _ = try await shop.walk() },
                Contender(name: "SQLite", units: orders) { _ = try shop.walkByHand() },
            ])
        report.cases.append(
            Case(
                "orders of each customer", walks[0], .rowsPerSecond,
                against: .init(name: "SQLite by hand", value: walks[1]), target: .ratioAtLeast(0.5)))
        try GeneratorCase.add(to: &report, surroundings)
        report.notes.append(
            "\(orders) orders of \(ObjectShop.customers) customers. Putting: objects made before, one change set, durability "
                + "left to the system; by hand the same rows and an index, in one transaction. Walking: a customer's orders by "
                + "ToMany, all values of each; by hand a prepared statement, a struct of each row.")
        return report
    }
}

/// The workload "orders" as objects of a store, and in SQLite by hand.
private final class ObjectShop {
    static let customers = 5_000

    private let directory: Directory
    private let orders: [Order]
    private var service: OrderService?
    private var shop: SQLiteShop?

    init(_ surroundings: Surroundings, orders count: Int) {
        directory = surroundings.directory
        var generator = OrderGenerator()
        orders = (0..<count).compactMap { _ in generator.next() }
    }

    /// A new store with the customers, and then all orders at once. Returns what that took, in seconds.
    func put() async throws -> Double {
        if let provider = service?.provider as? OfflineODataProvider { await provider.close() }
        let provider = OfflineODataProvider(
            serviceRoot: "http://bench.test/",
            parameters: OfflineODataParameters(
                storePath: try directory.fresh("objects"), transport: MetadataTransport(), durability: .none))
        try await provider.open()
        let service = OrderService(provider: provider)
        self.service = service
        var customers: [CustomerObject] = []
        for number in 1...Self.customers {
            let customer = CustomerObject(OrderObjects.metadata.entityType("Shop.Customer"))
            customer["CustomerID"] = .integer(Int64(number))
            customer["Name"] = .string("Customer \(number)")
            customers.append(customer)
        }
        try await service.box(for: CustomerObject.self).put(customers)
        let objects = orders.map { OrderObject($0, customer: customers[$0.customer - 1]) }
        let box = try service.box(for: OrderObject.self)
        return try await Stopwatch.seconds { try await box.put(objects) }
    }

    func putByHand() throws -> Double {
        let shop = try SQLiteShop(path: try directory.fresh("objects.sqlite"))
        self.shop = shop
        try shop.run("BEGIN")
        for number in 1...Self.customers {
            try shop.run("INSERT INTO customers VALUES (\(number), 'Customer \(number)')")
        }
        try shop.run("COMMIT")
        let start = ContinuousClock.now
        try shop.insert(orders)
        return Stopwatch.seconds(since: start)
    }

    /// The orders of each customer. Returns how many there are.
    func walk() async throws -> Int {
        guard let service else { return 0 }
        var count = 0
        var sum = 0
        for customer in try await service.box(for: CustomerObject.self).all {
            for order in customer.orders {
                sum &+= order.sum
                count += 1
            }
        }
        return sum == .min ? 0 : count
    }

    func walkByHand() throws -> Int {
        guard let shop else { return 0 }
        var count = 0
        var sum = 0
        for number in 1...Self.customers {
            let sql = "SELECT \(SQLiteShop.columns) FROM orders o WHERE o.customer = ? ORDER BY o.id"
            for row in try shop.rows(sql, number) {
                sum &+= row.order.id + row.order.status.utf8.count + row.order.note.utf8.count
                count += 1
            }
        }
        return sum == .min ? 0 : count
    }
}

/// Knows the metadata and nothing else.
private struct MetadataTransport: HTTPTransport {
    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        (HTTPResponse(status: .ok), OrderModel.metadata())
    }
}
