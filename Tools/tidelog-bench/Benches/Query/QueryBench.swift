internal import EDM
internal import Foundation
internal import OfflineStore
internal import OperationLog
internal import Operations
internal import SyncCore
internal import Views

extension Bench {
    static let query = Bench(
        name: "query", summary: "A store of 1,000,000 entities: opening and reading, compared with SQLite by hand."
    ) { surroundings in
        let shop = try await QueryShop(surroundings, entities: surroundings.operations ?? 1_000_000)
        var report = Report()
        for test in shop.tests {
            surroundings.say("query: \(test.name)")
            // Both have to return the same result.
            let (found, expected) = (try await shop.ours(test), try shop.byHand(test))
            guard found == expected else { throw Failure("\(test.name): \(found) rows, by hand \(expected).") }
            var contenders = [
                BenchCandidate(name: "Tidelog", units: test.repetitions) { _ = try await shop.ours(test) },
                BenchCandidate(name: "SQLite by hand", units: test.repetitions) { _ = try shop.byHand(test) },
            ]
            if !test.isPoint {
                contenders.append(
                    BenchCandidate(name: StoredReads.name, units: test.repetitions) { try shop.alone(test) })
            }
            if let inObjectBox = try shop.inObjectBox(test) {
                guard inObjectBox == expected else {
                    throw Failure("\(test.name): ObjectBox has \(inObjectBox) rows, not \(expected).")
                }
                contenders.append(
                    BenchCandidate(name: "ObjectBox", units: test.repetitions) { _ = try shop.inObjectBox(test) })
            }
            let rates = try await InterleavedRun.run(laps: surroundings.rounds, contenders)
            func time(_ index: Int) -> Case.Baseline { .init(name: contenders[index].name, value: 1e6 / rates[index]) }
            report.cases += contenders.indices.dropFirst().map { index in
                Case(
                    test.name, 1e6 / rates[0], .microseconds, against: time(index),
                    target: index == 1 ? .ratioAtMost(test.most) : nil)
            }
            if !test.isPoint {
                report.cases.append(Case.limit(of: test.name, time(2), .microseconds, against: time(1)))
            }
        }
        surroundings.say("query: opening")
        var times: [Double] = []
        for _ in 0..<surroundings.rounds { times.append(try await shop.reopen() * 1e3) }
        report.cases.append(Case("open the store", median(times), .milliseconds, target: .atMost(50)))
        report.notes.append(
            "\(shop.entities) entities. Times are for one call, in the executor of the store; SQLite by hand has the same rows and "
                + "indexes, reads all columns and creates a struct for each row.")
        report.notes.append(ObjectBox.note)
        return report
    }
}

/// The workload "orders" in a store and in SQLite by hand.
private final class QueryShop {
    struct Test {
        let name: String
        /// The number of queries in a lap, each with another value.
        let repetitions: Int
        /// The maximum ratio of Tidelog's time to that of the baseline.
        let most: Double
        /// The query of the store for a number.
        let url: @Sendable (Int) -> String
        let sql: String
        /// Whether the statement has a parameter for the number.
        var hasValue = true
        var isPoint = false
        /// Whether the rows are those of a customer, which ObjectBox finds by its relation.
        var isOfCustomer = false
        /// Whether all values of the rows are read, as the baseline does.
        var readsValues = false
        /// Whether each number is used once, so that the text of each query is new.
        var isAlwaysNew = false
    }

    static let customers = 5_000

    let entities: Int
    private var orders: Int { entities - Self.customers }
    private let files: StoreFiles
    private var store: LocalStore
    private let shop: SQLiteShop
    /// Nil if the library is missing.
    private let box: ObjectBox?
    private let directory: Directory
    private var reads: StoredReads?
    /// The statements of each query, by test.
    private var statements: [String: [[StoredReads.Read]]] = [:]

