import EDM
import Operations
import SyncCore
import TestSupport
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// Uploads to a busy service.
struct UploadRetryTests {
    /// A store, and a busy service.
    private struct Busy {
        let shop: Shop
        let time: VirtualTime
        let transport: BusyTransport
        let engine: SyncEngine

        init(seed: UInt64 = 1) async throws {
            time = VirtualTime(seed: seed)
            shop = try await Shop(.v4, options: .init(environment: time.environment))
            transport = BusyTransport(shop.transport)
            engine = SyncEngine(
                store: shop.store, session: ServiceSession(root: "http://shop.test/v4/", transport: transport))
        }

        /// Returns the engine and the store of a new process.
        func reopened() async throws -> (SyncEngine, LocalStore) {
            await shop.store.close()
            let store = try await LocalStore(
                StoreFiles(directory: shop.directory.path), options: .init(environment: time.environment))
            let session = ServiceSession(root: "http://shop.test/v4/", transport: transport)
            return (SyncEngine(store: store, session: session), store)
        }
    }

    private func code(_ body: () async throws -> Void) async throws -> TidelogError.Code? {
        do {
            try await body()
            return nil
        } catch let error as TidelogError {
            return error.code
        }
    }

    // MARK: Busy batches

    @Test(arguments: [429, 503, 408, 425])
    func `an upload waits as long as a busy service requests, and continues`(_ status: Int) async throws {
        let busy = try await Busy()
        try await busy.shop.create("Customers", ["Name": .string("New")])
        busy.transport.add(.answer(status, [("Retry-After", "20")]))
        let report = try await busy.engine.upload()
        #expect(report.confirmed.count == 1)
        #expect(report.postponed == nil)
        #expect(busy.time.slept == [.seconds(20)])
        #expect(try await busy.shop.store.postponement == nil)
        #expect(try await busy.shop.serviceState(["Customers"]).count == 4)
    }

