import EDM
import Foundation
import ODataSandbox
import Operations
import SyncCore
import Synchronization
import TestSupport
import Testing
import Transport
import HTTPTypes
import SeededRandom

@testable import OfflineStore
@testable import SyncEngine

/// Undo and redo in a store that is connected to a service.
struct UndoTests {
    private func code(_ body: () async throws -> Void) async throws -> TidelogError.Code? {
        do {
            try await body()
            return nil
        } catch let error as TidelogError {
            return error.code
        }
    }

    // MARK: Sent operations

    @Test(arguments: Dialect.allCases)
    func `an upload sends only the operations that were not undone`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("kept")])
        let order = try await shop.create("Orders", ["Note": .string("a")], bind: [bind("Customer", customer)])
        let change = try await shop.perform(update("Customers(1)", ["Name": .string("not kept")]))
        try await shop.perform(.delete(.link("Orders(1)")))
        let report = try await shop.store.queue.undo(.operations([try #require(change[0].sequence)]))
        #expect(report.dependants.isEmpty)
        _ = try await shop.store.queue.undo(.entities([.link("Orders(1)")]))
        #expect(try await shop.push().confirmed.count == 2)
        #expect(try await shop.value("Customers(1)", "Name") == .string("Ada Lovelace"))
        #expect(try await shop.targets(order, "Customer") == [try await shop.load(customer).readLink])
        #expect(try await shop.localState() == shop.serviceState())
        #expect(try await shop.store.queue.undoneOperations().count == 2)
    }

    @Test(arguments: Dialect.allCases)
    func `a queue that was undone and redone is sent like the original one`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("new")])
        try await shop.perform(.updateLink(from: .link("Orders(1)"), navigation: "Customer", to: .link(customer)))
        let before = try await shop.localState()
        let report = try await shop.store.queue.undo(.everything)
        #expect(report.undone.count == 2)
        #expect(try await shop.push().batches == 0)
        #expect(try await shop.localState() == shop.serviceState())
        #expect(try await shop.store.queue.redoLast() == report.undone)
        #expect(try await shop.localState() == before)
        #expect(try await shop.push().confirmed == report.undone)
        #expect(try await shop.localState() == shop.serviceState())
    }

    /// `TIDELOG_UNDO_SEEDS` sets the number of seeds.
    static let seeds = Array(1...(ProcessInfo.processInfo.environment["TIDELOG_UNDO_SEEDS"].flatMap(UInt64.init) ?? 6))

    @Test(arguments: Dialect.allCases, seeds)
    func `the store and the service agree after random operations, undos and redos`(
        _ dialect: Dialect, _ seed: UInt64
    ) async throws {
        let shop = try await Shop(dialect, options: LocalStoreOptions(undoesLocalCreation: seed % 2 == 0))
        var session = RandomSessionTests.Session(shop: shop, random: SeededRandom(seed: seed))
        for round in 1...2 {
            for step in 0..<40 {
                do {
                    try await self.step(&session, transactions: seed % 3 == 0)
                } catch let error as TidelogError {
                    guard case .refused = error.code else { throw error }
                }
                guard step == 20 else { continue }
                let state = try await shop.localState()
                let undone = try await shop.store.queue.undo(.everything).undone
                #expect(try await shop.localState() == shop.serviceState(), "\(dialect), seed \(seed)")
                #expect(try await shop.store.queue.redo(undone) == undone, "\(dialect), seed \(seed)")
                #expect(try await shop.localState() == state, "\(dialect), seed \(seed)")
            }
            let undone = try await shop.store.queue.undoneOperations()
            let report = try await shop.push()
            let comment: Comment = "\(dialect), seed \(seed), round \(round)"
            #expect(report.rejected.map(\.refusal.message) == [], comment)
            #expect(report.remaining == 0, comment)
            #expect(Set(report.confirmed).isDisjoint(with: undone.map(\.sequence)), comment)
            #expect(try await shop.store.queue.undoneOperations() == undone, comment)
            let service = Set(try await shop.serviceState())
            #expect(Set(try await shop.localState()).symmetricDifference(service).sorted() == [], comment)
        }
    }

    private func step(_ session: inout RandomSessionTests.Session, transactions: Bool) async throws {
        let store = session.shop.store
        switch Int.random(in: 0..<10, using: &session.random) {
        case 0, 1:
            let pending = try await store.queue.pendingOperations()
            guard let chosen = pending.randomElement(using: &session.random) else { return }
            _ = try await store.queue.undo(.operations([chosen.sequence]))
        case 2:
            guard let chosen = try await store.queue.undoneOperations().randomElement(using: &session.random) else {
                return
            }
            _ = session.chance(50) ? try await store.queue.redoLast() : try await store.queue.redo([chosen.sequence])
        default:
            var intents: [Intent] = []
            for _ in 0..<(session.chance(20) ? 3 : 1) {
                if let intent = try await session.intent() { intents.append(intent) }
            }
            guard !intents.isEmpty else { return }
            let transaction = transactions && session.chance(20) ? "T" : nil
            _ = try await store.perform(
                intents.map { ($0, IntentOptions(transactionID: transaction)) }, asChangeSet: intents.count > 1)
        }
    }

    // MARK: By entity

    @Test func `undoing the operations of an entity leaves those of other entities`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(update("Customers(1)", ["Name": .string("x")]))
        try await shop.perform(.createLink(from: .link("Orders(4)"), navigation: "Customer", to: .link("Customers(1)")))
        let order = try await shop.create("Orders", ["Note": .string("own")], bind: [bind("Customer", "Customers(1)")])
        try await shop.perform(
            update("Orders(3)", ["Note": .string("n")], bind: [bind("Customer", "Customers(1)")]))
        let report = try await shop.store.queue.undo(.entities([.link("Customers(1)")]))
        #expect(report.undone.count == 2)
        #expect(report.dependants.isEmpty)
        #expect(try await shop.value("Customers(1)", "Name") == .string("Ada Lovelace"))
        #expect(
            try await shop.targets("Customers(1)", "Orders").sorted() == ["Orders(1)", "Orders(2)", "Orders(3)", order])
    }

    @Test func `several entities are undone by one record and redone together`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(update("Customers(1)", ["Name": .string("x")]))
        try await shop.perform(.delete(.link("Orders(3)")))
        let new = try await shop.create("Customers")
        let report = try await shop.store.queue.undo(
            .entities([.link("Customers(1)"), .link("Orders(3)"), .link(new)]))
        #expect(report.undone.count == 3)
        #expect(Set(try await shop.store.queue.undoneOperations().map(\.undo)).count == 1)
        #expect(try await shop.localState() == shop.serviceState())
        #expect(try await shop.store.queue.redoLast() == report.undone)
        #expect(try await code { _ = try await shop.load("Orders(3)") } == .notFound)
    }

    // MARK: Refused

    @Test func `an undo without dependents is refused if dependents exist, and names them`() async throws {
        let shop = try await Shop(.v4)
        let customer = try await shop.create("Customers")
        let create = try #require(try await shop.store.queue.pendingOperations().last?.sequence)
        try await shop.create("Orders", bind: [bind("Customer", customer)])
        let digest = try await shop.store.digest()
        do {
            _ = try await shop.store.queue.undo(.operations([create]), withDependants: false)
            Issue.record("not refused")
        } catch {
            #expect(error.code == .refused(.hasDependants))
            #expect(error.message.contains("\(create + 1) (needs \(customer), which operation \(create) creates)"))
        }
        #expect(try await shop.store.digest() == digest)
        let rehearsal = try await shop.store.queue.rehearseUndo(.operations([create]))
        #expect(rehearsal.undone == [create, create + 1])
        #expect(try await shop.store.digest() == digest)
        #expect(try await shop.store.queue.undo(.operations([create])) == rehearsal)
    }

    @Test func `an operation in doubt cannot be undone, and an undo of everything skips it`() async throws {
        let shop = try await Shop(.v4)
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        try await shop.create("Customers", ["Name": .string("n")])
        let create = try #require(try await shop.store.queue.pendingOperations().last?.sequence)
        await #expect(throws: TidelogError.self) { try await shop.push() }
        #expect(try await code { _ = try await shop.store.queue.undo(.operations([create])) } == .refused(.notUndoable))
        try await shop.perform(update("Customers(1)", ["Name": .string("x")]))
        let report = try await shop.store.queue.undo(.everything)
        #expect(report.left == [create])
        #expect(report.undone == [create + 3])
    }

    @Test func `undoing a rejected operation removes its error`() async throws {
        let shop = try await Shop(.v4)
        let order = try await shop.create("Orders", ["CustomerID": .integer(400)])
        #expect(try await shop.push().rejected.count == 1)
        _ = try await shop.store.queue.undo(.entities([.link(order)]))
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.localState() == shop.serviceState())
    }

    // MARK: During an upload

    @Test func `during an upload, operations in flight cannot be undone, and later ones can`() async throws {
        let shop = try await Shop(.v4)
        let gate = HookedTransport(shop.transport)
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: "http://shop.test/v4/", transport: gate))
        let customer = try await shop.create("Customers", ["Name": .string("n")])
        try await shop.perform(update(customer, ["Name": .string("behind")]))
        let pending = try await shop.store.queue.pendingOperations().map(\.sequence)
        let store = shop.store
        let codes = Mutex<[TidelogError.Code]>([])
        gate.onBatch {
            do { _ = try await store.queue.undo(.operations([pending[0]])) } catch let error as TidelogError {
                codes.withLock { $0.append(error.code) }
            }
            _ = try await store.queue.undo(.operations([pending[1]]))
        }
        let report = try await engine.upload()
        #expect(codes.withLock { $0 } == [.refused(.notUndoable)])
        #expect(report.confirmed == [pending[0]])
        #expect(report.remaining == 0)
        #expect(try await shop.value(customer, "Name") == .string("n"))
        #expect(try await shop.localState() == shop.serviceState())
    }

    @Test func `a plan that was made before an undo or redo is not sent`() async throws {
        let shop = try await Shop(.v4)
        try await shop.perform(update("Customers(1)", ["Name": .string("x")]))
        let before = await shop.store.planEpoch
        let plan = try await shop.store.uploads.plan()
        _ = try await shop.store.queue.undo(.everything)
        #expect(try await shop.store.prepare(plan, since: before) == nil)
        let undone = await shop.store.planEpoch
        _ = try await shop.store.queue.redoLast()
        #expect(try await shop.store.prepare(plan, since: undone) == nil)
        #expect(try await shop.store.prepare(plan, since: await shop.store.planEpoch) == 1)
    }

    // MARK: Reopening

    @Test func `undone operations are kept after a reopen, a rebuild of the views and a compaction`()
        async throws
    {
        let shop = try await Shop(.v4)
        try await shop.create("Customers", ["Name": .string("n")])
        try await shop.perform(update("Customers(1)", ["Name": .string("x")]))
        let undone = try await shop.store.queue.undo(.everything).undone
        _ = try await shop.store.compact(keeping: .bytes(0))
        let digest = try await shop.store.digest()
        await shop.store.close()
        let files = StoreFiles(directory: shop.directory.path)
        for hasViews in [true, false] {
            if !hasViews { StoreDirectory.remove(files.viewFiles) }
            let store = try await LocalStore(files)
            #expect(try await store.digest() == digest)
            #expect(try await store.queue.undoneOperations().map(\.sequence) == undone)
            await store.close()
        }
        let store = try await LocalStore(files)
        #expect(try await store.queue.redoLast() == undone)
        #expect(try await store.load(.link("Customers(1)")).values["Name"] == .string("x"))
    }
}

/// A transport that calls a hook before it sends a batch.
private final class HookedTransport: HTTPTransport {
    private let transport: SandboxTransport
    private let hook = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(_ transport: SandboxTransport) { self.transport = transport }

    /// Sets the hook for the next batch only.
    func onBatch(_ body: @escaping @Sendable () async throws -> Void) { hook.withLock { $0 = body } }

    func send(
        _ request: HTTPRequest, body: [UInt8]
    ) async throws(TransportError) -> (response: HTTPResponse, body: [UInt8]) {
        if request.path?.hasSuffix("$batch") == true {
            let next = hook.withLock { hook in
                defer { hook = nil }
                return hook
            }
            do { try await next?() } catch { Issue.record("\(error)") }
        }
        return try await transport.send(request, body: body)
    }
}