    init(_ surroundings: BenchEnvironment, entities: Int) async throws {
        guard entities >= 2 * Self.customers else {
            throw Failure("The benchmark requires at least \(2 * Self.customers) entities.")
        }
        self.entities = entities
        directory = surroundings.directory
        files = StoreFiles(directory: try surroundings.directory.fresh("store"))
        shop = try SQLiteShop(path: try surroundings.directory.fresh("shop.sqlite"))
        box =
            ObjectBox.missing == nil
            ? try ObjectBox(directory: try surroundings.directory.fresh("objectbox"), customers: Self.customers) : nil
        store = try await Self.open(files)
        surroundings.say("query: \(entities) entities")
        try await fill()
        try await record(laps: surroundings.rounds + 2)
    }

    /// Records the statements of the queries, and copies the views for them. The store is opened again, so that it has
    /// not seen the queries.
    private func record(laps: Int) async throws {
        for test in tests where !test.isPoint {
            for number in 0..<test.repetitions * (test.isAlwaysNew ? laps : 1) {
                statements[test.name, default: []].append(try await recorded(test.url(number), number))
            }
        }
        var scans: [StoredReads.Read] = []
        for url in Self.scans { scans += try await recorded(url, 0) }
        await store.close()
        reads = try StoredReads(files.views, in: directory)
        store = try await Self.open(files)
        _ = try reads?.rows(scans)
        for url in Self.scans { _ = try await store.query(url) }
    }

    private func recorded(_ url: String, _ number: Int) async throws -> [StoredReads.Read] {
        let top = url.contains("$top=1000") ? 1_000 : -1
        return try await store.explain(url).statements.map {
            StoredReads.Read($0, number: 1 + number &* 7_919 % Self.customers, top: top)
        }
    }

    /// Queries that read all rows of the orders, and the index on their customers, into the cache of SQLite. The pages of
    /// SQLite by hand are in its cache since they were written.
    private static let scans = ["Orders?$filter=Quantity lt 0", "Orders/$count?$filter=CustomerID ge 0"]

    private static func open(_ files: StoreFiles) async throws -> LocalStore {
        try await LocalStore(files, options: .init(log: .init(durability: .none), snapshots: .manual))
    }

    /// Closes and opens the store. Returns the time in seconds.
    func reopen() async throws -> Double {
        await store.close()
        let files = files
        let start = ContinuousClock.now
        store = try await Self.open(files)
        let seconds = Stopwatch.seconds(since: start)
        guard try await store.load(.link("Orders(1)")).values["OrderID"] == .integer(1) else {
            throw Failure("The store lost an order.")
        }
        return seconds
    }

    private func fill() async throws {
        try await store.record([
            .serviceInstalled(ServiceDescription(root: OrderPages.root, metadata: OrderModel.metadata()))
        ])
        var page: [EntityImage] = []
        for number in 1...Self.customers {
            page.append(
                EntityImage(
                    entity: EntityID(rawValue: UInt64(number)), set: "Customers", type: "Shop.Customer",
                    values: ["CustomerID": .integer(Int64(number)), "Name": .string("Customer \(number)")]))
            try shop.run("INSERT INTO customers VALUES (\(number), 'Customer \(number)')")
        }
        try await store.record([.entitiesRead(page)])
        var generator = OrderGenerator()
        var left = orders
        while left > 0 {
            let some = (0..<min(left, 1_000)).compactMap { _ in generator.next() }
            left -= some.count
            try await store.record([.entitiesRead(some.map { $0.image(entity: Self.customers + $0.id) })])
            try shop.insert(some)
            try box?.put(some)
        }
    }

    // MARK: Tests

