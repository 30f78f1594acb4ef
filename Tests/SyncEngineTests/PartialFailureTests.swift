import EDM
import HTTPTypes
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import Synchronization
import TestSupport
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// A failed operation or an interruption does not affect independent operations.
struct PartialFailureTests {
    /// Returns an engine whose gateway refuses every batch that contains the given word.
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
    func `an operation that makes the service reject the whole batch is isolated, and the others are sent`(
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

    @Test func `a service that rejects every batch does not receive each operation separately`() async throws {
        let shop = try await Shop(.v4)
        for number in 1...40 { try await shop.create("Customers", ["Name": .string("good \(number)")]) }
        let upload = engine(shop, refusing: "HTTP/1.1")
        await #expect {
            try await upload.upload()
        } throws: { error in
            ((error as? TidelogError)?.upload?.rejected.count ?? 99) < 3
        }
        #expect(try await shop.push().remaining == 0)
    }

    @Test func `a few rejected operations next to each other do not count as a service that rejects batches`()
        async throws
    {
        let shop = try await Shop(.v4)
        for name in ["bad 1", "bad 2", "bad 3", "bad 4", "good"] {
            try await shop.create("Customers", ["Name": .string(name)])
        }
        let report = try await engine(shop, refusing: "bad").upload()
        #expect(report.rejected.count == 4)
        #expect(report.confirmed.count == 1)
        #expect(try await shop.serviceState(["Customers"]).count == 4)
    }

    @Test func `an operation that makes the service fail is isolated after some uploads, and the others are sent`()
        async throws
    {
        let shop = try await Shop(.v4)
        for number in 1...8 {
            let id = try #require(GuidValue("aaaaaaaa-0000-0000-0000-00000000000\(number)"))
            try await shop.create(
                "Visits", ["VisitID": .guid(id), "Subject": .string(number == 4 ? "poison" : "good")])
        }
        let before = try await shop.serviceState(["Visits"]).count
        let upload = engine(shop, refusing: "poison", status: 500)
        for _ in 1...3 { await #expect(throws: TidelogError.self) { try await upload.upload() } }
        let report = try await upload.upload()
        #expect(report.inDoubt.count == 1)
        #expect(report.remaining == 1)
        #expect(try await shop.serviceState(["Visits"]).count == before + 7)
        #expect(try await shop.push().remaining == 0)
    }

    // MARK: Entities that cannot be read

    @Test(arguments: [403, 500, 501])
    func `an entity that cannot be read stays in doubt and holds back no other operation`(_ status: Int) async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        try await shop.create("Customers", ["Name": .string("New")])
        shop.transport.add(Fault(.refuse(status: status), times: 99, method: "GET", urlPart: "Orders(1)"))
        let report = try await shop.push()
        #expect(report.confirmed.count == 1)
        #expect(report.inDoubt.count == 1)
        #expect(report.remaining == 1)
        shop.transport.change { $0.faults = [] }
        #expect(try await shop.push().remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test(arguments: [400, 501])
    func `a create stays in doubt if its correlation property cannot be searched, and holds back no other operation`(
        _ status: Int
    ) async throws {
        let shop = try await Shop(.v4)
        await shop.store.use(ServiceOptions(correlationProperties: ["Customers": "Name"]))
        try await shop.create("Customers", ["Name": .string("New")])
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        shop.transport.add(Fault(.refuse(status: status), times: 99, method: "GET", urlPart: "$filter"))
        let report = try await shop.push()
        #expect(report.confirmed.count == 1)
        #expect(report.inDoubt.count == 1)
    }

    @Test func `an entity whose ETag cannot be read holds back only its own change`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(.deleteLink(from: .link("Orders(3)"), navigation: "Customer", to: nil))
        #expect(try await shop.push().remaining == 0)
        try await shop.perform(update("Orders(3)", ["Note": .string("mine")]))
        try await shop.create("Customers", ["Name": .string("New")])
        shop.transport.forgetRequests()
        shop.transport.add(Fault(.refuse(status: 403), times: 99, method: "GET", urlPart: "Orders(3)"))
        let report = try await shop.push()
        #expect(shop.transport.requests.contains { $0.method == "GET" && $0.url.contains("Orders(3)") })
        #expect(report.confirmed.count == 1)
        #expect(report.remaining == 1)
        shop.transport.change { $0.faults = [] }
        #expect(try await shop.push().remaining == 0)
        #expect(try await Set(shop.localState()) == Set(shop.serviceState()))
    }

    @Test func `operations sent with a create of unknown outcome are resolved together with it`() async throws {
        let shop = try await Shop(.v4)
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")], bind: [bind("Customer", customer)]))
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        shop.transport.forgetRequests()
        let report = try await shop.push()
        #expect(report.inDoubt.count == 2)
        #expect(!shop.transport.requests.contains { $0.method == "POST" })
        #expect(try await shop.store.doubts.resolveInDoubt(report.inDoubt[0], as: .tookEffect).count == 2)
        #expect(try await shop.store.queue.pendingOperations().isEmpty)
    }

    @Test func `the error of a failed upload contains the report of its results`() async throws {
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
    func `an operation is not in doubt only if the service itself states that it was not processed`(
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
        #expect(try await shop.store.queue.pendingOperations(isCertain ? .pending : .inDoubt).count == 1)
    }

    // MARK: Concurrent uploads

    @Test func `uploads that start during an upload share the next one`() async throws {
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
            // All calls arrive before this batch ends.
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
    func `an update made while the previous one is in flight is sent with the new ETag`(
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
