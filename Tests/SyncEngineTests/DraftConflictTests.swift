import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// Changes by other clients to an entity with pending drafts cause no conflict until the drafts are released.
struct DraftConflictTests {
    private func change(
        _ shop: Shop, _ values: PropertyValues, _ delivery: Operations.Delivery = .draft, of link: String = "Orders(1)"
    ) async throws -> SequenceNumber {
        var options = IntentOptions()
        options.delivery = delivery
        let result = try await shop.store.perform([(update(link, values), options)], asChangeSet: false)
        return try #require(result[0].sequence)
    }

    private func others(_ shop: Shop, _ body: String) {
        let response = shop.transport.direct("PATCH", "/v4/Orders(1)", body, headers: ["If-Match": "*"])
        #expect(response.isSuccess)
    }

    private func difference(_ name: String, _ conflict: Conflict?) -> Conflict.PropertyDifference? {
        conflict?.properties.first { $0.name == name }
    }

    @Test(arguments: Dialect.allCases)
    func `a draft has no conflict before its release, and afterwards one with the base of its creation`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await Shop(dialect)
        let base = try await shop.value("Orders(1)", "Note")
        let draft = try await change(shop, ["Note": .string("draft")])
        others(shop, #"{"Note":"theirs"}"#)
        try await shop.pull()
        #expect(try await shop.store.conflicts.all().isEmpty)
        #expect(try await shop.store.queue.errorArchive().isEmpty)
        let report = try await shop.push()
        #expect(report.conflicts.isEmpty)
        #expect((report.remaining, report.heldBack) == (0, 1))
        _ = try await shop.store.queue.setDelivery(.queued, of: [draft])
        let conflict = try #require(try await shop.push().conflicts.first)
        #expect(conflict.operations == [draft])
        let note = try #require(difference("Note", conflict))
        #expect((note.base, note.mine, note.theirs) == (base, .string("draft"), .string("theirs")))
    }