    var tests: [Test] {
        let (count, customers) = (orders, Self.customers)
        let columns = SQLiteShop.columns
        return [
            Test(
                name: "point read by readLink", repetitions: 1_000, most: 1.5,
                url: { "Orders(\(1 + $0 &* 7_919 % count))" },
                sql: "SELECT \(columns) FROM orders AS o WHERE id = ?", isPoint: true),
            Test(
                name: "$filter on an indexed column", repetitions: 20, most: 1.3,
                url: { "Orders?$filter=CustomerID eq \(1 + $0 &* 7_919 % customers)" },
                sql: "SELECT \(columns) FROM orders AS o WHERE customer = ? ORDER BY id", isOfCustomer: true),
            Test(
                name: "the same, each query text once", repetitions: 20, most: 1.3,
                url: { "Orders?$filter=CustomerID eq \(1 + $0 &* 7_919 % customers)" },
                sql: "SELECT \(columns) FROM orders AS o WHERE customer = ? ORDER BY id", isAlwaysNew: true),
            Test(
                name: "$orderby and $top, 1,000 rows", repetitions: 3, most: 1.3,
                url: { _ in "Orders?$orderby=OrderID desc&$top=1000" },
                sql: "SELECT \(columns) FROM orders AS o ORDER BY id DESC LIMIT 1000", hasValue: false),
            Test(
                name: "the same, all values read", repetitions: 3, most: 1.3,
                url: { _ in "Orders?$orderby=OrderID desc&$top=1000" },
                sql: "SELECT \(columns) FROM orders AS o ORDER BY id DESC LIMIT 1000", hasValue: false,
                readsValues: true),
            Test(
                name: "the same, $select of two", repetitions: 3, most: 1.3,
                url: { _ in "Orders?$orderby=OrderID desc&$top=1000&$select=Note,Amount" },
                sql: "SELECT o.id, 0, '', o.note, o.amount, 0, 0, 0 FROM orders AS o ORDER BY id DESC LIMIT 1000",
                hasValue: false,
                readsValues: true),
            Test(
                name: "$expand to one, 1,000 rows", repetitions: 3, most: 1.3,
                url: { _ in "Orders?$orderby=OrderID&$top=1000&$expand=Customer" },
                sql: "SELECT \(columns), c.name FROM orders AS o JOIN customers AS c ON c.id = o.customer "
                    + "ORDER BY o.id LIMIT 1000", hasValue: false),
        ]
    }

    /// Runs a lap. Returns the total number of rows.
    func ours(_ test: Test) async throws -> Int {
        defer { if test.isAlwaysNew { asked.ours += test.repetitions } }
        return try await Self.run(test, from: test.isAlwaysNew ? asked.ours : 0, in: store)
    }

    /// The number of values that the tests with new values have used.
    private var asked = (ours: 0, byHand: 0, alone: 0)

    /// Runs in the store's executor from the first call to the last, because the calls of the baseline are in one
    /// thread.
    private static func run(_ test: Test, from first: Int, in store: isolated LocalStore) throws -> Int {
        var rows = 0
        for number in first..<(first + test.repetitions) {
            if test.isPoint {
                rows += try store.load(.link(test.url(number))).values.isEmpty ? 0 : 1
            } else {
                let found = try store.query(test.url(number)).entities
                // By index, because iterating copies each entity. By hand, no row is copied.
                rows +=
                    test.readsValues ? found.indices.count { Self.isComplete(found[$0].values) } : found.count
            }
        }
        return rows
    }

    /// Reads each value.
    private static func isComplete(_ values: PropertyValues) -> Bool {
        values.allSatisfy { _, value in value != .null }
    }

    /// Runs only the statements of a lap.
    func alone(_ test: Test) throws {
        guard let reads, let queries = statements[test.name] else { return }
        let first = test.isAlwaysNew ? asked.alone : 0
        if test.isAlwaysNew { asked.alone += test.repetitions }
        for query in queries[first..<first + test.repetitions] {
            guard try reads.reading({ try reads.rows(query) }) > 0 else { throw Failure("\(test.name): no rows.") }
        }
    }

    func byHand(_ test: Test) throws -> Int {
        var rows = 0
        let modulus = test.isPoint ? orders : Self.customers
        let first = test.isAlwaysNew ? asked.byHand : 0
        defer { if test.isAlwaysNew { asked.byHand += test.repetitions } }
        for number in first..<(first + test.repetitions) {
            rows += try shop.rows(test.sql, test.hasValue ? 1 + number &* 7_919 % modulus : nil).count
        }
        return rows
    }

    /// Returns the number of rows, or nil if ObjectBox is not available or has no call for the test.
    func inObjectBox(_ test: Test) throws -> Int? {
        guard let box, test.isPoint || test.isOfCustomer else { return nil }
        var rows = 0
        for number in 0..<test.repetitions {
            let value = 1 + number &* 7_919 % (test.isPoint ? orders : Self.customers)
            rows += test.isPoint ? (try box.order(value) == nil ? 0 : 1) : try box.orders(of: value).count
        }
        return rows
    }
}
