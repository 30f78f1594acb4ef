internal import ArgumentParser
internal import EDM
internal import OfflineStore
internal import OperationLog
internal import Operations
internal import SyncCore

extension Bench {
    static let encrypted = Bench(
        name: "encrypted",
        summary: "An encrypted store: filling, opening, reading and writing, compared with a store without a key."
    ) { surroundings in
        let entities = surroundings.operations ?? 100_000
        var results: [EncryptedPhase: [EncryptedPhase.Result]] = [:]
        for round in 0..<surroundings.rounds {
            for (fill, use) in [(EncryptedPhase.fill, EncryptedPhase.use), (.fillPlain, .usePlain)] {
                surroundings.say("encrypted: \(entities) entities, \(fill.rawValue), round \(round + 1)")
                let path = try surroundings.directory.fresh("store")
                for phase in [fill, use] {
                    results[phase, default: []].append(try phase.runInProcess(store: path, entities: entities))
                }
            }
        }
        var report = Report()
        func row(
            _ name: String, _ unit: Case.Unit, _ phases: (EncryptedPhase, EncryptedPhase), _ target: Case.Target? = nil,
            _ value: (EncryptedPhase.Result) -> Double
        ) {
            let plain = median(results[phases.1, default: []].map(value))
            let ours = median(results[phases.0, default: []].map(value))
            report.cases.append(
                Case(name, ours, unit, against: .init(name: "without a key", value: plain), target: target))
        }
        let (fill, use) = (
            (EncryptedPhase.fill, EncryptedPhase.fillPlain), (EncryptedPhase.use, EncryptedPhase.usePlain)
        )
        row("store pages of 1,000 entities", .rowsPerSecond, fill) { Double(entities) / $0.fill }
        row("the same, peak memory", .mebibytes, fill, .atMost(150)) { $0.peak }
        row("open the store", .milliseconds, use, .atMost(100)) { $0.opening * 1e3 }
        row("the same, peak memory", .mebibytes, use, .atMost(150)) { $0.openingPeak }
        row("point read by readLink, the first 1,000", .microseconds, use) { $0.firstPoints * 1e6 }
        row("point read by readLink, again", .microseconds, use) { $0.points * 1e6 }
        row("$filter on an indexed column", .microseconds, use) { $0.indexed * 1e6 }
        row("$count of a $filter over all orders, first", .milliseconds, use) { $0.firstScan * 1e3 }
        row("$count of a $filter over all orders, again", .milliseconds, use) { $0.scan * 1e3 }
        row("one update per transaction", .microseconds, use) { $0.update * 1e6 }
        row("close the store", .milliseconds, use) { $0.closing * 1e3 }
        row("all phases, peak memory", .mebibytes, use, .atMost(150)) { $0.peak }
        row("the views on the disk", .mebibytes, use) { $0.views }
        report.notes.append(
            "\(entities) entities. Each phase in its own process; no sync, pages of files in the "
                + "system's cache, SQLite's own cache (32 MiB) empty when the store is opened.")
        return report
    }
}

/// A phase of ``Bench/encrypted``.
enum EncryptedPhase: String, CaseIterable, ExpressibleByArgument, Sendable {
    case fill, use
    case fillPlain = "fill-plain"
    case usePlain = "use-plain"

    /// Times in seconds, memory in MiB.
    struct Result: Codable {
        var fill = 0.0
        var opening = 0.0
        var openingPeak = 0.0
        var firstPoints = 0.0
        var points = 0.0
        var indexed = 0.0
        var firstScan = 0.0
        var scan = 0.0
        var update = 0.0
        var closing = 0.0
        var peak = 0.0
        var views = 0.0
    }

    private static let customers = 5_000

    func runInProcess(store: String, entities: Int) throws -> Result {
        try ChildProcess.result([
            Bench.encrypted.name, "--encrypted-phase", rawValue, "--directory", store, "--operations", "\(entities)",
        ])
    }

    // MARK: In a separate process

    func run(store: String, entities: Int) async throws {
        var result = Result()
        switch self {
        case .fill, .fillPlain: result.fill = try await fill(store, entities)
        case .use, .usePlain: try await use(store, entities - Self.customers, &result)
        }
        result.peak = ChildProcess.peak
        try ChildProcess.answer(result)
    }

