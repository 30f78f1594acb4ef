import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import SyncEngine
import TestSupport
import Testing
@testable import OfflineStore

/// Operations in doubt whose outcome cannot be read from the service, and that are idempotent.
struct DoneTwiceTests {
    private let link = Intent.createLink(
        from: .link("Suppliers(2)"), navigation: "Products", to: .link("Products(3)"))
    private let unlink = Intent.deleteLink(
        from: .link("Suppliers(2)"), navigation: "Products", to: .link("Products(3)"))

    private func push(_ shop: Shop, in categories: Set<UploadCategory>? = nil) async throws -> UploadReport {
        var options = UploadOptions(coalesces: true)
        options.categories = categories
        return try await shop.engine.upload(options)
    }

    /// Performs an intent, and drops the response or the request of its upload.
    private func loseAnswer(
        _ intent: Intent, _ shop: Shop, _ effect: Fault.Effect = .dropAnswer
    ) async throws -> SequenceNumber {
        try await shop.perform(intent)
        shop.transport.add(Fault(effect, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await push(shop) }
        return try #require(try await shop.store.queue.pendingOperations(.inDoubt).first).sequence
    }

    @Test(arguments: Dialect.allCases, [Fault.Effect.dropAnswer, .dropRequest])
    func `a link in doubt and its deletion are not coalesced`(
        _ dialect: Dialect, _ effect: Fault.Effect
    ) async throws {
        let shop = try await Shop(dialect)
        let before = try await shop.serviceState()
        _ = try await loseAnswer(link, shop, effect)
        try await shop.perform(unlink)
        let report = try await push(shop)
        #expect(report.elided == [])
        #expect(report.remaining == 0)
        #expect(try await shop.serviceState() == before)
    }

    @Test(arguments: Dialect.allCases, [Fault.Effect.dropAnswer, .dropRequest])
    func `a deleted link in doubt and its new creation are not coalesced`(
        _ dialect: Dialect, _ effect: Fault.Effect
    ) async throws {
        let shop = try await Shop(dialect)
        try await shop.perform(link)
        #expect(try await push(shop).remaining == 0)
        let before = try await shop.serviceState()
        _ = try await loseAnswer(unlink, shop, effect)
        try await shop.perform(link)
        let report = try await push(shop)
        #expect(report.elided == [])
        #expect(report.remaining == 0)
        #expect(try await shop.serviceState() == before)
    }

    @Test(arguments: Dialect.allCases, [Fault.Effect.dropAnswer, .dropRequest])
    func `the last of several values in doubt remains`(_ dialect: Dialect, _ effect: Fault.Effect) async throws {
        let shop = try await Shop(dialect)
        // In one batch in V4, because customers have no ETags.
        for name in ["Quick blue fox", "Lazy brown dog", "Slow green turtle"] {
            try await shop.perform(update("Customers(1)", ["Name": .string(name)]))
        }
        shop.transport.add(Fault(effect, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        #expect(try await shop.push().remaining == 0)
        let found = shop.transport.direct("GET", "/v4/Customers(1)")
        #expect(String(decoding: found.body, as: UTF8.self).contains("Slow green turtle"))
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `the last value in a change set remains if another client changes another value`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(
            update("Customers(1)", ["Name": .string("Quick blue fox"), "Rating": .decimal(DecimalValue("1.25")!)]),
            update("Customers(1)", ["Name": .string("Slow green turtle")]), asChangeSet: true)
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        #expect(shop.transport.direct("PATCH", "/v4/Customers(1)", #"{"Rating":4.5}"#).isSuccess)
        // The first update is sent again, and therefore the second one, too.
        #expect(try await shop.push().remaining == 0)
        let found = shop.transport.direct("GET", "/v4/Customers(1)")
        #expect(String(decoding: found.body, as: UTF8.self).contains("Slow green turtle"))
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `an operation in doubt cannot be undone before it has been sent again`() async throws {
        let shop = try await Shop(.v4)
        let operation = try await loseAnswer(.delete(.link("Orders(3)")), shop)
        // The category has no operations, so the upload sends nothing.
        #expect(try await push(shop, in: [.named("other")]).remaining == 1)
        #expect(try await !(#require(shop.store.queue.pendingOperations().first)).isUndoable)
        // The operation stays in doubt if the connection breaks before anything is sent.
        shop.transport.add(Fault(.dropRequest, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await push(shop) }
        await #expect(throws: TidelogError.self) { try await shop.store.queue.undo(.operations([operation])) }
        #expect(try await push(shop).confirmed == [operation])
    }

    @Test func `an operation stays in doubt when the service rejects its repetition without processing it`()
        async throws
    {
        let shop = try await Shop(.v4)
        let operation = try await loseAnswer(.delete(.link("Orders(3)")), shop)
        shop.transport.add(Fault(.refuse(status: 401), urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await push(shop) }
        #expect(try await shop.store.queue.pendingOperations(.inDoubt).map(\.sequence) == [operation])
        #expect(try await push(shop).confirmed == [operation])
    }

    @Test func `an operation in doubt cannot be settled during an upload`() async throws {
        let shop = try await Shop(.v4)
        let operation = try await loseAnswer(link, shop)
        await shop.store.uploads.beginUpload()
        await #expect {
            try await shop.store.doubts.resolveInDoubt(operation, as: .resend)
        } throws: { error in
            (error as? TidelogError)?.recovery == "Wait until the upload has ended, or cancel it."
        }
        await shop.store.uploads.endUpload()
        #expect(try await shop.store.doubts.resolveInDoubt(operation, as: .tookEffect) == [operation])
    }

    // MARK: Headers

    @Test(arguments: [("X-Note", "a\r\nb"), ("X Note", "a"), ("", "a"), ("Authorization", "Basic YTpi")])
    func `an operation with an invalid header is refused`(
        _ name: String, _ value: String
    ) async throws {
        let shop = try await Shop(.v4)
        let template = HeaderDraft(name: name, parts: [.text(value)])
        for options in [IntentOptions(headers: [name: value]), IntentOptions(headerTemplates: [template])] {
            await #expect {
                try await shop.store.perform(
                    [(update("Orders(1)", ["Note": .string("a")]), options)], asChangeSet: false)
            } throws: { error in
                (error as? TidelogError)?.recovery != nil && !"\(error)".contains("YTpi")
            }
        }
        #expect(try await shop.store.queue.pendingCount() == 0)
    }

    @Test(arguments: [true, false])
    func `an invalid header in an old log rejects only its own operation`(
        _ supportsBatch: Bool
    ) async throws {
        let shop = try await Shop(.v4)
        await shop.store.use(ServiceOptions(supportsBatch: supportsBatch))
        try await shop.perform(update("Orders(1)", ["Note": .string("bad")]))
        var bad = try #require(try await shop.store.queue.pendingOperations().first).operation
        _ = try await shop.store.queue.undo(.everything)
        bad.headers = [.init(name: "X-Note", value: "a\r\nb")]
        try await shop.store.record([.operation(bad)])
        try await shop.perform(update("Orders(2)", ["Note": .string("good")]))
        let report = try await shop.push()
        #expect(report.confirmed.count == 1)
        #expect(report.rejected.count == 1)
        #expect(report.rejected.first?.refusal.message.contains("X-Note") == true)
        #expect(report.remaining == 1)
    }
}
