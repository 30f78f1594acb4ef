import EDM
import ODataQuery
import Testing

@testable import Views

/// The order of entities with equal sort values.
struct TieOrderTests {
    @Test(
        arguments: [
            ("Number", [1001, 1003, 1005, 1002, 1004]), ("Number desc", [1004, 1002, 1005, 1003, 1001]),
            ("Number,Text", [1001, 1003, 1005, 1002, 1004]), ("Number desc,Text", [1002, 1004, 1001, 1003, 1005]),
            ("Number,Text desc", [1005, 1003, 1001, 1004, 1002]),
            ("Number mul 1 desc", [1004, 1002, 1005, 1003, 1001]),
        ] as [(String, [UInt64])])
    func `entities with equal sort values are in the direction of the last item, also across pages`(
        _ order: String, _ found: [UInt64]
    ) throws {
        let shop = try SmallShop()
        try shop.put("Customers", 1)
        for id in 1001...1005 as ClosedRange<UInt64> {
            try shop.put("Orders", id, ["Number": id % 2 == 0 ? .integer(1) : .null, "Text": .string("a")])
            try shop.link(id, to: 1)
        }
        for set in ["Orders", "Customers(1)/Orders"] {
            let request = try shop.request("\(set)?$orderby=\(order)")
            #expect(try shop.ids(shop.query.answer(request)) == found, "\(set)")
            #expect(try shop.ids(shop.query.answerInMemory(request)) == found, "\(set)")
            for size in 1...3 as ClosedRange<Int64> {
                var collected: [UInt64] = []
                var page = try shop.query.answer(request, pageSize: size)
                collected += try shop.ids(page)
                while let options = page.next, collected.count < found.count {
                    let next = ServiceRequest(path: request.path, options: options)
                    page = try shop.query.answer(next)
                    #expect(try shop.ids(shop.query.answerInMemory(next)).starts(with: shop.ids(page)), "\(set)")
                    collected += try shop.ids(page)
                }
                #expect(collected == found, "\(set), \(size)")
            }
        }
    }
}
