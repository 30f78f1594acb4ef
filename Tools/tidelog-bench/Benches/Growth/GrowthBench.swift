extension Bench {
    static let growth = Bench(
        name: "growth",
        summary:
            "The cost of a row in stores of 10,000 and 100,000 entities, and of an operation in queues of 100 to 100,000."
    ) { surroundings in
        // Each size is ten times the previous one.
        let most = surroundings.operations ?? 100_000
        let entities = [10_000, 100_000, 1_000_000, 10_000_000].filter { $0 <= max(most, 10_000) }
        let pending = [100, 10_000, 100_000].filter { $0 <= max(most, 100) }
        var report = Report()
        var costs = GrowingCosts()
        for count in entities {
            surroundings.say("growth: \(count) entities")
            try await GrowingStore.measure(count, surroundings, &costs)
        }
        report.cases += costs.cases(.microsecondsPerRow, of: "entities", sizes: entities)
        costs = GrowingCosts()
        for count in pending {
            surroundings.say("growth: \(count) pending operations")
            try GrowingQueue.measure(count, surroundings, &costs)
        }
        report.cases += costs.cases(.microsecondsPerOperation, of: "pending", sizes: pending)
        report.notes.append(
            "The baseline is the same work at the smallest size. A customer has \(GrowingStore.ordersOfCustomer) orders at each "
                + "size. --operations names the largest size.")
        return report
    }
}

/// The cost of one unit of some tasks, by the size of the store or queue.
struct GrowingCosts {
    /// The maximum ratio of the cost of a unit at any size to the cost at the smallest size.
    static let most = 1.5

    private var works: [String] = []
    /// The costs in microseconds.
    private var costs: [String: [Int: Double]] = [:]

    mutating func add(_ work: String, at size: Int, seconds: Double, units: Int) {
        if costs[work] == nil { works.append(work) }
        costs[work, default: [:]][size] = seconds * 1e6 / Double(units)
    }

    /// Returns a case for each size, compared with the smallest one.
    func cases(_ unit: Case.Unit, of things: String, sizes: [Int]) -> [Case] {
        guard let smallest = sizes.first else { return [] }
        return works.flatMap { work in
            sizes.dropFirst().compactMap { size in
                guard let base = costs[work]?[smallest], let cost = costs[work]?[size] else { return nil }
                return Case(
                    "\(work), \(size) \(things)", cost, unit,
                    against: .init(name: "\(smallest) \(things)", value: base), target: .ratioAtMost(Self.most))
            }
        }
    }
}
