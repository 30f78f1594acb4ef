internal import Foundation

extension Bench {
    static let relations = Bench(
        name: "relations",
        summary: "Objects with relations, put and traversed, compared with SQLite by hand and ObjectBox; the generator."
    ) { surroundings in
        let orders = surroundings.operations ?? 100_000
        var report = Report()
        let shop = ObjectShop(surroundings, orders: orders)
        surroundings.say("relations: recording the work of a store")
        try await shop.record()
        surroundings.say("relations: putting \(orders) orders")
        report.cases += try await puts(shop, orders, rounds: surroundings.rounds)
        surroundings.say("relations: traversing from the customers to their orders")
        report.cases += try await walks(shop, orders, rounds: surroundings.rounds)
        try GeneratorCase.add(to: &report, surroundings)
        report.notes.append(
            "\(orders) orders of \(ObjectShop.customers) customers. Put: objects created before, one change set, no "
                + "sync; by hand the same rows and an index, in one transaction. Traversal: the orders of a customer by "
                + "ToMany, all values of each; by hand a prepared statement, a struct for each row.")
        report.notes.append(ObjectBox.note)
        return report
    }

    private static func puts(_ shop: ObjectShop, _ orders: Int, rounds: Int) async throws -> [Case] {
        var rates: [String: [Double]] = [:]
        for round in 0...rounds {
            var seconds = ["ours": try await shop.put(), "SQLite by hand": try shop.putByHand()]
            seconds[StoredWork.name] = try shop.putAlone()
            if ObjectBox.missing == nil {
                // The links of the second one are traversed later.
                seconds["ObjectBox, 1,000 per transaction"] = try shop.putInObjectBox(perTransaction: 1_000)
                seconds["ObjectBox, one transaction"] = try shop.putInObjectBox(perTransaction: orders)
            }
            guard round > 0 else { continue }
            for (name, seconds) in seconds { rates[name, default: []].append(Double(orders) / seconds) }
        }
        let targets: [(String, Case.Target?)] = [
            ("SQLite by hand", .ratioAtLeast(0.4)), (StoredWork.name, nil),
            ("ObjectBox, 1,000 per transaction", .ratioAtLeast(1)),
            ("ObjectBox, one transaction", .ratioAtLeast(1)),
        ]
        let title = "put orders in one change set"
        func rate(_ name: String) -> Case.Baseline { .init(name: name, value: median(rates[name] ?? [])) }
        return targets.filter { rates[$0.0] != nil }.map { name, target in
            Case(title, rate("ours").value, .rowsPerSecond, against: rate(name), target: target)
        }
            + [Case.limit(of: title, rate(StoredWork.name), .rowsPerSecond, against: rate("SQLite by hand"))]
    }

    private static func walks(_ shop: ObjectShop, _ orders: Int, rounds: Int) async throws -> [Case] {
        let (found, expected) = (try await shop.walk(), try shop.walkByHand())
        guard found == expected else { throw Failure("The traversal found \(found) orders, by hand \(expected).") }
        var contenders = [
            BenchCandidate(name: "Tidelog", units: orders) { _ = try await shop.walk() },
            BenchCandidate(name: "SQLite by hand", units: orders) { _ = try shop.walkByHand() },
        ]
        let alone = try shop.walkAlone()
        guard alone == expected else { throw Failure("The statements alone found \(alone) orders.") }
        contenders.append(BenchCandidate(name: StoredReads.name, units: orders) { _ = try shop.walkAlone() })
        if ObjectBox.missing == nil {
            let found = try shop.walkObjectBox()
            guard found == expected else { throw Failure("ObjectBox has \(found) orders, not \(expected).") }
            contenders.append(BenchCandidate(name: "ObjectBox", units: orders) { _ = try shop.walkObjectBox() })
        }
        let rates = try await InterleavedRun.run(laps: rounds, contenders)
        let title = "orders of each customer"
        func rate(_ index: Int) -> Case.Baseline { .init(name: contenders[index].name, value: rates[index]) }
        let targets: [Case.Target?] = [.ratioAtLeast(0.6), nil, .ratioAtLeast(1)]
        return contenders.indices.dropFirst().map { index in
            Case(title, rates[0], .rowsPerSecond, against: rate(index), target: targets[index - 1])
        } + [Case.limit(of: title, rate(2), .rowsPerSecond, against: rate(1))]
    }
}
