import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// Decisions of the user about operations in doubt: the outcome, and the address of the entity at the service.
struct InDoubtResolutionTests {
    /// Returns a shop with an order in doubt that the service has as `Orders(key)`, and the order's readLink.
    private func doubt(
        _ dialect: Dialect, _ prepare: (Shop) async throws -> String = { try await Self.order($0) }
    ) async throws -> (shop: Shop, operation: SequenceNumber, order: String) {
        let shop = try await Shop(dialect)
        // The user decides, regardless of the order's content.
        await shop.store.use(ServiceOptions(doubts: .correlation))
        let order = try await prepare(shop)
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        return (shop, try #require(try await shop.push().inDoubt.first), order)
    }

    private static func order(_ shop: Shop) async throws -> String {
        try await shop.create("Orders", ["Note": .string("new")])
    }

    /// Returns the key that the service assigned.
    private func key(_ shop: Shop, note: String = "new") throws -> String {
        let found = shop.transport.direct("GET", "/v4/Orders?$filter=Note%20eq%20'\(note)'")
        let text = String(decoding: found.body, as: UTF8.self)
        return String(try #require(text.split(separator: "\"OrderID\":").last).prefix(while: \.isNumber))
    }

    @Test(arguments: Dialect.allCases)
    func
        `operations that waited for the key of a new entity are sent after its address is known, with its current ETag`(
            _ dialect: Dialect
        ) async throws
    {
        let (shop, operation, order) = try await doubt(dialect)
        try await shop.perform(update(order, ["Note": .string("newer")]))
        let key = try key(shop)
        #expect(
            try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect, at: "Orders(\(key))") == [operation])
        #expect(try await shop.load(order).readLink == "Orders(\(key))")
        let report = try await shop.push()
        #expect(report.confirmed.count == 1)
        #expect(report.remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `a change that another client made in the meantime is not overwritten`() async throws {
        let (shop, operation, order) = try await doubt(.v4)
        try await shop.perform(update(order, ["Note": .string("mine")]))
        let key = try key(shop)
        let theirs = shop.transport.direct(
            "PATCH", "/v4/Orders(\(key))", #"{"Note":"theirs"}"#, headers: ["If-Match": "*"])
        #expect(theirs.isSuccess)
        try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect, at: key)
        let conflict = try #require(try await shop.push().conflicts.first)
        let note = try #require(conflict.properties.first)
        #expect((note.base, note.mine, note.theirs) == (.string("new"), .string("mine"), .string("theirs")))
    }

    @Test(arguments: ["http://shop.test/v4/Orders(KEY)", "Orders(KEY)", "Orders(OrderID=KEY)", "OrderID=KEY", "KEY"])
    func `an address may be a URL, a path, or the key alone`(_ form: String) async throws {
        let (shop, operation, order) = try await doubt(.v4)
        let key = try key(shop)
        try await shop.store.doubts.resolveInDoubt(
            operation, as: .tookEffect,
            at: form.split(separator: "KEY", omittingEmptySubsequences: false).joined(separator: key))
        #expect(try await shop.load(order).readLink == "Orders(\(key))")
    }

