import EDM
import Operations
import SyncCore
import Testing

@testable import Views

/// Queries whose entities are delivered one by one.
struct DeliveredEntityTests {
    @Test func `entities that are delivered one by one are those of the result`() throws {
        let store = try RowQueryTests.Store()
        for id in 1001...1040 as ClosedRange<UInt64> {
            try store.put("Orders", id, ["ID": .integer(Int64(id % 7)), "Number": .integer(Int64(id))])
        }
        for (url, isDelivered) in [
            ("Orders", true), ("Orders?$orderby=ID desc&$top=20", true), ("Orders?$filter=ID eq 3", true),
            ("Orders?$filter=ID eq 3&$count=true", true), ("Orders(3)", false),
        ] {
            let request = try store.request(url)
            var delivered: [EntityRow] = []
            func receive(_ row: consuming EntityRow) { delivered.append(row) }
            let answer = try withoutActuallyEscaping(receive) { try store.query.answer(request, to: $0) }
            let whole = try store.query.answer(request)
            guard case .entities(let rows) = whole.content else {
                Issue.record("These are no entities.")
                continue
            }
            #expect(answer.count == whole.count, "\(url)")
            if case .delivered = answer.content {
                #expect(isDelivered && delivered == rows, "\(url)")
            } else {
                #expect(!isDelivered && delivered.isEmpty, "\(url)")
            }
        }
        let page = try store.query.answer(try store.request("Orders"), pageSize: 10) { _ in Issue.record("a page") }
        #expect(try store.ids(page).count == 10 && page.next != nil)
    }
}