    @Test func `Retry-After may be a date`() async throws {
        let busy = try await Busy()
        try await busy.shop.create("Customers", ["Name": .string("New")])
        busy.transport.add(
            .answer(
                503,
                [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Retry-After", "Sun, 06 Nov 1994 08:49:49 GMT")]))
        _ = try await busy.engine.upload()
        #expect(busy.time.slept == [.seconds(12)])
    }

    @Test func `without Retry-After, the delays are random with limits that double`() async throws {
        let seed: UInt64 = 20_261_122
        let busy = try await Busy(seed: seed)
        try await busy.shop.create("Customers", ["Name": .string("New")])
        for _ in 0..<5 { busy.transport.add(.answer(503, [])) }
        let policy = RetryPolicy(patience: .seconds(100))
        #expect(try await busy.engine.upload(UploadOptions(retry: policy)).confirmed.count == 1)
        let slept = busy.time.slept
        #expect(slept.count == 5)
        for (delay, limit) in zip(slept, [1, 2, 4, 8, 16]) { #expect(delay <= .seconds(limit), "seed \(seed)") }
        #expect(Set(slept).count > 3, "seed \(seed)")
    }

    @Test func `after the maximum number of attempts, an upload ends with the service's response`() async throws {
        let busy = try await Busy()
        try await busy.shop.create("Customers", ["Name": .string("New")])
        for _ in 0..<10 { busy.transport.add(.answer(503, [])) }
        let policy = RetryPolicy(attempts: 3, patience: .seconds(1_000))
        #expect(
            try await code { _ = try await busy.engine.upload(UploadOptions(retry: policy)) } == .service(status: 503))
        #expect(busy.transport.posts == 3)
        #expect(try await busy.shop.store.queue.pendingOperations().map(\.status) == [.pending])
    }

    @Test(arguments: [400, 404, 413, 501])
    func `a permanent error is not retried`(_ status: Int) async throws {
        let busy = try await Busy()
        try await busy.shop.create("Customers", ["Name": .string("New")])
        busy.transport.add(.answer(status, [("Retry-After", "1")]))
        _ = try await code { _ = try await busy.engine.upload() }
        #expect(busy.time.slept.isEmpty)
        #expect(try await busy.shop.store.postponement == nil)
    }

    @Test(arguments: [502, 504])
    func `after a gateway error, the outcome is determined before anything is sent again`(_ status: Int) async throws {
        let busy = try await Busy()
        try await busy.shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        busy.transport.add(.answer(status, []))
        #expect(try await busy.engine.upload().remaining == 0)
        #expect(try await busy.shop.value("Orders(1)", "Note") == .string("mine"))
        #expect(busy.time.slept.count == 1)
    }

    // MARK: Patience and restart

    @Test func `a postponement longer than the patience is kept after a restart`() async throws {
        let busy = try await Busy()
        try await busy.shop.create("Customers", ["Name": .string("New")])
        busy.transport.add(.answer(503, [("Retry-After", "3600")]))
        #expect(try await code { _ = try await busy.engine.upload() } == .service(status: 503))
        #expect(busy.time.slept.isEmpty)

        let (engine, store) = try await busy.reopened()
        let postponed = try #require(try await store.postponement).upload
        #expect(postponed.attempt == 1)
        #expect(postponed.reason.contains("503"))
        busy.time.pass(60)
        let held = try await code { _ = try await engine.upload() }
        #expect(held == .postponed(until: postponed.notBefore))
        #expect(busy.transport.posts == 1)

        // Twenty seconds before the time of the retry, the patience suffices.
        busy.time.pass(3_520)
        #expect(try await engine.upload().confirmed.count == 1)
        #expect(busy.time.slept == [.seconds(20)])
        #expect(try await store.postponement == nil)
        await store.close()
    }

    @Test func `an upload can ignore a postponement`() async throws {
        let busy = try await Busy()
        try await busy.shop.create("Customers", ["Name": .string("New")])
        busy.transport.add(.answer(503, [("Retry-After", "3600")]))
        _ = try await code { _ = try await busy.engine.upload() }
        let report = try await busy.engine.upload(UploadOptions(ignoresPostponement: true))
        #expect(report.confirmed.count == 1)
        #expect(busy.time.slept.isEmpty)
    }

    @Test func `attempts are counted over several uploads, so that the delays grow`() async throws {
        let busy = try await Busy()
        try await busy.shop.create("Customers", ["Name": .string("New")])
        for number in 1...4 {
            busy.transport.add(.answer(503, []))
            _ = try await code {
                _ = try await busy.engine.upload(UploadOptions(retry: .impatient, ignoresPostponement: true))
            }
            #expect(try await busy.shop.store.postponement?.upload.attempt == number)
        }
    }

    @Test func `a clock that is set back does not postpone the upload`() async throws {
        let busy = try await Busy()
        try await busy.shop.create("Customers", ["Name": .string("New")])
        busy.transport.add(.answer(503, [("Retry-After", "3600")]))
        _ = try await code { _ = try await busy.engine.upload() }
        // The clock was a year ahead when the service responded, and is corrected now.
        busy.time.pass(-31_536_000)
        #expect(try await busy.engine.upload().confirmed.count == 1)
        #expect(busy.time.slept.isEmpty)
    }

    // MARK: No connection

    @Test func `an unreachable service ends an upload unless the policy waits for the connection`() async throws {
        let busy = try await Busy()
        try await busy.shop.create("Customers", ["Name": .string("New")])
        busy.transport.add(.unreachable)
        #expect(try await code { _ = try await busy.engine.upload() } == .unreachable)
        #expect(try await busy.shop.store.postponement == nil)
        busy.transport.add(.unreachable, .unreachable)
        let policy = RetryPolicy(patience: .seconds(100), waitsForConnection: true)
        #expect(try await busy.engine.upload(UploadOptions(retry: policy)).confirmed.count == 1)
        #expect(busy.time.slept.count == 2)
    }

    // MARK: Single operations

    @Test func `a postponed operation is sent again by itself, and the others are not delayed`() async throws {
        let busy = try await Busy()
        let order = try await busy.shop.create("Orders", ["Note": .string("late"), "CustomerID": .integer(4)])
        try await busy.shop.perform(update(order, ["Note": .string("later")]))
        try await busy.shop.create("Customers", ["Name": .string("Number four")])
        busy.transport.add(.replacing400(by: 503))
        let first = try await busy.engine.upload(UploadOptions(retry: .impatient))
        #expect(first.confirmed.count == 1)
        #expect(first.deferred.map(\.refusal.status) == [503])
        #expect(first.rejected.isEmpty)
        let postponed = try #require(first.postponed)
        #expect(postponed.attempt == 1)
        guard
            case .deferred(let refusal, attempts: 1)? = try await busy.shop.store.queue.pendingOperations().first?
                .status
        else { return #expect(Bool(false), "not deferred") }
        #expect(refusal.requestBody?.contains("late") == true)
        let held = try await busy.shop.store.uploads.plan().held
        #expect(held.values.contains { if case .behindDeferred = $0 { true } else { false } })

        #expect(try await busy.engine.upload().remaining == 0)
        #expect(try await busy.shop.value(order, "Note") == .string("later"))
        #expect(try await busy.shop.store.postponement == nil)
    }

    @Test func `an operation is postponed even if the upload ends with another error`() async throws {
        let busy = try await Busy()
        try await busy.shop.create("Orders", ["Note": .string("late"), "CustomerID": .integer(4)])
        try await busy.shop.create("Customers", ["Name": .string("Number four")])
        busy.transport.add(.replacing400(by: 503), .unreachable)
        let error = await #expect(throws: TidelogError.self) {
            try await busy.engine.upload(UploadOptions(retry: .impatient))
        }
        #expect(error?.code == .unreachable)
        #expect(error?.upload?.deferred.count == 1)
        #expect(try await busy.shop.store.postponement?.upload.attempt == 1)
    }

    @Test func `an operation postponed during a patient upload is sent by the same upload`() async throws {
        let busy = try await Busy()
        try await busy.shop.create("Orders", ["Note": .string("late"), "CustomerID": .integer(4)])
        try await busy.shop.create("Customers", ["Name": .string("Number four")])
        busy.transport.add(.replacing400(by: 429))
        let report = try await busy.engine.upload()
        #expect(report.remaining == 0)
        #expect(report.confirmed.count == 2)
        #expect(report.deferred.isEmpty)
        #expect(busy.time.slept.count == 1)
    }

    @Test func `an operation that is postponed repeatedly is rejected in the end`() async throws {
        let busy = try await Busy()
        try await busy.shop.create("Orders", ["Note": .string("never"), "CustomerID": .integer(99)])
        for _ in 0..<9 { busy.transport.add(.replacing400(by: 503)) }
        let policy = RetryPolicy(attempts: 4, patience: .seconds(1_000))
        let report = try await busy.engine.upload(UploadOptions(retry: policy))
        #expect(report.rejected.map(\.refusal.status) == [503])
        #expect(report.deferred.isEmpty)
        #expect(busy.transport.posts == 4)
        #expect(busy.time.slept.count == 3)
    }

    @Test func `a rejected operation is not sent again because the upload waits for a second one`() async throws {
        let busy = try await Busy()
        try await busy.shop.create("Orders", ["Note": .string("bad"), "CustomerID": .integer(99)])
        #expect(try await busy.engine.upload().rejected.count == 1)
        try await busy.shop.create("Customers", ["Name": .string("New")])
        busy.transport.add(.answer(503, []))
        let report = try await busy.engine.upload()
        #expect(report.confirmed.count == 1)
        #expect(report.rejected.count == 1)
        #expect(try await busy.engine.upload(UploadOptions()).rejected.count == 1)
    }

    @Test func `a part with a gateway timeout is in doubt, not rejected`() async throws {
        let busy = try await Busy()
        try await busy.shop.create("Orders", ["Note": .string("bad"), "CustomerID": .integer(99)])
        busy.transport.add(.replacing400(by: 504))
        let report = try await busy.engine.upload(UploadOptions(retry: .impatient))
        #expect(report.inDoubt.count == 1)
        #expect(report.rejected.isEmpty)
    }
}
