import EDM
import HTTPTypes
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

/// One bad operation, one bad moment: everything else goes on.
struct PartialFailureTests {
    /// The shop behind a gateway that refuses every batch in which the word stands.
    private func engine(_ shop: Shop, refusing word: String, status: Int = 400) -> SyncEngine {
        let transport = HookedTransport(shop.transport) { request, body in
            guard request.path?.contains("$batch") == true, body.contains(word) else { return nil }
            return (HTTPResponse(status: .init(code: status)), Array("no".utf8))
        }
        return SyncEngine(
            store: shop.store,
            session: ServiceSession(root: shop.engine.session.root, transport: transport))
    }

    @Test(arguments: Dialect.allCases, [400, 413])
    func `an operation for which the service refuses the whole batch is found, and the others go through`(
        _ dialect: Dialect, _ status: Int
    ) async throws {
        let shop = try await Shop(dialect)
        for number in 1...9 {
            try await shop.create("Customers", ["Name": .string(number == 4 ? "poison" : "good \(number)")])
        }
        let report = try await engine(shop, refusing: "poison", status: status).upload()
        #expect(report.confirmed.count == 8)
        #expect(report.rejected.map(\.refusal.status) == [status])
        #expect(report.remaining == 1)
        #expect(try await shop.serviceState(["Customers"]).count == 11)
        #expect(try await shop.push().remaining == 0)
    }

    @Test func `a service that refuses every batch is not asked about each operation`() async throws {
        let shop = try await Shop(.v4)
        for number in 1...40 { try await shop.create("Customers", ["Name": .string("good \(number)")]) }
        let upload = engine(shop, refusing: "Customers")
        await #expect {
            try await upload.upload()
        } throws: { error in
            ((error as? TidelogError)?.upload?.rejected.count ?? 99) < 3
        }
        #expect(try await shop.push().remaining == 0)
    }

    @Test func `an upload that fails says what it had come to`() async throws {
        let shop = try await Shop(.v4)
        for number in 1...3 { try await shop.create("Customers", ["Name": .string("\(number)")]) }
        let count = Mutex(0)
        let transport = HookedTransport(shop.transport) { request, _ in
            guard request.path?.contains("$batch") == true else { return nil }
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 2 { shop.transport.add(Fault(.dropRequest, urlPart: "$batch")) }
            return nil
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        await #expect {
            try await engine.upload(UploadOptions(requestLimit: 1, retry: .impatient))
        } throws: { error in
            let report = (error as? TidelogError)?.upload
            return report?.confirmed.count == 1 && report?.remaining == 2
        }
    }

    @Test(arguments: [(503, true), (503, false), (502, false), (429, false)])
    func `only what the service itself says was not looked at is not in doubt`(
        _ status: Int, _ saysWhen: Bool
    ) async throws {
        let shop = try await Shop(.v4)
        try await shop.create("Customers", ["Name": .string("New")])
        let transport = HookedTransport(shop.transport) { request, _ in
            guard request.path?.contains("$batch") == true else { return nil }
            var response = HTTPResponse(status: .init(code: status))
            if saysWhen { response.headerFields[.retryAfter] = "9" }
            return (response, [])
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        await #expect(throws: TidelogError.self) { try await engine.upload(UploadOptions(retry: .impatient)) }
        let isCertain = saysWhen || status == 429
        #expect(try await shop.store.pendingOperations(isCertain ? .pending : .inDoubt).count == 1)
    }

    // MARK: At the same time

    @Test func `uploads that come while one runs share the next`() async throws {
        let shop = try await Shop(.v4)
        try await shop.create("Customers", ["Name": .string("first")])
        let isFirst = Mutex(true)
        let reports = Mutex<[Task<UploadReport, any Error>]>([])
        let engine = Mutex<SyncEngine?>(nil)
        let transport = HookedTransport(shop.transport) { request, _ in
            guard request.path?.contains("$batch") == true,
                isFirst.withLock({ isFirst in
                    defer { isFirst = false }
                    return isFirst
                }), let running = engine.withLock({ $0 })
            else { return nil }
            for _ in 1...5 { reports.withLock { $0.append(Task { try await running.upload() }) } }
            // All of them have come before this batch is through.
            for _ in 1...50 { await Task.yield() }
            _ = try? await shop.create("Customers", ["Name": .string("made meanwhile")])
            return nil
        }
        let running = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        engine.withLock { $0 = running }
        _ = try await running.upload()
        for report in reports.withLock({ $0 }) { #expect(try await report.value.remaining == 0) }
        #expect(try await shop.serviceState(["Customers"]).count == 5)
        #expect(shop.transport.requests.filter { $0.url.contains("$batch") }.count == 2)
    }

    @Test(arguments: Dialect.allCases)
    func `an edit that is made while the one before it is on its way goes with the new ETag`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await Shop(dialect)
        let order = try await shop.create("Orders", ["Note": .string("one")])
        let edits = Mutex(3)
        let transport = HookedTransport(shop.transport) { request, _ in
            guard request.path?.contains("$batch") == true,
                let left = edits.withLock({ left -> Int? in
                    guard left > 0 else { return nil }
                    left -= 1
                    return left
                })
            else { return nil }
            _ = try? await shop.perform(update(order, ["Note": .string("edit \(left)")]))
            #expect(try! await shop.value(order, "Note") == .string("edit \(left)"))
            return nil
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: shop.engine.session.root, transport: transport))
        let report = try await engine.upload()
        #expect(report.rejected.isEmpty)
        #expect(report.remaining == 0)
        #expect(report.confirmed.count == 4)
        #expect(try await shop.value(order, "Note") == .string("edit 0"))
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }
}
