import DiskSimulation
import EDM
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// Failures and crashes at each write of the disk of the views, while the disk of the log works. The results that the app
/// receives match the log, and in the end the views do too.
struct FlushFaultTests {
    /// A store on two simulated disks, with everything downloaded.
    private struct Disks {
        let files: StoreFiles
        let transport: SandboxTransport
        let log: SimulatedDisk
        let views: SimulatedDisk

        func copy() -> Disks { Disks(files: files, transport: transport, log: log.copy(), views: views.copy()) }

        /// - Parameter boot: the identifier of the start of the machine.
        func open(
            _ mount: DiskMount, boot: String = "Monday", flushLimit: Int? = nil
        ) async throws -> LocalStore {
            var options = LocalStoreOptions()
            options.readsAhead = false
            options.disk = .simulated(log, views: SimulatedViews(views, root: mount.root, boot: boot))
            options.flushLimit = flushLimit
            return try await LocalStore(files, options: options)
        }

        static func prepared() async throws -> Disks {
            let (log, views) = (SimulatedDisk(), SimulatedDisk())
            let mount = DiskMount(views)
            var options = LocalStoreOptions()
            options.disk = .simulated(log, views: SimulatedViews(views, root: mount.root, boot: "Monday"))
            let shop = try await Shop(.v4, pageSize: 2, options: options)
            await shop.store.close()
            return Disks(
                files: shop.store.files, transport: shop.transport, log: log.copy(), views: views.copy())
        }

        /// Returns the digest of the folded log, and the custom tags of its operations.
        func measure() throws -> (digest: String, tags: Set<String>) {
            var fold = try Fold(storage: WorkingSet())
            var tags: Set<String> = []
            let reader = try LogReader(directory: files.log, fileSystem: log.copy())
            try reader.forEach { record in
                let decoded = try ViewsOpener.decoded(record, RecordDecoder())
                if case .operation(let operation) = decoded.body, let tag = operation.customTag { tags.insert(tag) }
                try fold.apply(decoded, sequence: record.sequence)
            }
            try fold.finishRebase()
            return (try StateDigest(of: fold.storage).description, tags)
        }
    }

    /// The calls of an app and their results.
    private struct App {
        var acknowledged: [String] = []
        var refused: [String] = []

        private mutating func perform(
            _ intents: [(intent: Intent, tag: String)], _ store: LocalStore
        ) async -> [IntentResult] {
            do {
                let results = try await store.perform(
                    intents.map { ($0.intent, IntentOptions(customTag: $0.tag)) }, asChangeSet: intents.count > 1)
                acknowledged += intents.map(\.tag)
                return results
            } catch {
                refused += intents.map(\.tag)
                return []
            }
        }

        private func draft(_ number: Int, _ set: String, _ name: String) -> EntityDraft {
            EntityDraft(number: number, set: set, type: "Shop.\(set.dropLast())", values: [name: .string("x")])
        }

        mutating func work(on store: LocalStore) async {
            let created = await perform([(.create(draft(0, "Customers", "Name"), in: nil), "create")], store)
            if let link = created.first?.entities[0]?.readLink {
                let orders = (1...6).map { number in
                    var order = draft(number, "Orders", "Note")
                    order.bindings = [bind("Customer", link)]
                    return (Intent.create(order, in: nil), "order \(number)")
                }
                _ = await perform(orders, store)
            }
            _ = await perform([(update("Customers(1)", ["Name": .string("new")]), "update")], store)
            // Refused by a rule, or by the disk.
            _ = try? await store.perform(
                [(update("Customers(999)", ["Name": .string("none")]), IntentOptions(customTag: "none"))],
                asChangeSet: false)
            _ = await perform([(.delete(.link("Orders(1)")), "delete")], store)
        }
    }

    /// The ways in which the disk of the views fails.
    private static let ways: [(fault: SimulatedDisk.Fault, isForEver: Bool)] = [
        (.crash, true), (.full, false), (.full, true), (.refuse, false), (.refuse, true),
    ]

    /// Returns the number of writes of the views.
    private func calls(_ base: Disks, _ work: (LocalStore) async throws -> Void) async throws -> Int {
        let disks = base.copy()
        let mount = DiskMount(disks.views)
        let store = try await disks.open(mount, flushLimit: 1)
        let before = disks.views.calls
        try await work(store)
        let calls = disks.views.calls - before
        await store.close()
        return calls
    }

