import EDM
import SeededRandom
import Testing

@testable import Views

/// A query that differs from an earlier one only in its values reuses the statement and returns its own results.
struct RememberedStatementTests {
    @Test(arguments: [
        ("Mood eq 'Bad'", "Mood eq 'Awful'"), ("Mood in ('Bad','0')", "Mood in ('Awful','1')"),
        ("Mood eq 'Bad' or Mood eq '0'", "Mood eq 'Awful' or Mood eq '1'"), ("'Bad' eq Mood", "'Awful' eq Mood"),
    ])
    func `a reused statement compares the enumeration members of the query`(first: String, second: String)
        throws
    {
        let shop = try SmallShop()
        try shop.put("Orders", 1, ["Mood": .enumeration("Bad")])
        try shop.put("Orders", 2, ["Mood": .enumeration("Awful")])
        #expect(try shop.find("Orders?$filter=" + first) == [1])
        #expect(try shop.find("Orders?$filter=" + second) == [2])
    }

    /// Swift considers the two texts equal; OData compares Unicode scalars and does not.
    @Test(arguments: ["Text eq '%@'", "contains(Text,'%@')", "endswith(Text,'%@')", "Text in ('x','%@')"])
    func `texts in different Unicode normal forms are different values`(filter: String) throws {
        let shop = try SmallShop()
        for (id, text) in [(1, "é"), (2, "e\u{301}")] as [(UInt64, String)] {
            try shop.put("Orders", id, ["Text": .string(text)])
        }
        for (id, text) in [(1, "é"), (2, "e\u{301}")] as [(UInt64, String)] {
            #expect(try shop.find("Orders?$filter=" + filter.replacing("%@", with: text)) == [id])
        }
    }

    private static let literals: [(properties: [String], values: [String])] = [
        (
            ["Number", "Price", "Weight", "Ratio", "ID"],
            [
                "-1", "0", "2", "2.0", "1.5", "1.50", "1.5e0", "2e0", "9007199254740993", "9007199254740992e0", "NaN",
                "INF",
                "0.1", "0.1e0", "null",
            ]
        ),
        (["Text"], ["''", "'a'", "'1.5'", "'ä'", "'a\u{308}'", "'2'", "null"]), (["Paid"], ["true", "false", "null"]),
        (["Mood"], ["'Bad'", "'Awful'", "'0'", "S.Mood'Bad'", "S.Mood'1'", "null"]),
        (
            ["Day", "Placed"],
            ["2024-02-29", "1999-12-31", "2024-02-29T00:00:00Z", "2024-02-29T01:00:00+01:00", "null"]
        ),
        (["Took"], ["duration'PT1S'", "duration'-PT0.5S'", "duration'PT24H'", "null"]),
        (["Token"], ["00000000-0000-0000-0000-00000000000a", "ffffffff-0000-0000-0000-000000000000", "null"]),
    ]

    private func condition(_ dice: inout RandomConditions) -> String {
        let (properties, values) = dice.pick(Self.literals)
        let property = dice.pick(properties)
        func value() -> String { dice.pick(values) }
        let sign = dice.pick(["eq", "ne", "gt", "ge", "lt", "le", "eq"])
        switch dice.next(6) {
        case 0: return "\(property) in (\(value()),\(value()))"
        case 1: return "\(property) eq \(value()) or \(value()) eq \(property) or \(property) eq \(value())"
        case 2: return "not (\(property) \(sign) \(value()) and \(property) ne \(value()))"
        case 3: return "\(value()) \(sign) \(property)"
        default: return "\(property) \(sign) \(value())"
        }
    }

    @Test(arguments: Set((0..<4).map { _ in UInt64.testSeed() }))
    func `results with reused statements equal those of the evaluator`(seed: UInt64) throws {
        var dice = RandomConditions(state: seed)
        let shop = try SmallShop()
        for id in 1...30 as ClosedRange<UInt64> {
            var values = dice.order(Int(id))
            for name in ["Name", "At", "Rate"] { values[name] = nil }
            values["Text"] = dice.orNull(.string(dice.pick(["", "a", "1.5", "ä", "a\u{308}", "2"])))
            try shop.put("Orders", id, values)
        }
        for _ in 0..<400 {
            let url = "Orders?$filter=" + condition(&dice)
            #expect(try shop.find(url) == shop.findInMemory(url), "seed \(seed): \(url)")
        }
    }

    @Test func `a decimal keeps its trailing zeros in functions`() throws {
        let shop = try SmallShop()
        try shop.put("Orders", 1, ["Text": .string("1.50")])
        try shop.put("Orders", 2, ["Text": .string("1.5")])
        #expect(try shop.find("Orders?$filter=Text eq cast(1.50,Edm.String)") == [1])
        #expect(try shop.find("Orders?$filter=Text eq cast(1.5,Edm.String)") == [2])
    }
}
