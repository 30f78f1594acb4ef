import Foundation
import ShopService
import Testing
import Tidelog

@Suite struct `Entities as JSON` {
    private func json(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test func `only set properties are encoded, under the names of the metadata`() throws {
        let order = Order(withDefaults: false)
        order.orderID = 7
        order.note = "Monday"
        order.setDataValue(for: Order.quantity, to: nil)
        #expect(try json(order) == #"{"Note":"Monday","OrderID":7,"Quantity":null}"#)
    }

    @Test func `decimals, dates, durations, GUIDs and enumerations are strings`() throws {
        let order = Order(withDefaults: false)
        order.amount = DecimalValue("1234567890123456789.10")
        order.placedAt = GlobalDateTime("2026-11-24T08:30:00+01:00")
        #expect(
            try json(order) == #"{"Amount":"1234567890123456789.10","PlacedAt":"2026-11-24T08:30:00+01:00"}"#)
        let visit = Visit(withDefaults: false)
        visit.visitID = GuidValue("3f2504e0-4f89-11d3-9a0c-0305e82c3301")
        visit.duration = DayTimeDuration(.seconds(5400))
        visit.mood = .busy
        #expect(
            try json(visit)
                == #"{"Duration":"PT1H30M","Mood":"Busy","VisitID":"3f2504e0-4f89-11d3-9a0c-0305e82c3301"}"#)
    }

    @Test func `complex values and collections are objects and arrays`() throws {
        let customer = Customer(withDefaults: false)
        customer.address = Address()
        customer.address?.city = "London"
        customer.tags = ["a", "b"]
        let text = try json(customer)
        #expect(text.contains(#""City":"London""#), "\(text)")
        #expect(text.contains(#""Tags":["a","b"]"#), "\(text)")
    }

    @Test func `numbers that JSON does not have are strings`() throws {
        let order = Order(withDefaults: false)
        order["Infinite"] = .double(.infinity)
        order["Half"] = .double(0.5)
        #expect(try json(order) == #"{"Half":0.5,"Infinite":"INF"}"#)
    }

    @Test func `known relations are encoded, and an entity inside of itself is omitted`() throws {
        let customer = Customer(withDefaults: false)
        customer.name = "Ada"
        for note in ["first", "second"] {
            let order = Order(withDefaults: false)
            order.note = note
            order.customer.target = customer
            customer.orders.append(order)
        }
        #expect(try json(customer) == #"{"Name":"Ada","Orders":[{"Note":"first"},{"Note":"second"}]}"#)
        #expect(
            try json(customer.orders[0])
                == #"{"Customer":{"Name":"Ada","Orders":[{"Note":"second"}]},"Note":"first"}"#)
    }

    @Test func `a relation without target is null`() throws {
        let order = Order(withDefaults: false)
        order.customer.target = nil
        #expect(try json(order) == #"{"Customer":null}"#)
    }

    @Test func `an array of entities is encoded`() throws {
        let order = Order(withDefaults: false)
        order.orderID = 1
        #expect(try json([order, order]) == #"[{"OrderID":1},{"OrderID":1}]"#)
    }
}
