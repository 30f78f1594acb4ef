import EDM
import ODataQuery
import Operations
import SeededRandom
import SyncCore
import Testing

@testable import Views

/// Reading the targets of many entities at once returns the same entities as separate reads.
struct ExpandedTargetsTests {
    private func shop(_ dice: inout RandomConditions) throws -> SmallShop {
        let shop = try SmallShop()
        for id in 1...6 as ClosedRange<UInt64> {
            try shop.put("Customers", id, ["Name": dice.orNull(.string(dice.pick(["a", "b"])))])
        }
        // Neither the links nor the orders are in the order of their customers.
        for id in stride(from: 140 as UInt64, to: 100, by: -1) {
            let number = Value.integer(Int64(dice.next(4)))
            let weight = Value.double(dice.pick([1, .nan, 0, -1]))
            try shop.put(
                "Orders", id,
                [
                    "Number": dice.orNull(number), "Weight": dice.orNull(weight),
                    "Text": .string(dice.pick(["red", "a red thing", "blue"])),
                ])
            if dice.next(4) > 0 { try shop.link(id, to: UInt64(dice.next(6) + 1)) }
        }
        return shop
    }

    private func options(_ dice: inout RandomConditions, isToMany: Bool) -> String {
        guard isToMany else { return dice.pick(["", "$filter=Name eq 'a'", "$filter=Name ne null"]) }
        var options: [String] = []
        if dice.next(2) == 0 {
            options.append(
                "$filter="
                    + dice.pick([
                        "Number gt 1", "Weight ne Weight", "Customer/Name eq 'a'", "2 div Number gt 1",
                        "length(Text) gt 3",
                    ]))
        }
        if dice.next(3) == 0 { options.append("$search=" + dice.pick(["red", "NOT red", "thing OR blue"])) }
        if dice.next(2) == 0 {
            options.append(
                "$orderby=" + dice.pick(["Number", "Weight desc", "Text,Number desc", "length(Text)", "-(Number)"]))
        }
        if dice.next(2) == 0 { options.append("$top=\(dice.next(4))") }
        if dice.next(3) == 0 { options.append("$skip=\(dice.next(4))") }
        return options.joined(separator: "&")
    }

    @Test(arguments: [("Customers", "Orders", true), ("Orders", "Customer", false)])
    func `the targets of many entities, their order and their count equal those of separate reads`(
        set: String, name: String, isToMany: Bool
    ) throws {
        let seed = UInt64.testSeed()
        var dice = RandomConditions(state: seed)
        let shop = try shop(&dice)
        let property = try #require(shop.model.findEntitySet(set)?.entityType.findProperty(name))
        let all = try shop.state.rowTables.allRows(set: set)
        for _ in 0..<150 {
            // Consecutive entities are read as a range, others as a list.
            let sources = dice.pick([all, all.reversed(), all.filter { _ in dice.next(4) > 0 }, [all[2]], []])
            let (ids, sets) = (sources.map(\.id), { (_: Int) in set })
            let text = options(&dice, isToMany: isToMany)
            let options = try QueryOptions.parse(text.replacing(" ", with: "%20"), version: .v401)
            let each = try? sources.map { try shop.query.apply(options, to: shop.query.targets(of: $0, property)) }
            guard let each else {
                #expect(throws: EvaluationError.self) {
                    try shop.query.targets(of: ids, inSets: sets, property, options)
                }
                continue
            }
            let found = try shop.query.targets(of: ids, inSets: sets, property, options)
            #expect(
                sources.indices.map { found.targets(of: $0).map { found.rows[$0].id } }
                    == each.map { $0.rows.map(\.id) },
                "seed \(seed): \(text)")
            #expect(found.counts == each.map(\.count), "seed \(seed): \(text)")
            var delivered: [EntityID] = []
            let passed = try shop.query.targets(of: ids, inSets: sets, property, options) { delivered.append($0.id) }
            if !passed.isDelivered { delivered = passed.rows.map(\.id) }
            #expect(
                sources.indices.map { passed.targets(of: $0).map { delivered[$0] } } == each.map { $0.rows.map(\.id) },
                "seed \(seed): \(text)")
            #expect(!passed.isDelivered || passed.rows.isEmpty)
            let counted = try shop.query.targets(of: ids, inSets: sets, property, options, isCount: true)
            #expect(counted.counts == each.map(\.count), "seed \(seed): \(text)")
            #expect(counted.rows.isEmpty && sources.indices.allSatisfy { counted.targets(of: $0).isEmpty })
        }
    }
}
