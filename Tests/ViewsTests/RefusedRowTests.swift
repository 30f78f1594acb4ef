import EDM
import ODataQuery
import Testing

@testable import Views

/// SQLite evaluates the parts of a condition in its own order. The evaluator determines whether a query fails because
/// of a row.
struct RefusedRowTests {
    private func shop() throws -> SmallShop {
        let shop = try SmallShop()
        for id in 1...3 as ClosedRange<UInt64> { try shop.put("Orders", id, ["Number": .integer(Int64(id) - 2)]) }
        return shop
    }

    @Test(
        arguments: [
            ("Customer/Name ne null and 1 div Number gt 0", []), ("Number ne 0 and 1 div Number gt 0", [3]),
            ("Customer/Orders/any(o:o/Number eq 4) and 1 div Number gt 0", []),
            ("Number eq 0 or 1 div Number gt 0", [2, 3]),
        ] as [(String, [UInt64])])
    func `a condition that is decided before its division is evaluated`(
        _ filter: String, _ found: [UInt64]
    ) throws {
        #expect(try shop().find("Orders?$filter=" + filter) == found)
    }

    @Test func `a division by zero without a preceding condition is refused`() throws {
        let error = #expect(throws: EvaluationError.self) { try shop().find("Orders?$filter=1 div Number gt 0") }
        #expect(error?.code == .divisionByZero)
    }

    @Test(arguments: [(-1, nil), (nil, -1), (.max, .min), (-1, 1), (0, 0)] as [(Int64?, Int64?)])
    func `a negative top returns no entities, and a negative skip skips none`(
        _ top: Int64?, _ skip: Int64?
    ) throws {
        let shop = try shop()
        var options = QueryOptions()
        (options.top, options.skip) = (top, skip)
        let request = ServiceRequest(path: try shop.request("Orders").path, options: options)
        let expected = try shop.ids(shop.query.answerInMemory(request))
        #expect(try shop.ids(shop.query.answer(request)) == expected)
        #expect(try shop.ids(shop.query.answer(request, pageSize: 9)) == expected)
    }
}
