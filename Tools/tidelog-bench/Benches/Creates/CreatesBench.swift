internal import OfflineStore
internal import OperationLog
internal import Tidelog

extension Bench {
    static let creates = Bench(
        name: "creates",
        summary:
            "1,000 new entities, one call each, with and without sync; compared with the log alone, SQLite and ObjectBox."
    ) { surroundings in
        let count = surroundings.operations ?? 1_000
        var report = Report()
        for shape in [SingleCreates.unsynced, .durable] {
            surroundings.say("creates: \(count) single creates, \(shape.name)")
            report.cases += try await shape.measure(count, surroundings)
        }
        report.notes.append(
            "Tidelog: objects created before, each put with its own call, with a link to a customer. The log alone has the same "
                + "records, encoded before; SQLite by hand has the rows, an index and a transaction for each.")
        report.notes.append(ObjectBox.note)
        return report
    }
}

/// Orders that are created one by one, each in its own commit.
struct SingleCreates {
    let name: String
    let store: StoreDurability
    let log: OperationLog.Options.Durability
    let sqlite: SQLiteShop.Synchronous
    /// The minimum rate per second, or nil for none.
    let least: Double?
    /// The minimum ratio to the rate of the log alone, or nil for none.
    let leastOfLog: Double?
    /// Whether ObjectBox is comparable: it syncs each transaction, and this cannot be disabled.
    let isSynced: Bool

    static let unsynced = SingleCreates(
        name: "not synced", store: .none, log: .none, sqlite: .off, least: 60_000, leastOfLog: nil, isSynced: false)
    static let durable = SingleCreates(
        name: "durable", store: .everyCommit, log: .everyCommit, sqlite: .full, least: nil, leastOfLog: 0.8,
        isSynced: true)

    private static let customers = 100

    /// Creates orders one by one in a further store, to write its records and rows without the engine.
    private func recorded(_ orders: [Order], in directory: Directory) async throws -> StoredWork {
        let files = StoreFiles(directory: try directory.fresh("creates.recorded"))
        let (service, start) = try await OrderService.withCustomers(Self.customers, files, in: directory)
        let customers = Array(try await service.box(for: CustomerObject.self).all)
        let box = try service.box(for: OrderObject.self)
        for order in orders { try await box.put(OrderObject(order, customer: customers[order.customer - 1])) }
        await service.close()
        return try StoredWork(from: start, to: files, in: directory)
    }

    func measure(_ count: Int, _ surroundings: BenchEnvironment) async throws -> [Case] {
        let directory = surroundings.directory
        // One lap of each is not counted.
        let orders = OrderGenerator().prefix(count * (surroundings.rounds + 1)).map { order in
            var order = order
            order.customer = 1 + order.customer % Self.customers
            return order
        }
        let service = try await OrderService.open(try directory.fresh("creates"), durability: store)
        let customers = try await service.putCustomers(Self.customers)
        let box = try service.box(for: OrderObject.self)
        let objects = orders.map { OrderObject($0, customer: customers[$0.customer - 1]) }
        let log = try BenchLog.open(directory.fresh("creates.log"), durability: self.log)
        defer { log.close() }
        let records = EncodedRecords(orders.map(\.record))
        let shop = try SQLiteShop(path: directory.fresh("creates.sqlite"), synchronous: sqlite)

        let work = try await recorded(Array(orders.prefix(count)), in: directory)
        let durability = self.log

        func contender(_ name: String, _ create: @escaping (Int) async throws -> Void) -> BenchCandidate {
            var next = 0
            return BenchCandidate(name: name, units: count) {
                for _ in 0..<count {
                    try await create(next)
                    next += 1
                }
            }
        }
        var commit = Commit()
        var contenders = [
            contender("Tidelog") { _ = try await box.put(objects[$0]) },
            contender("the log alone") {
                try records.fill(&commit, $0..<$0 + 1)
                try log.append(commit)
            },
            contender("SQLite by hand") { try shop.insert(orders[$0...$0]) },
            BenchCandidate(
                name: StoredWork.name, units: count, lap: { try work.write(.each) },
                prepare: { try work.prepare(durability) }),
        ]
        if isSynced, ObjectBox.missing == nil {
            let box = try ObjectBox(directory: try directory.fresh("creates.objectbox"), customers: Self.customers)
            contenders.append(contender("ObjectBox") { try box.put(orders[$0...$0]) })
        }
        let rates = try await InterleavedRun.run(laps: surroundings.rounds, contenders)
        await service.close()
        let title = "\(count) single creates, \(name)"
        func rate(_ index: Int) -> Case.Baseline { .init(name: contenders[index].name, value: rates[index]) }
        let alone = least.map { [Case(title, rates[0], .operationsPerSecond, target: .atLeast($0))] } ?? []
        return alone
            + contenders.indices.dropFirst().map { index in
                Case(
                    title, rates[0], .operationsPerSecond, against: rate(index),
                    target: index == 1 ? leastOfLog.map { .ratioAtLeast($0) } : nil)
            } + [Case.limit(of: title, rate(3), .operationsPerSecond, against: rate(1))]
    }
}
