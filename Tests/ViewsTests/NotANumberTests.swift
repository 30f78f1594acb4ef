import EDM
import ODataQuery
import Operations
import Testing

@testable import Views

/// NaN is not equal to, less than or greater than any value, including NaN, and is sorted after all numbers. It differs
/// from null.
struct NotANumberTests {
    private func shop() throws -> SmallShop {
        let shop = try SmallShop()
        let weights: [Double?] = [nil, .nan, 1, .infinity, -.infinity, -0.0, 0, .nan]
        for (index, weight) in weights.enumerated() {
            try shop.put(
                "Orders", UInt64(index + 1),
                [
                    "Weight": weight.map { .double($0) } ?? .null, "Number": .integer(Int64(index) - 3),
                    "Ratio": weight.map { .single(Float($0)) } ?? .null,
                ])
        }
        return shop
    }

    private func expectSame(_ shop: SmallShop, _ options: String) throws {
        let request = try shop.request("Orders?" + options)
        let answer = try #require(try shop.query.answerInSQL(request, wantsCount: false), "\(options)")
        #expect(try shop.ids(answer) == shop.findInMemory("Orders?" + options), "\(options)")
    }

    @Test(arguments: ["eq", "ne", "gt", "ge", "lt", "le"])
    func `conditions on NaN match the same entities in SQL and in memory`(sign: String) throws {
        let shop = try shop()
        let operands = ["Weight", "Ratio", "1", "NaN", "INF", "-INF", "null", "Number"]
        for left in operands {
            for right in operands {
                try expectSame(shop, "$filter=\(left) \(sign) \(right)")
                try expectSame(shop, "$filter=not (\(left) \(sign) \(right))")
            }
        }
    }

    @Test(
        arguments: [
            ("Weight eq null", [1]), ("Weight ne Weight", [2, 8]), ("Weight gt 0", [3, 4]), ("Weight eq NaN", []),
            ("Weight in (NaN,1)", [3]), ("Weight eq 1 or Weight eq NaN", [3]), ("1e0 div Weight gt 5", [6, 7]),
        ] as [(String, [UInt64])])
    func `conditions on NaN match the entities that the standard requires`(_ filter: String, _ found: [UInt64]) throws {
        let shop = try shop()
        #expect(try shop.find("Orders?$filter=" + filter) == found)
        #expect(try shop.findInMemory("Orders?$filter=" + filter) == found)
    }

    @Test(
        arguments: [
            ("Weight", [1, 5, 6, 7, 3, 4, 2, 8]), ("Weight desc", [8, 2, 4, 3, 7, 6, 5, 1]),
            ("Weight add 1", [1, 5, 6, 7, 3, 4, 2, 8]), ("Ratio", [1, 5, 6, 7, 3, 4, 2, 8]),
        ] as [(String, [UInt64])])
    func `NaN is sorted after all numbers, also across pages`(_ order: String, _ found: [UInt64]) throws {
        let shop = try shop()
        try expectSame(shop, "$orderby=" + order)
        let request = try shop.request("Orders?$orderby=" + order)
        var collected: [UInt64] = []
        var next: QueryOptions? = request.options
        while let options = next, collected.count < 9 {
            let page = ServiceRequest(path: request.path, options: options)
            let answer = try shop.query.answer(page, pageSize: options.skipToken == nil ? 1 : nil)
            collected += try shop.ids(answer)
            next = answer.next
        }
        #expect(collected == found)
    }

    @Test func `a search for NaN finds no row`() throws {
        let shop = try shop()
        #expect(try shop.state.findRows(set: "Orders", where: [("Weight", .double(.nan))]) == [])
    }
}
