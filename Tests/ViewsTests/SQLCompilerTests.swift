import EDM
import class Foundation.ProcessInfo
import ODataQuery
import SeededRandom
import Testing

@testable import Views

/// `TIDELOG_SEED=123` runs only that seed, `TIDELOG_SEEDS=100` the given number of seeds from a random one on.
private let seeds: [UInt64] = {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["TIDELOG_SEED"] != nil ? 1 : environment["TIDELOG_SEEDS"].flatMap(UInt64.init) ?? 2
    let first = UInt64.testSeed("SQLCompilerTests, \(count) seeds")
    return Array(first..<first + count)
}()

struct SQLCompilerTests {
    private func shop(_ chance: inout RandomConditions) throws -> CompiledShop {
        var shop = try CompiledShop()
        let customers = (0..<6).map { chance.customer($0) }
        let orders = (0..<40).map { (chance.order($0), chance.next(3) == 0 ? nil : Optional(chance.next(6))) }
        try shop.insert(customers: customers, orders: orders)
        return shop
    }

    /// Returns the matching entities; nil if SQL refuses a row. SQL may evaluate conditions in another order; the store
    /// then evaluates the query in memory.
    private func selected(_ shop: CompiledShop, _ filter: Expression, _ order: [OrderItem] = []) throws -> [Int64]? {
        do {
            return try shop.selected("Orders", filter, order)
        } catch let error as SQLiteError {
            guard shop.functions.takeFailure() != nil else { throw error }
            return nil
        }
    }

    @Test(arguments: seeds) func `a compiled filter selects the same rows as the evaluator`(seed: UInt64) throws {
        var chance = RandomConditions(state: seed)
        var telling = 0
        for _ in 0..<2 {
            let shop = try shop(&chance)
            for _ in 0..<250 {
                let text = chance.condition(3)
                let filter = try Expression.parse(text, version: .v401)
                // If the evaluator refuses a row, SQL may refuse it or may not have evaluated it.
                guard let expected = try? shop.expected("Orders", filter),
                    let selected = try selected(shop, filter)
                else { continue }
                if !expected.isEmpty, expected.count < 40 { telling += 1 }
                #expect(selected == expected, "seed \(seed): \(text)")
            }
        }
        #expect(telling > 150)
    }

    @Test(arguments: seeds) func `a compiled order equals the order of the evaluator`(seed: UInt64) throws {
        var chance = RandomConditions(state: seed)
        let shop = try shop(&chance)
        for _ in 0..<150 {
            let key = chance.pick([
                chance.number(2), chance.string(2), "Day", "Placed", "Took", "At", "Token", "Paid", "Price", "Weight",
                "Ratio", "Rate", "Mood", "Customer/Name",
            ])
            let text = "$orderby=\(PercentCoding.encode(key, for: .queryValue))\(chance.pick(["", "%20desc"])),Name"
            let items = try QueryOptions.parse(text, version: .v401).orderBy
            guard let expected = try? shop.expected("Orders", .true, items),
                let selected = try selected(shop, .true, items)
            else { continue }
            #expect(selected == expected, "seed \(seed): \(text)")
        }
    }

    @Test func `integers and floating-point numbers are compared exactly, also with an index`() throws {
        var shop = try CompiledShop()
        let weights: [Double] = [9_007_199_254_740_992, 9_007_199_254_740_994, 1_152_921_504_606_846_976]
        try shop.insert(
            customers: [], orders: weights.map { (["Weight": .double($0), "Number": .integer(1 << 60)], nil) })
        let layout = try #require(shop.layouts["Orders"])
        try shop.connection.execute(try #require(layout.createIndex(over: ["Weight"], number: 9)))
        for sign in ["eq", "ne", "gt", "ge", "lt", "le"] {
            for number in ["9007199254740993", "9007199254740992", "1152921504606846977"] {
                let filter = try Expression.parse("Weight \(sign) \(number)", version: .v401)
                #expect(try shop.selected("Orders", filter) == shop.expected("Orders", filter), "\(sign) \(number)")
            }
        }
        for text in ["Weight in (9007199254740993,2)", "Number eq Weight", "Number gt 1152921504606846976e0"] {
            let filter = try Expression.parse(text, version: .v401)
            #expect(try shop.selected("Orders", filter) == shop.expected("Orders", filter), "\(text)")
        }
    }

    @Test func `alternatives for one property are compiled to a list`() throws {
        var chance = RandomConditions(state: 3)
        let shop = try shop(&chance)
        var compiler = try shop.compiler("Orders")
        let filter = try Expression.parse(
            "Number eq 1 or Name eq 'a' or Number eq null or Number eq 2 or Price eq 1.5 or 9 eq Number", version: .v401
        )
        let sql = try compiler.filter(filter)
        #expect(sql.sql.occurrences(of: " IN (") == 1, "\(sql.sql)")
        #expect(try shop.selected("Orders", filter) == shop.expected("Orders", filter))
        let negated = Expression.not(filter)
        #expect(try shop.selected("Orders", negated) == shop.expected("Orders", negated))
    }

    @Test(arguments: [
        ("Number eq 5", "Number"), ("Name ge 'a' and Name lt 'b'", "Name"), ("Price gt 1.5", "Price"),
        ("ID in (1,2,3)", "ID"), ("Number eq null", "Number"), ("Price eq 2", "Price"),
    ])
    func `plain comparisons use an index`(text: String, column: String) throws {
        var chance = RandomConditions(state: 1)
        let shop = try shop(&chance)
        let layout = try #require(shop.layouts["Orders"])
        try shop.connection.execute(try #require(layout.createIndex(over: [column], number: 9)))
        var compiler = try shop.compiler("Orders")
        let condition = try compiler.filter(Expression.parse(text, version: .v401))
        var plan = ""
        try shop.connection.query(
            "EXPLAIN QUERY PLAN SELECT t0.entity FROM \(layout.table) AS t0 WHERE \(condition.sql)", condition.values
        ) { plan += $0.text(3) ?? "" }
        #expect(plan.contains("SEARCH"), "\(condition.sql): \(plan)")
    }

    @Test(arguments: [
        "Nav/Name eq 'x'", "Orders/any(o:o/$count gt 1)", "Address eq null", "@p eq 1", "$root/Orders/$count eq 1",
    ])
    func `expressions that SQL cannot evaluate are refused and evaluated in memory`(text: String) throws {
        let shop = try CompiledShop()
        var compiler = try shop.compiler("Customers")
        let filter = try Expression.parse(text, version: .v401)
        let error = #expect(throws: EvaluationError.self) { try compiler.filter(filter) }
        #expect(error?.code == .unsupported)
    }

    @Test func `values are never part of the text of a statement`() throws {
        var chance = RandomConditions(state: 2)
        let shop = try shop(&chance)
        var compiler = try shop.compiler("Orders")
        let filter = try Expression.parse(
            "Name eq 'x'' OR 1=1 --' or tolower(Name) eq 'y''); DROP TABLE links;--'", version: .v401)
        let sql = try compiler.filter(filter).sql
        #expect(!sql.contains("1=1"))
        #expect(!sql.contains("DROP"))
        #expect(try shop.selected("Orders", filter).isEmpty)
    }
}

extension String {
    /// Returns the number of occurrences of `part`.
    fileprivate func occurrences(of part: String) -> Int { ranges(of: part).count }
}