    /// Runs the app while the disk of the views fails at a call.
    ///
    /// - Returns: the custom tags of the operations in the log.
    private func work(
        on base: Disks, failingAt call: Int, _ name: String, _ work: (LocalStore) async -> Void
    ) async throws -> Set<String> {
        let (fault, isForEver) = Self.ways[call % Self.ways.count]
        let name = "\(name), call \(call), \(fault)\(isForEver ? " for ever" : "")"
        let disks = base.copy()
        let mount = DiskMount(disks.views)
        let store = try await disks.open(mount, flushLimit: [nil, 1, 7][call % 3])
        disks.views.fail(atCall: disks.views.calls + call, fault, forEver: isForEver)
        await work(store)
        let (digest, tags) = try disks.measure()
        // The views cannot be read, or have the right state.
        if let found = try? await store.digest() { #expect(found == digest, "\(name): wrong while the disk fails") }
        if fault != .crash {
            disks.views.fail(atCall: .max, .crash)
            #expect(
                try await store.digest() == digest, "\(name): the views differ from the log when the disk works again")
        }
        try await expect(digest, of: disks, boot: "Monday", "\(name), the process ended")
        await store.close()
        try await expect(digest, of: disks, boot: "Tuesday", "\(name), closed, after another start of the machine")
        return tags
    }

    @Test func `for each failing write of the views, the log and the views match the results that the app received`()
        async throws
    {
        let base = try await Disks.prepared()
        let count = try await calls(base) { store in
            var app = App()
            await app.work(on: store)
            #expect(app.refused == [] && app.acknowledged.count == 9)
        }
        var refused = 0
        for call in 0..<count {
            var app = App()
            let tags = try await work(on: base, failingAt: call, "calls") { await app.work(on: $0) }
            #expect(tags == Set(app.acknowledged), "call \(call): the log has \(tags)")
            #expect(tags.isDisjoint(with: app.refused), "call \(call)")
            refused += app.refused.count
        }
        print("refused writes of the views: \(count), \(refused) operations refused")
    }

    @Test func `for each failing write of the views, the views contain the download in the end`() async throws {
        let base = try await Disks.prepared()
        for number in 0..<5 {
            base.transport.direct("POST", "/v4/Customers", #"{"Name":"Customer \#(number)","Tags":[]}"#)
        }
        func download(_ store: LocalStore) async throws {
            let session = ServiceSession(root: "http://shop.test/v4/", transport: base.transport)
            _ = try await SyncEngine(store: store, session: session).download()
        }
        var stopped = 0
        // Each step has another kind of failure and another limit.
        for call in stride(from: 0, to: try await calls(base, download), by: 7) {
            _ = try await work(on: base, failingAt: call, "download") { store in
                do { try await download(store) } catch { stopped += 1 }
            }
        }
        print("refused writes of the views during a download: \(stopped) stopped")
    }

    @Test func `if any write of the views fails while they are built, the next opening builds them`() async throws {
        let prepared = try await Disks.prepared()
        // The views were deleted.
        func base() -> Disks {
            Disks(
                files: prepared.files, transport: prepared.transport, log: prepared.log.copy(), views: SimulatedDisk())
        }
        let digest = try prepared.measure().digest
        let whole = base()
        try await whole.open(DiskMount(whole.views)).close()
        var failed = 0
        for call in stride(from: 0, to: whole.views.calls, by: 9) {
            let (fault, isForEver) = Self.ways[1 + call % (Self.ways.count - 1)]
            let disks = base()
            let mount = DiskMount(disks.views)
            disks.views.fail(atCall: call, fault, forEver: isForEver)
            do { try await disks.open(mount).close() } catch { failed += 1 }
            disks.views.fail(atCall: .max, .crash)
            // In the same process: the failed opening has released the lock of the store.
            let store = try await disks.open(mount)
            #expect(try await store.digest() == digest, "call \(call), \(fault)")
            await store.close()
        }
        print("refused writes of an opening: \(failed) openings failed")
        #expect(failed > 0)
    }

    /// Checks the store as the next process opens it.
    private func expect(_ digest: String, of disks: Disks, boot: String, _ name: String) async throws {
        let disks = disks.copy()
        let mount = DiskMount(disks.views)
        let store = try await disks.open(mount, boot: boot)
        #expect(try await store.digest() == digest, "\(name): another state")
        await store.close()
    }
}
