internal import OfflineStore
internal import OperationLog
internal import Tidelog

/// The workload "orders" as objects of a store, in SQLite by hand, and in ObjectBox.
final class ObjectShop {
    static let customers = 5_000

    private let customers: Int
    private let directory: Directory
    private let orders: [Order]
    private var service: OrderService?
    private var shop: SQLiteShop?
    private var box: ObjectBox?
    private var work: StoredWork?
    private var reads: StoredReads?
    /// The statements that read the orders of each customer.
    private var statements: [StoredReads.Read] = []

    /// - Parameter customers: The number of customers to which the orders are assigned, if it is lower than usual.
    init(_ surroundings: BenchEnvironment, orders count: Int, customers: Int = ObjectShop.customers) {
        self.customers = customers
        directory = surroundings.directory
        var generator = OrderGenerator()
        orders = (0..<count).compactMap { _ in generator.next() }.map { order in
            var order = order
            order.customer = 1 + (order.customer - 1) % customers
            return order
        }
    }

    /// Creates a new store with the customers, and stores all orders together. Returns the time for the orders in
    /// seconds.
    func put() async throws -> Double {
        await close()
        let service = try await OrderService.open(try directory.fresh("objects"), durability: .none)
        self.service = service
        let customers = try await service.putCustomers(customers)
        let objects = orders.map { OrderObject($0, customer: customers[$0.customer - 1]) }
        let box = try service.box(for: OrderObject.self)
        return try await Stopwatch.seconds { try await box.put(objects) }
    }

    func close() async {
        await service?.close()
        service = nil
    }

    func putByHand() throws -> Double {
        let shop = try SQLiteShop(path: try directory.fresh("objects.sqlite"))
        self.shop = shop
        try shop.run("BEGIN")
        for number in 1...customers {
            try shop.run("INSERT INTO customers VALUES (\(number), 'Customer \(number)')")
        }
        try shop.run("COMMIT")
        let start = ContinuousClock.now
        try shop.insert(orders)
        return Stopwatch.seconds(since: start)
    }

    func putInObjectBox(perTransaction: Int) throws -> Double {
        box = nil
        let box = try ObjectBox(directory: try directory.fresh("objectbox"), customers: customers)
        self.box = box
        let start = ContinuousClock.now
        for first in stride(from: 0, to: orders.count, by: perTransaction) {
            try box.put(orders[first..<min(first + perTransaction, orders.count)])
        }
        return Stopwatch.seconds(since: start)
    }

    // MARK: Without the engine

    /// Stores all orders in a further store, and records its rows and the statements that read them.
    func record() async throws {
        let files = StoreFiles(directory: try directory.fresh("recorded"))
        var (service, start) = try await OrderService.withCustomers(customers, files, in: directory)
        let customers = Array(try await service.box(for: CustomerObject.self).all)
        let objects = orders.map { OrderObject($0, customer: customers[$0.customer - 1]) }
        try await service.box(for: OrderObject.self).put(objects)
        await service.close()
        work = try StoredWork(from: start, to: files, in: directory)
        reads = try StoredReads(files.views, in: directory)
        service = try await OrderService.open(files.directory, durability: .none)
        guard let provider = service.provider as? OfflineODataProvider else { return }
        let explanation = try await provider.explain("Customers(1)/Orders")
        await service.close()
        let following = explanation.statements.filter { $0.sql.contains("FROM links") }
        let owners = try reads?.entities(of: "set_Customers") ?? []
        statements = owners.flatMap { owner in following.map { StoredReads.Read($0, number: owner) } }
    }

    /// Writes the records and rows of the orders. Returns the time in seconds.
    func putAlone() throws -> Double {
        try work?.prepare(OperationLog.Options.Durability.none)
        let start = ContinuousClock.now
        try work?.write(.together)
        return Stopwatch.seconds(since: start)
    }

    func walkAlone() throws -> Int { try reads.map { reads in try reads.reading { try reads.rows(statements) } } ?? 0 }

    // MARK: Traversal

    /// Reads the orders of each customer. Returns their number.
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
        for number in 1...customers {
            let sql = "SELECT \(SQLiteShop.columns) FROM orders o WHERE o.customer = ? ORDER BY o.id"
            for row in try shop.rows(sql, number) {
                sum &+= row.order.id + row.order.status.utf8.count + row.order.note.utf8.count
                count += 1
            }
        }
        return sum == .min ? 0 : count
    }

    func walkObjectBox() throws -> Int {
        guard let box else { return 0 }
        var count = 0
        var sum = 0
        for number in 1...customers {
            for order in try box.orders(of: number) {
                sum &+= order.id + order.status.utf8.count + order.note.utf8.count
                count += 1
            }
        }
        return sum == .min ? 0 : count
    }
}
