import EDM
import Operations
import SyncCore
import TestSupport
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// Uploads and downloads that are cancelled.
struct CancellationTests {
    private func engine(_ shop: Shop, _ turns: BusyTransport.Turn...) -> (SyncEngine, BusyTransport) {
        let transport = BusyTransport(shop.transport, turns)
        let session = ServiceSession(root: "http://shop.test/v4/", transport: transport)
        return (SyncEngine(store: shop.store, session: session), transport)
    }

    private func code(of task: Task<UploadReport, any Error>) async -> TidelogError.Code? {
        do {
            _ = try await task.value
            return nil
        } catch {
            return (error as? TidelogError)?.code
        }
    }

    @Test(arguments: [false, true])
    func `cancelling an upload that waits for the service ends it at once`(_ byTask: Bool) async throws {
        let shop = try await Shop(.v4)
        try await shop.create("Customers", ["Name": .string("New")])
        let (engine, _) = engine(shop, .answer(503, [("Retry-After", "600")]))
        let progress = engine.progress()
        let upload = Task { try await engine.upload(UploadOptions(retry: RetryPolicy(patience: .seconds(3_600)))) }
        for await step in progress where step.step == .waiting { break }
        if byTask { upload.cancel() } else { await engine.cancelUpload() }
        #expect(await code(of: upload) == .cancelled)
        #expect(try await shop.store.queue.pendingOperations().map(\.status) == [.pending])
        #expect(try await engine.upload(UploadOptions(ignoresPostponement: true)).confirmed.count == 1)
    }

