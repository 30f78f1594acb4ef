import DiskSimulation
import EDM
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing

@testable import SyncEngine

/// The disk of the views fails or stops at each of its writes, while the log's works: what the app is told is what the log says,
/// and the views come to say it too.
struct FlushFaultTests {
    /// A store on two simulated disks, with everything downloaded.
    private struct Disks {
        let files: StoreFiles
        let log: SimulatedDisk
        let views: SimulatedDisk

        func copy() -> Disks { Disks(files: files, log: log.copy(), views: views.copy()) }

        /// - Parameter boot: the run of the machine.
        func open(
            _ mount: DiskMount, boot: String = "Monday", flushLimit: Int? = nil
        ) async throws -> LocalStore {
            var options = LocalStore.Options()
            options.disk = .simulated(log, views: SimulatedViews(views, root: mount.root, boot: boot))
            options.flushLimit = flushLimit
            return try await LocalStore(files, options: options)
        }

        static func prepared() async throws -> Disks {
            let (log, views) = (SimulatedDisk(), SimulatedDisk())
            let mount = DiskMount(views)
            var options = LocalStore.Options()
            options.disk = .simulated(log, views: SimulatedViews(views, root: mount.root, boot: "Monday"))
            let shop = try await Shop(.v4, options: options)
            await shop.store.close()
            return Disks(files: shop.store.files, log: log.copy(), views: views.copy())
        }

        /// The records of the log, folded by themselves.
        func measure() throws -> (digest: String, tags: Set<String>) {
            var fold = try Fold(storage: WorkingSet())
            var tags: Set<String> = []
            let reader = try LogReader(directory: files.log, fileSystem: log.copy())
            try reader.forEach { record in
                let decoded = try ViewsOpening.decoded(record, RecordDecoder())
                if case .operation(let operation) = decoded.body, let tag = operation.customTag { tags.insert(tag) }
                try fold.apply(decoded, sequence: record.sequence)
            }
            try fold.settle()
            return (try StateDigest(of: fold.storage).description, tags)
        }
    }

    /// What an app does, and what it was told of it.
    private struct App {
        var acknowledged: [String] = []
        var refused: [String] = []

        private mutating func perform(_ intent: Intent, _ tag: String, _ store: LocalStore) async -> IntentResult? {
            do {
                let results = try await store.perform([(intent, IntentOptions(customTag: tag))], asChangeSet: false)
                acknowledged.append(tag)
                return results.first
            } catch {
                refused.append(tag)
                return nil
            }
        }

        private func draft(_ number: Int, _ set: String, _ name: String) -> EntityDraft {
            EntityDraft(number: number, set: set, type: "Shop.\(set.dropLast())", values: [name: .string("x")])
        }

        mutating func work(on store: LocalStore) async {
            let created = await perform(.create(draft(0, "Customers", "Name"), in: nil), "create", store)
            if let link = created?.entities[0]?.readLink {
                var order = draft(1, "Orders", "Note")
                order.bindings = [bind("Customer", link)]
                _ = await perform(.create(order, in: nil), "order", store)
            }
            _ = await perform(update("Customers(1)", ["Name": .string("new")]), "update", store)
            // A rule forbids it, or the disk does.
            _ = try? await store.perform(
                [(update("Customers(999)", ["Name": .string("none")]), IntentOptions(customTag: "none"))],
                asChangeSet: false)
            _ = await perform(.delete(.link("Orders(1)")), "delete", store)
        }
    }

    /// The ways in which the disk of the views fails.
    private static let ways: [(fault: SimulatedDisk.Fault, isForEver: Bool)] = [
        (.crash, true), (.full, false), (.full, true), (.refuse, false), (.refuse, true),
    ]

    private func calls(_ base: Disks, _ flushLimit: Int?) async throws -> Int {
        let disks = base.copy()
        let mount = DiskMount(disks.views)
        let store = try await disks.open(mount, flushLimit: flushLimit)
        let before = disks.views.calls
        var app = App()
        await app.work(on: store)
        #expect(app.refused == [] && app.acknowledged.count == 4)
        let calls = disks.views.calls - before
        await store.close()
        return calls
    }

    @Test(arguments: [nil, 1, 7])
    func `whichever write of the views fails, the log and the views say what the app was told`(
        _ flushLimit: Int?
    ) async throws {
        let base = try await Disks.prepared()
        var (refused, points) = (0, 0)
        for call in 0..<(try await calls(base, flushLimit)) {
            let (fault, isForEver) = Self.ways[call % Self.ways.count]
            let name = "flush after \(flushLimit ?? 0), call \(call), \(fault)\(isForEver ? " for ever" : "")"
            let disks = base.copy()
            let mount = DiskMount(disks.views)
            let store = try await disks.open(mount, flushLimit: flushLimit)
            disks.views.fail(atCall: disks.views.calls + call, fault, forEver: isForEver)
            var app = App()
            await app.work(on: store)
            let (digest, tags) = try disks.measure()
            #expect(tags == Set(app.acknowledged), "\(name): the log has \(tags)")
            #expect(Set(app.refused).isDisjoint(with: tags), "\(name)")
            // It says nothing, or the right thing.
            if let found = try? await store.digest() { #expect(found == digest, "\(name): wrong while the disk fails") }
            if fault != .crash {
                disks.views.fail(atCall: .max, .crash)
                #expect(try await store.digest() == digest, "\(name): not what the log says, when the disk works again")
            }
            try await expect(digest, of: disks, boot: "Monday", "\(name), the process ended")
            await store.close()
            try await expect(digest, of: disks, boot: "Monday", "\(name), closed")
            try await expect(digest, of: disks, boot: "Tuesday", "\(name), after another start of the machine")
            refused += app.refused.count
            points += 1
        }
        print("refused writes of the views, flush after \(flushLimit ?? 0): \(points), \(refused) calls refused")
    }

    /// What a process finds that opens the store next.
    private func expect(_ digest: String, of disks: Disks, boot: String, _ name: String) async throws {
        let disks = disks.copy()
        let mount = DiskMount(disks.views)
        let store = try await disks.open(mount, boot: boot)
        #expect(try await store.digest() == digest, "\(name): another state")
        await store.close()
    }
}