    private func open(_ path: String) async throws -> LocalStore {
        let isEncrypted = self == .fill || self == .use
        let keys = isEncrypted ? [LogKey([UInt8](repeating: 7, count: LogKey.byteCount))].compactMap { $0 } : []
        return try await LocalStore(
            StoreFiles(directory: path),
            options: .init(log: .init(durability: .none, keys: keys), snapshots: .manual))
    }

    private func fill(_ path: String, _ entities: Int) async throws -> Double {
        guard entities >= 2 * Self.customers else {
            throw Failure("The benchmark requires at least \(2 * Self.customers) entities.")
        }
        let store = try await open(path)
        try await store.record([
            .serviceInstalled(ServiceDescription(root: OrderPages.root, metadata: OrderModel.metadata()))
        ])
        let page = (1...Self.customers).map { number in
            EntityImage(
                entity: EntityID(rawValue: UInt64(number)), set: "Customers", type: "Shop.Customer",
                values: ["CustomerID": .integer(Int64(number)), "Name": .string("Customer \(number)")])
        }
        try await store.record([.entitiesRead(page)])
        var generator = OrderGenerator()
        var left = entities - Self.customers
        var seconds = 0.0
        while left > 0 {
            let some = (0..<min(left, 1_000)).compactMap { _ in generator.next() }
            left -= some.count
            let images = some.map(image)
            seconds += try await Stopwatch.seconds { try await store.record([.entitiesRead(images)]) }
        }
        await store.close()
        return seconds
    }

    private func image(_ order: Order) -> EntityImage {
        guard case .operation(let operation) = order.record.body, case .create(let creation, _) = operation.action
        else {
            preconditionFailure("an order's record creates it")
        }
        return EntityImage(
            entity: EntityID(rawValue: UInt64(Self.customers + order.id)), set: "Orders", type: "Shop.Order",
            values: creation.values, etag: "1")
    }

    private func use(_ path: String, _ orders: Int, _ result: inout Result) async throws {
        let start = ContinuousClock.now
        let store = try await open(path)
        result.opening = Stopwatch.seconds(since: start)
        result.openingPeak = ChildProcess.peak
        guard store.opened.foldedRecords == 0 else { throw Failure("The store has no views.") }
        let count = 1_000
        for round in 0..<2 {
            let seconds = try await Stopwatch.seconds { try await Self.readPoints(count, of: orders, in: store) }
            if round == 0 { result.firstPoints = seconds / Double(count) }
            result.points = seconds / Double(count)
        }
        for round in 0..<4 {
            let seconds = try await Stopwatch.seconds {
                guard try await store.query("Orders?$filter=Quantity eq 7&$count=true&$top=1").count ?? 0 > 0 else {
                    throw Failure("No order was found.")
                }
            }
            if round == 0 { result.firstScan = seconds }
            result.scan = seconds
        }
        result.indexed =
            try await Stopwatch.seconds {
                for number in 0..<100 {
                    let customer = 1 + number &* 7_919 % Self.customers
                    _ = try await store.query("Orders?$filter=CustomerID eq \(customer)")
                }
            } / 100
        result.update =
            try await Stopwatch.seconds {
                for number in 0..<count {
                    let link = "Orders(\(1 + number &* 7_919 % orders))"
                    let intent = Intent.update(
                        .link(link), changes: ["Note": .string("changed \(number)")], bindings: [], inline: [])
                    _ = try await store.perform([(intent, IntentOptions())], asChangeSet: false)
                }
            } / Double(count)
        result.closing = await Stopwatch.seconds { await store.close() }
        result.views = Double(try Directory.bytes(at: StoreFiles(directory: path).views)) / 1_048_576
    }

    private static func readPoints(_ count: Int, of orders: Int, in store: isolated LocalStore) throws {
        for number in 0..<count {
            guard try !store.load(.link("Orders(\(1 + number &* 7_919 % orders))")).values.isEmpty else {
                throw Failure("An order was not found.")
            }
        }
    }
}