    @Test(arguments: [false, true])
    func `the batch in flight of a cancelled upload is in doubt, and the next upload resolves it`(
        _ byTask: Bool
    ) async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        let (engine, transport) = engine(shop, .hang)
        let upload = Task { try await engine.upload() }
        for await _ in transport.hanging { break }
        if byTask { upload.cancel() } else { await engine.cancelUpload() }
        #expect(await code(of: upload) == .cancelled)
        guard case .inDoubt? = try await shop.store.queue.pendingOperations().first?.status else {
            return #expect(Bool(false), "not in doubt")
        }
        #expect(try await engine.upload().remaining == 0)
        #expect(try await shop.localState(["Orders"]) == shop.serviceState(["Orders"]))
    }

    @Test func `cancelling uploads ends the running and the waiting one, but not a later one`()
        async throws
    {
        let shop = try await Shop(.v4)
        try await shop.create("Customers", ["Name": .string("New")])
        let (engine, transport) = engine(shop, .hang)
        let first = Task { try await engine.upload() }
        for await _ in transport.hanging { break }
        let second = Task { try await engine.upload() }
        for _ in 0..<20 { await Task.yield() }
        await engine.cancelUpload()
        #expect(await code(of: first) == .cancelled)
        let later = await code(of: second)
        // If the call has not reached the engine yet, it counts as a later upload.
        #expect(later == .cancelled || later == nil)
        #expect(await code(of: Task { try await engine.upload() }) == nil)
    }

    // MARK: Calls that share a round or wait

    /// Waits until the given number of calls share the next round.
    private func waitForCallers(_ count: Int, _ engine: SyncEngine) async {
        while await engine.shared.values.reduce(0, { $0 + $1.callers }) < count {
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a call that shares a round ends with its task, and the round continues for the others`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        let (engine, transport) = engine(shop, .hang)
        let running = Task { try await engine.upload() }
        for await _ in transport.hanging { break }
        let leaving = Task { try await engine.upload() }
        let staying = Task { try await engine.upload() }
        await waitForCallers(2, engine)
        leaving.cancel()
        #expect(await code(of: leaving) == .cancelled)
        running.cancel()
        #expect(await code(of: running) == .cancelled)
        #expect(try await staying.value.remaining == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a shared round ends with its last caller, and the next call starts a new round`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        let (engine, transport) = engine(shop, .hang)
        let running = Task { try await engine.upload() }
        for await _ in transport.hanging { break }
        let leaving = [Task { try await engine.upload() }, Task { try await engine.upload() }]
        await waitForCallers(2, engine)
        for task in leaving { task.cancel() }
        for task in leaving { #expect(await code(of: task) == .cancelled) }
        let later = Task { try await engine.upload() }
        await waitForCallers(1, engine)
        running.cancel()
        #expect(await code(of: running) == .cancelled)
        #expect(try await later.value.remaining == 0)
        #expect(await engine.shared.isEmpty)
    }

    @Test(.timeLimit(.minutes(10)), arguments: [false, true])
    func `a waiting call is cancelled while a different call runs`(_ byTask: Bool) async throws {
        let shop = try await Shop(.v4)
        try await shop.create("Customers", ["Name": .string("New")])
        let (engine, transport) = engine(shop, .hang)
        let running = Task { try await engine.upload() }
        for await _ in transport.hanging { break }
        let download = Task { try await engine.download() }
        while await engine.waiting.isEmpty { try? await Task.sleep(for: .milliseconds(5)) }
        if byTask { download.cancel() } else { await engine.cancelDownload() }
        await #expect {
            _ = try await download.value
        } throws: {
            ($0 as? TidelogError)?.code == .cancelled
        }
        await engine.cancelUpload()
        #expect(await code(of: running) == .cancelled)
    }

    @Test func `cancelling an upload before its first step ends it`() async throws {
        let gate = Gate()
        let shop = try await Shop(.v4, options: .init(environment: gate.environment))
        try await shop.create("Customers", ["Name": .string("New")])
        let engine = shop.engine
        // The store is busy, so the upload waits for it.
        gate.close()
        let write = Task { try await shop.create("Customers", ["Name": .string("Other")]) }
        await gate.isWaitedAt()
        let upload = Task { try await engine.upload() }
        while await engine.uploads == 0 { await Task.yield() }
        await engine.cancelUpload()
        gate.open()
        #expect(await code(of: upload) == .cancelled)
        _ = try await write.value
        #expect(try await engine.upload().confirmed.count == 2)
    }

    // MARK: Operations rejected by a cancelled round

    /// Cancels an upload after a rejected order, while an update is being sent, and returns the report of a call that
    /// waited for it.
    private func uploadAfterCancelled(
        _ meanwhile: (Shop, _ bad: String) async throws -> Void
    ) async throws -> UploadReport {
        let shop = try await Shop(.v4)
        let bad = try await shop.create("Orders", ["Note": .string("bad"), "CustomerID": .integer(99)])
        try await shop.perform(update("Orders(1)", ["Note": .string("mine")]))
        let (engine, transport) = engine(shop, .replacing400(by: 400), .hang)
        let running = Task { try await engine.upload(UploadOptions(requestLimit: 1)) }
        for await _ in transport.hanging { break }
        let shared = Task { try await engine.upload(otherwise: UploadOptions(coalesces: true)) }
        await waitForCallers(1, engine)
        try await meanwhile(shop, bad)
        running.cancel()
        #expect(await code(of: running) == .cancelled)
        return try await shared.value
    }

    @Test(.timeLimit(.minutes(10)))
    func `an operation rejected by a failed upload is not retried by the next shared round`() async throws {
        let report = try await uploadAfterCancelled { _, _ in }
        #expect(report.rejected.isEmpty)
        #expect(report.remaining == 1)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a rejected operation that was corrected in the meantime is sent by the next shared round`() async throws {
        let report = try await uploadAfterCancelled { shop, bad in
            try await shop.perform(update(bad, ["CustomerID": .integer(1)]))
        }
        #expect(report.rejected.isEmpty)
        #expect(report.remaining == 0)
    }

    @Test func `cancelling downloads does not affect uploads`() async throws {
        let shop = try await Shop(.v4)
        try await shop.create("Customers", ["Name": .string("New")])
        let (engine, _) = engine(shop)
        await engine.cancelDownload()
        #expect(try await engine.upload().confirmed.count == 1)
    }

    @Test func `a download in a cancelled task ends, removes nothing, and can be repeated`() async throws {
        let shop = try await Shop(.v4)
        let before = try await shop.localState()
        let engine = shop.engine
        let download = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await engine.download()
        }
        await #expect {
            _ = try await download.value
        } throws: {
            ($0 as? TidelogError)?.code == .cancelled
        }
        #expect(try await shop.localState() == before)
        try await shop.pull()
    }

    // MARK: Progress

    @Test func `the progress of an upload counts finished operations and ends idle`() async throws {
        let shop = try await Shop(.v4)
        for number in 0..<3 { try await shop.create("Customers", ["Name": .string("New \(number)")]) }
        var progress = shop.engine.progress().makeAsyncIterator()
        try await shop.push()
        var steps: [SyncProgress] = []
        repeat { if let step = await progress.next() { steps.append(step) } } while steps.last?.step != .idle
        #expect(steps.first?.step == .preparing)
        #expect(steps.contains { $0.step == .sending && $0.done == 0 })
        #expect(steps.last?.done == 3)
        #expect(steps.allSatisfy { $0.total == 3 })
        #expect((steps.last?.bytesSent ?? 0) > 0)
        #expect((steps.last?.bytesReceived ?? 0) > 0)
    }

    @Test func `the progress of a download counts queries and entities`() async throws {
        let shop = try await Shop(.v4)
        var progress = shop.engine.progress().makeAsyncIterator()
        try await shop.pull()
        var last = SyncProgress()
        repeat { last = await progress.next() ?? last } while last.step != .idle
        #expect(last.done == Shop.sets.count)
        #expect(last.total == Shop.sets.count)
        #expect(last.entities > 30)
    }
}