    @Test(arguments: [
        ("Customers(1)", "is in Customers"), ("Orders('x')", "does not identify"), ("'x'", "does not identify"),
        ("Orders", "does not identify"), ("Orders(~3)", "an address with an entity ID"),
        ("Orders(5)/Customer", "does not identify"),
        ("", "does not identify"), ("http://elsewhere.test/v4/Orders(5)", "does not identify"),
        ("((", "does not identify"),
        ("Orders(1)", "already in the store as another entity"), ("Orders(99999999999999999999)", "does not identify"),
    ])
    func `an invalid address settles nothing`(_ address: String, _ why: String) async throws {
        let (shop, operation, _) = try await doubt(.v4)
        let before = try await shop.store.digest()
        let error = await #expect(throws: TidelogError.self) {
            try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect, at: address)
        }
        #expect(error?.message.contains(why) == true, "\(error.map(\.description) ?? "")")
        #expect(error?.recovery != nil)
        #expect(try await shop.store.digest() == before)
    }

    @Test func `an address that contradicts the key of the app is refused`() async throws {
        let shop = try await Shop(.v4)
        let id = "aaaaaaaa-0000-0000-0000-000000000001"
        try await shop.create("Visits", ["VisitID": .guid(try #require(GuidValue(id)))])
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        let operation = try #require(try await shop.store.queue.pendingOperations(.inDoubt).first?.sequence)
        let error = await #expect(throws: TidelogError.self) {
            try await shop.store.doubts.resolveInDoubt(
                operation, as: .tookEffect, at: "Visits(aaaaaaaa-0000-0000-0000-000000000002)")
        }
        #expect(error?.code == .refused(.keyIsFixed))
        #expect(
            try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect, at: "Visits(\(id))") == [operation])
    }

    @Test func `an address is accepted only for a create that took effect`() async throws {
        let (shop, operation, _) = try await doubt(.v4)
        await #expect(throws: TidelogError.self) {
            try await shop.store.doubts.resolveInDoubt(operation, as: .resend, at: "Orders(5)")
        }
        #expect(try await shop.store.queue.pendingOperations(.inDoubt).count == 1)
    }

    @Test func `the address is kept after a restart and when the views are rebuilt`() async throws {
        let (shop, operation, order) = try await doubt(.v4)
        let key = try key(shop)
        try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect, at: key)
        let digest = try await shop.store.digest()
        await shop.store.close()
        let files = StoreFiles(directory: shop.directory.path)
        StoreDirectory.remove([files.views, files.views + "-wal", files.views + "-shm"])
        let again = try await LocalStore(files)
        #expect(try await again.digest() == digest)
        #expect(try await again.load(.link(order)).readLink == "Orders(\(key))")
        await again.close()
    }

    @Test(arguments: Dialect.allCases)
    func `the address of one entity identifies the others that were sent with it`(_ dialect: Dialect) async throws {
        let (shop, operation, customer) = try await doubt(dialect) { shop in
            let customer = try await shop.create("Customers", ["Name": .string("New")])
            let order = try await shop.create("Orders", ["Note": .string("new")], bind: [bind("Customer", customer)])
            try await shop.perform(update(order, ["Note": .string("newer")]))
            return customer
        }
        #expect(try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect, at: "Customers(4)").count == 2)
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.load(customer).readLink == "Customers(4)")
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test(arguments: Dialect.allCases)
    func `an entity linked to a known one is identified through that link, without an address`(_ dialect: Dialect)
        async throws
    {
        let (shop, operation, order) = try await doubt(dialect) { shop in
            try await shop.create("Orders", ["Note": .string("new")], bind: [bind("Customer", "Customers(3)")])
        }
        try await shop.perform(update(order, ["Note": .string("newer")]))
        try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect)
        #expect(try await shop.push().remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test(arguments: Dialect.allCases)
    func `an entity that was deleted or unlinked since is identified through its link at the service`(
        _ dialect: Dialect
    ) async throws {
        for deletes in [true, false] {
            let (shop, operation, order) = try await doubt(dialect) { shop in
                try await shop.create("Orders", ["Note": .string("new")], bind: [bind("Customer", "Customers(3)")])
            }
            let unlink = Intent.updateLink(from: .link(order), navigation: "Customer", to: .link("Customers(1)"))
            try await shop.perform(deletes ? .delete(.link(order)) : unlink)
            try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect)
            #expect(try await shop.push().remaining == 0, "deletes: \(deletes)")
            #expect(try await Set(shop.localState()) == Set(shop.serviceState()), "deletes: \(deletes)")
        }
    }

    // MARK: Later identification

    @Test func `an entity settled without an address is held for its key, and can be identified later`()
        async throws
    {
        let (shop, operation, order) = try await doubt(.v4)
        try await shop.perform(update(order, ["Note": .string("newer")]))
        try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect)
        #expect(try await shop.push().remaining == 1)
        guard case .keyUnknown? = try await shop.store.uploads.plan().held.values.first else {
            Issue.record("It is not held for its key.")
            return
        }
        try await shop.store.doubts.identify(.link(order), as: try key(shop))
        #expect(try await shop.push().confirmed.count == 1)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `an entity is identified only once, and only after its create has taken effect`() async throws {
        let (shop, operation, order) = try await doubt(.v4)
        let key = try key(shop)
        await #expect(throws: TidelogError.self) { try await shop.store.doubts.identify(.link(order), as: key) }
        try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect)
        await #expect(throws: TidelogError.self) { try await shop.store.doubts.identify(.link(order), as: "1") }
        try await shop.store.doubts.identify(.link(order), as: key)
        await #expect(throws: TidelogError.self) { try await shop.store.doubts.identify(.link(order), as: key) }
        await #expect(throws: TidelogError.self) { try await shop.store.doubts.identify(.link("Orders(1)"), as: key) }
    }

    @Test(arguments: Dialect.allCases)
    func `the address of an entity that was downloaded since replaces it, once no operation uses it`(
        _ dialect: Dialect
    ) async throws {
        for isIdentified in [false, true] {
            let (shop, operation, customer) = try await doubt(dialect) {
                try await $0.create("Customers", ["Name": .string("New")])
            }
            let settle = {
                if isIdentified {
                    try await shop.store.doubts.identify(.link(customer), as: "Customers(4)")
                } else {
                    try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect, at: "Customers(4)")
                }
            }
            try await shop.pull()
            if isIdentified { try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect) }
            try await shop.perform(update("Customers(4)", ["Name": .string("Changed")]))
            let change = try #require(try await shop.store.queue.pendingOperations().last?.sequence)
            let error = await #expect(throws: TidelogError.self) { try await settle() }
            #expect(error?.code == .refused(.duplicateKey))
            #expect(error?.recovery?.contains("undo the pending operations") == true)
            _ = try await shop.store.queue.undo(.operations([change]))
            try await settle()
            #expect(try await shop.load(customer).readLink == "Customers(4)")
            for _ in 1...2 {
                #expect(try await shop.localState().sorted() == shop.serviceState().sorted())
                try await shop.push()
                try await shop.pull()
            }
            #expect(try await shop.serviceState(["Customers"]).count == 4)
        }
    }

    @Test(arguments: Dialect.allCases)
    func `an entity that was also downloaded remains only once in the end`(_ dialect: Dialect)
        async throws
    {
        let (shop, operation, _) = try await doubt(dialect) {
            try await $0.create("Customers", ["Name": .string("New")])
        }
        try await shop.pull()
        try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect)
        try await shop.pull()
        #expect(try await shop.serviceState(["Customers"]).count == 4)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }
}