    @Test(arguments: Dialect.allCases)
    func `a draft that was released before the change of another client was known is rejected by its ETag`(
        _ dialect: Dialect
    )
        async throws
    {
        let shop = try await Shop(dialect)
        let draft = try await change(shop, ["Note": .string("draft")])
        others(shop, #"{"Note":"theirs"}"#)
        _ = try await shop.store.queue.setDelivery(.queued, of: [draft])
        let report = try await shop.push()
        #expect(report.rejected.isEmpty)
        #expect(difference("Note", report.conflicts.first)?.isOverlapping == true)
    }

    @Test func `an operation in conflict that became a draft has the conflict again after its release`() async throws {
        let shop = try await Shop(.v4)
        let operation = try await change(shop, ["Note": .string("mine")], .queued)
        others(shop, #"{"Note":"theirs"}"#)
        #expect(try await shop.push().conflicts.count == 1)
        _ = try await shop.store.queue.setDelivery(.draft, of: [operation])
        #expect(try await shop.push().conflicts.isEmpty)
        _ = try await shop.store.queue.setDelivery(.queued, of: [operation])
        let conflict = try #require(try await shop.push().conflicts.first)
        try await shop.store.conflicts.resolve(conflict, with: .mine)
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.serviceState(["Orders"]).contains { $0.contains("mine") })
    }

    @Test(arguments: [ConflictResolution.mine, .theirs])
    func `the resolution of a conflict of a queued operation does not resolve that of a draft`(
        _ resolution: ConflictResolution
    ) async throws {
        let shop = try await Shop(.v4)
        let base = try await shop.value("Orders(1)", "Note")
        try await shop.perform(update("Orders(1)", ["Quantity": .integer(5)]))
        let draft = try await change(shop, ["Note": .string("draft")])
        others(shop, #"{"Quantity":9,"Note":"theirs"}"#)
        try await shop.pull()
        let conflict = try #require(try await shop.store.conflicts.all().first)
        #expect(difference("Note", conflict) == nil)
        try await shop.store.conflicts.resolve(conflict, with: resolution)
        #expect(try await shop.store.conflicts.all().isEmpty)
        #expect(try await shop.push().remaining == 0)
        _ = try await shop.store.queue.setDelivery(.queued, of: [draft])
        let note = try #require(difference("Note", try await shop.push().conflicts.first))
        #expect((note.base, note.mine, note.theirs) == (base, .string("draft"), .string("theirs")))
    }

    @Test func `a draft of the same property conflicts after the resolution theirs, and not after mine`()
        async throws
    {
        for resolution in [ConflictResolution.theirs, .mine] {
            let shop = try await Shop(.v4)
            try await shop.perform(update("Orders(1)", ["Note": .string("sent")]))
            let draft = try await change(shop, ["Note": .string("draft")])
            others(shop, #"{"Note":"theirs"}"#)
            try await shop.pull()
            let conflict = try #require(try await shop.store.conflicts.all().first)
            #expect(difference("Note", conflict)?.mine == .string("sent"))
            try await shop.store.conflicts.resolve(conflict, with: resolution)
            #expect(try await shop.push().remaining == 0)
            _ = try await shop.store.queue.setDelivery(.queued, of: [draft])
            #expect(try await shop.push().conflicts.count == (resolution == .theirs ? 1 : 0))
        }
    }

    @Test func `a change by another client after a resolution is a new conflict, regardless of drafts`() async throws {
        let shop = try await Shop(.v4)
        // The service returns no ETag for customers.
        func others(_ name: String, _ rating: String) {
            let body = #"{"Name":"\#(name)","Rating":\#(rating)}"#
            #expect(shop.transport.direct("PATCH", "/v4/Customers(1)", body).isSuccess)
        }
        try await shop.perform(update("Customers(1)", ["Name": .string("mine")]))
        _ = try await change(shop, ["Rating": .decimal(DecimalValue("1.5")!)], of: "Customers(1)")
        others("theirs", "2.5")
        try await shop.pull()
        try await shop.store.conflicts.resolve(try #require(try await shop.store.conflicts.all().first), with: .mine)
        #expect(try await shop.store.conflicts.all().isEmpty)
        others("again", "3.5")
        try await shop.pull()
        let report = try await shop.push()
        let name = try #require(difference("Name", report.conflicts.first))
        #expect((name.base, name.mine, name.theirs) == (.string("theirs"), .string("mine"), .string("again")))
        #expect(try await shop.serviceState(["Customers"]).contains { $0.contains("again") })
    }

    @Test func `a draft does not reopen the resolved conflict of a delete`() async throws {
        let shop = try await Shop(.v4)
        _ = try await change(shop, ["Note": .string("draft")])
        try await shop.perform(.delete(.link("Orders(1)")))
        others(shop, #"{"Note":"theirs"}"#)
        try await shop.pull()
        try await shop.store.conflicts.resolve(try #require(try await shop.store.conflicts.all().first), with: .mine)
        #expect(try await shop.store.conflicts.all().isEmpty)
    }

    @Test func `a draft that deletes a changed entity is in conflict when it is released`() async throws {
        let shop = try await Shop(.v4)
        var options = IntentOptions()
        options.delivery = .draft
        let result = try await shop.store.perform([(.delete(.link("Orders(1)")), options)], asChangeSet: false)
        others(shop, #"{"Note":"theirs"}"#)
        try await shop.pull()
        #expect(try await shop.push().conflicts.isEmpty)
        _ = try await shop.store.queue.setDelivery(.queued, of: [try #require(result[0].sequence)])
        #expect(try await shop.push().conflicts.first?.kind == .deletedHere)
    }

    @Test func `a local-only operation has no conflict and stays pending`() async throws {
        let shop = try await Shop(.v4)
        _ = try await change(shop, ["Note": .string("here")], .localOnly)
        others(shop, #"{"Note":"theirs"}"#)
        try await shop.pull()
        #expect(try await shop.store.conflicts.all().isEmpty)
        #expect(try await shop.value("Orders(1)", "Note") == .string("here"))
    }

    @Test func `the merge bases of drafts are restored from the log`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(update("Orders(1)", ["Quantity": .integer(5)]))
        _ = try await change(shop, ["Note": .string("draft")])
        others(shop, #"{"Quantity":9,"Note":"theirs"}"#)
        try await shop.pull()
        try await shop.store.conflicts.resolve(try #require(try await shop.store.conflicts.all().first), with: .mine)
        let digest = try await shop.store.digest()
        await shop.store.close()
        let files = StoreFiles(directory: shop.directory.path)
        StoreDirectory.remove([files.views, files.views + "-wal", files.views + "-shm"])
        let again = try await LocalStore(files)
        #expect(try await again.digest() == digest)
        await again.close()
    }
}
