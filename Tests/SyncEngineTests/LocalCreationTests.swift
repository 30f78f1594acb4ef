import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import TestSupport
import Testing

@testable import SyncEngine

/// Deletion of entities that were never sent, with and without `undoesLocalCreation`.
struct LocalCreationTests {
    private func undoing(_ dialect: Dialect) async throws -> Shop {
        try await Shop(dialect, options: LocalStore.Options(undoesLocalCreation: true))
    }

    private func methods(_ shop: Shop) -> [String] {
        shop.transport.requests.filter { $0.url.hasSuffix("$batch") }.flatMap { request in
            String(decoding: request.body, as: UTF8.self).split(separator: "\r\n").filter { $0.hasSuffix(" HTTP/1.1") }
                .map { String($0.dropLast(9)) }
        }
    }

    // MARK: Without the option

    @Test(arguments: Dialect.allCases)
    func `the creation is sent, and then the deletion under the key that it gave`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("short")])
        try await shop.perform(.delete(.link(customer)))
        let report = try await shop.push()
        #expect(report.remaining == 0)
        #expect(methods(shop) == ["POST Customers", "DELETE Customers(4)"])
        #expect(try await shop.localState() == shop.serviceState())
    }

    @Test(arguments: Dialect.allCases)
    func `where the creation was refused nothing more is sent, and the deletion ends with it`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await Shop(dialect)
        let order = try await shop.create("Orders", ["CustomerID": .integer(4)])
        #expect(try await shop.push().rejected.count == 1)
        try await shop.perform(.delete(.link(order)))
        shop.transport.forgetRequests()
        let report = try await shop.push()
        #expect(report.elided.count == 2)
        #expect(report.remaining == 0)
        #expect(methods(shop).isEmpty)
        try await shop.pull()
        #expect(try await shop.localState() == shop.serviceState())
    }

    // MARK: With the option

    @Test(arguments: Dialect.allCases)
    func `with the option nothing is sent of an entity that was created, changed, linked and deleted`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await undoing(dialect)
        let before = try await shop.localState()
        let customer = try await shop.create("Customers", ["Name": .string("short")])
        try await shop.perform(update(customer, ["Name": .string("lived")]))
        try await shop.perform(.createLink(from: .link(customer), navigation: "Orders", to: .link("Orders(4)")))
        try await shop.perform(.deleteLink(from: .link(customer), navigation: "Orders", to: .link("Orders(4)")))
        try await shop.perform(.delete(.link(customer)))
        #expect(try await shop.store.pendingOperations().isEmpty)
        #expect(try await shop.localState() == before)
        #expect(try await shop.push().batches == 0)
        #expect(try await shop.store.redoLast().count == 4)
        #expect(try await shop.value(customer, "Name") == .string("lived"))
    }

    @Test(arguments: Dialect.allCases)
    func `a refused creation is undone as well`(_ dialect: Dialect) async throws {
        let shop = try await undoing(dialect)
        let order = try await shop.create("Orders", ["CustomerID": .integer(400)])
        #expect(try await shop.push().rejected.count == 1)
        try await shop.perform(.delete(.link(order)))
        #expect(try await shop.push().batches == 0)
        #expect(try await shop.localState() == shop.serviceState())
    }

    @Test(arguments: Dialect.allCases)
    func `an order that was created for the customer is kept, so both requests are sent`(_ dialect: Dialect)
        async throws
    {
        let shop = try await undoing(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("short")])
        let order = try await shop.create("Orders", ["Note": .string("kept")], bind: [bind("Customer", customer)])
        try await shop.perform(.delete(.link(customer)))
        #expect(try await shop.value(order, "Note") == .string("kept"))
        #expect(try await shop.targets(order, "Customer") == [])
        #expect(try await shop.store.pendingOperations().count == 3)
        #expect(try await shop.push().remaining == 0)
        try await shop.pull()
        #expect(try await shop.value(order, "Note") == .string("kept"))
        #expect(try await shop.localState() == shop.serviceState())
    }

    @Test func `an order that would go back to its old customer stays without one, as after any deletion`() async throws
    {
        let shop = try await undoing(.v4)
        let customer = try await shop.create("Customers")
        try await shop.perform(.updateLink(from: .link("Orders(1)"), navigation: "Customer", to: .link(customer)))
        try await shop.perform(.delete(.link(customer)))
        #expect(try await shop.targets("Orders(1)", "Customer") == [])
        #expect(try await shop.store.pendingOperations().count == 3)
    }

    @Test func `what a rule forbids to delete is refused with the option too`() async throws {
        let shop = try await undoing(.v4)
        let father = try await shop.create("Fathers")
        try await shop.create("Children", bind: [bind("Father", father)])
        await #expect(throws: TidelogError.self) { try await shop.perform(.delete(.link(father))) }
        #expect(try await shop.store.pendingOperations().count == 2)
    }

    @Test func `what the service has is deleted there`() async throws {
        let shop = try await undoing(.v4)
        let customer = try await shop.create("Customers", ["Name": .string("n")])
        try await shop.push()
        try await shop.perform(.delete(.link(customer)))
        try await shop.perform(.delete(.link("Orders(1)")))
        #expect(try await shop.push().confirmed.count == 2)
        #expect(try await shop.localState() == shop.serviceState())
    }

    @Test(arguments: Dialect.allCases)
    func `one that pushed another out of its link by a property alone leaves what a deletion leaves`(
        _ dialect: Dialect
    ) async throws {
        var states: [[String]] = []
        for shop in [try await Shop(dialect), try await undoing(dialect)] {
            let card = try await shop.create("IDCards", ["Number": .string("new"), "PersonID": .integer(1)])
            try await shop.perform(.delete(.link(card)))
            states.append(try await shop.localState(["IDCards", "Persons"]))
            #expect(try await shop.push().remaining == 0)
            try await shop.pull()
            states.append(try await shop.localState(["IDCards", "Persons"]))
        }
        #expect(states[0] == states[2])
        #expect(states[1] == states[3])
    }
}
