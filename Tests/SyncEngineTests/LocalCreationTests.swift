import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// Deletion of entities that were never sent, with and without `undoesLocalCreation`.
struct LocalCreationTests {
    private func undoing(_ dialect: Dialect) async throws -> Shop {
        try await Shop(dialect, options: LocalStoreOptions(undoesLocalCreation: true))
    }

    private func methods(_ shop: Shop) -> [String] {
        shop.transport.requests.filter { $0.url.hasSuffix("$batch") }.flatMap { request in
            String(decoding: request.body, as: UTF8.self).split(separator: "\r\n").filter { $0.hasSuffix(" HTTP/1.1") }
                .map { String($0.dropLast(9)) }
        }
    }

    // MARK: Without the option

    @Test(arguments: Dialect.allCases)
    func `without the option, the create is sent, followed by the delete with the assigned key`(_ dialect: Dialect)
        async throws
    {
        let shop = try await Shop(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("short")])
        try await shop.perform(.delete(.link(customer)))
        let report = try await shop.push()
        #expect(report.remaining == 0)
        #expect(methods(shop) == ["POST Customers", "DELETE Customers(4)"])
        #expect(try await shop.localState() == shop.serviceState())
    }

    @Test(arguments: Dialect.allCases)
    func `without the option, a rejected create and its delete end without another request`(
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
    func `with the option, nothing is sent for an entity that was created, changed, linked and deleted`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await undoing(dialect)
        let before = try await shop.localState()
        let customer = try await shop.create("Customers", ["Name": .string("short")])
        try await shop.perform(update(customer, ["Name": .string("lived")]))
        try await shop.perform(.createLink(from: .link(customer), navigation: "Orders", to: .link("Orders(4)")))
        try await shop.perform(.deleteLink(from: .link(customer), navigation: "Orders", to: .link("Orders(4)")))
        try await shop.perform(.delete(.link(customer)))
        #expect(try await shop.store.queue.pendingOperations().isEmpty)
        #expect(try await shop.localState() == before)
        #expect(try await shop.push().batches == 0)
        #expect(try await shop.store.queue.redoLast().count == 4)
        #expect(try await shop.value(customer, "Name") == .string("lived"))
    }

    @Test(arguments: Dialect.allCases)
    func `with the option, a rejected create is undone by the delete`(_ dialect: Dialect) async throws {
        let shop = try await undoing(dialect)
        let order = try await shop.create("Orders", ["CustomerID": .integer(400)])
        #expect(try await shop.push().rejected.count == 1)
        try await shop.perform(.delete(.link(order)))
        #expect(try await shop.push().batches == 0)
        #expect(try await shop.localState() == shop.serviceState())
    }

    @Test(arguments: Dialect.allCases)
    func `with the option, both requests are sent if an order of the deleted customer is kept`(_ dialect: Dialect)
        async throws
    {
        let shop = try await undoing(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("short")])
        let order = try await shop.create("Orders", ["Note": .string("kept")], bind: [bind("Customer", customer)])
        try await shop.perform(.delete(.link(customer)))
        #expect(try await shop.value(order, "Note") == .string("kept"))
        #expect(try await shop.targets(order, "Customer") == [])
        #expect(try await shop.store.queue.pendingOperations().count == 3)
        #expect(try await shop.push().remaining == 0)
        try await shop.pull()
        #expect(try await shop.value(order, "Note") == .string("kept"))
        #expect(try await shop.localState() == shop.serviceState())
    }

    @Test func `with the option, an order has no customer after the delete instead of its former one`() async throws {
        let shop = try await undoing(.v4)
        let customer = try await shop.create("Customers")
        try await shop.perform(.updateLink(from: .link("Orders(1)"), navigation: "Customer", to: .link(customer)))
        try await shop.perform(.delete(.link(customer)))
        #expect(try await shop.targets("Orders(1)", "Customer") == [])
        #expect(try await shop.store.queue.pendingOperations().count == 3)
    }

    @Test func `with the option, a delete that a rule forbids is refused`() async throws {
        let shop = try await undoing(.v4)
        let father = try await shop.create("Fathers")
        try await shop.create("Children", bind: [bind("Father", father)])
        await #expect(throws: TidelogError.self) { try await shop.perform(.delete(.link(father))) }
        #expect(try await shop.store.queue.pendingOperations().count == 2)
    }

    @Test func `with the option, an entity that the service has is deleted there`() async throws {
        let shop = try await undoing(.v4)
        let customer = try await shop.create("Customers", ["Name": .string("n")])
        try await shop.push()
        try await shop.perform(.delete(.link(customer)))
        try await shop.perform(.delete(.link("Orders(1)")))
        #expect(try await shop.push().confirmed.count == 2)
        #expect(try await shop.localState() == shop.serviceState())
    }

    @Test(arguments: Dialect.allCases)
    func `with the option, a delete does not restore a link that the entity replaced by a dependent property`(
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
