internal import EDM
internal import OfflineStore
internal import OperationLog
internal import Operations
internal import SyncCore

extension Bench {
    static let memory = Bench(
        name: "memory", summary: "Peak memory of the download of a million rows, and of 100,000 pending operations."
    ) { surroundings in
        let rows = surroundings.operations ?? 1_000_000
        var report = Report()
        surroundings.say("memory: download of \(rows) rows")
        report.cases += try DownloadMemory.cases(rows: rows, in: surroundings.directory)
        let pending = max(1, rows / 10)
        surroundings.say("memory: \(pending) pending operations")
        report.cases += try PendingMemory.cases(operations: pending, in: surroundings.directory)
        report.notes.append("Each in its own process, with the peak memory that the system reports.")
        return report
    }
}

/// The memory that is needed to create a queue in a store, and to open it and plan its first batch.
enum PendingMemory {
    /// The limit in MiB, for a hundred thousand operations.
    private static let bound = 100.0

    static func cases(operations: Int, in directory: Directory) throws -> [Case] {
        let store = try directory.fresh("pending")
        let making = try measure(operations, store)
        let opening = try measure(0, store)
        return [
            Case(
                "create \(operations) pending operations, peak memory", making.peak, .mebibytes, target: .atMost(bound)),
            Case("open and plan them, peak memory", opening.peak, .mebibytes, target: .atMost(bound)),
            Case("open a store with \(operations) pending", opening.opening, .milliseconds),
        ]
    }

    private static func measure(_ operations: Int, _ store: String) throws -> Result {
        try ChildProcess.result([Bench.memory.name, "--pending", "\(operations)", "--directory", store])
    }

    private struct Result: Codable {
        /// The peak memory in MiB.
        let peak: Double
        /// The time to open the store, in milliseconds.
        let opening: Double
    }

    // MARK: In a separate process

    /// - Parameter operations: The number of operations to create, or 0 to plan the existing ones.
    static func run(operations: Int, store directory: String) async throws {
        let start = ContinuousClock.now
        let store = try await LocalStore(
            StoreFiles(directory: directory), options: .init(log: .init(durability: .none), snapshots: .manual))
        let opening = Stopwatch.seconds(since: start) * 1e3
        if operations > 0 {
            try await make(operations, in: store)
        } else {
            let plan = try await store.uploads.plan(reach: .batch)
            guard !plan.isEmpty else { throw Failure("The plan is empty.") }
        }
        let peak = ChildProcess.peak
        await store.close()
        try ChildProcess.answer(Result(peak: peak, opening: opening))
    }

    /// Creates the operations ten per call, as an app does, without keeping them in memory.
    private static func make(_ operations: Int, in store: LocalStore) async throws {
        try await store.record([.serviceInstalled(OfflineDay.service)])
        for start in stride(from: 0, to: operations, by: 10) {
            _ = try await store.perform(
                round(start / 10).prefix(operations - start).map { ($0, IntentOptions()) }, asChangeSet: false)
        }
    }

    /// Returns a customer with three orders of two items each.
    private static func round(_ number: Int) -> [Intent] {
        func create(_ draft: Int, _ set: String, _ values: PropertyValues, _ owner: (String, Int)? = nil) -> Intent {
            let bindings = owner.map { [BindingDraft(navigation: $0.0, targets: [.draft($0.1)])] } ?? []
            return .create(
                EntityDraft(
                    number: draft, set: set, type: "Shop.\(set.dropLast())", values: values, bindings: bindings),
                in: nil)
        }
        let customer = create(1, "Customers", ["Name": .string("New \(number)"), "City": .string("Berlin")])
        return [customer]
            + (0..<3).flatMap { place in
                let order = 2 + 3 * place
                return [
                    create(
                        order, "Orders",
                        ["Note": .string("deliver before noon"), "Amount": .decimal(DecimalValue(Int64(number)))],
                        ("Customer", 1)),
                    create(
                        order + 1, "Items", ["Quantity": .integer(1), "Text": .string("an item")], ("Order", order)),
                    create(
                        order + 2, "Items", ["Quantity": .integer(2), "Text": .string("another")], ("Order", order)),
                ]
            }
    }
}
