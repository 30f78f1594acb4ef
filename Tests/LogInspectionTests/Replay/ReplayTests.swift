import EDM
import ODataWire
import OperationLog
import Operations
import SyncCore
import TestSupport
import Testing

@testable import LogInspection
@testable import OfflineStore

struct ReplayTests {
    private func steps(_ replay: Replay) throws -> [Replay.Step] {
        var steps: [Replay.Step] = []
        while let step = try replay.next() { steps.append(step) }
        return steps
    }

    @Test func `after each record, a replay has the state of the store`() async throws {
        let shop = try await ReplayedShop()
        try await shop.session()
        let replay = try Replay(shop.inspected, keepsDigests: true)
        #expect(replay.origin == .beginning)
        for step in try steps(replay) {
            let past = try await shop.inspected.past(at: .sequence(step.entry.sequence))
            #expect(try await past.store.digest() == step.digest?.description, "operation \(step.entry.sequence)")
        }
        #expect(try await replay.digest().description == shop.store.digest())
    }

    @Test func `a replay that starts with a snapshot has the same states`() async throws {
        let shop = try await ReplayedShop(options: .init(snapshots: .manual))
        try await shop.create("Customers", ["Name": .string("Ada")])
        let snapshot = try await shop.store.writeSnapshot()
        try await shop.session()
        let whole = try Replay(shop.inspected, from: snapshot.sequence - 1, origin: .beginning, keepsDigests: true)
        let short = try Replay(shop.inspected, from: snapshot.sequence - 1, keepsDigests: true)
        #expect(short.origin == .snapshot(snapshot.sequence))
        #expect(try steps(short).map(\.digest) == steps(whole).map(\.digest))
    }

    @Test(arguments: ["v2", "v4"])
    func `a replay builds the same batches`(_ dialect: String) async throws {
        let shop = try await ReplayedShop(dialect)
        try await shop.session()
        let batches = try steps(Replay(shop.inspected)).compactMap(\.batch)
        let sent = shop.transport.requests.filter { $0.url.hasSuffix("$batch") }.map(\.body)
        #expect(batches.map(\.comparison) == [.identical, .identical, .identical])
        #expect(batches.map(\.bytes) == sent)
    }

    @Test func `a replay builds the same batches with request identifiers`() async throws {
        var service = ServiceOptions()
        service.repeatability = .oasis
        let shop = try await ReplayedShop(options: .init(service: service))
        try await shop.session()
        let batches = try steps(Replay(shop.inspected)).compactMap(\.batch)
        #expect(batches.map(\.comparison) == [.identical, .identical, .identical])
        #expect(batches.map(\.bytes) == shop.transport.requests.filter { $0.url.hasSuffix("$batch") }.map(\.body))
    }

    @Test func `a batch is built with the service options of its time`() async throws {
        var service = ServiceOptions()
        service.supportsPatch = false
        let shop = try await ReplayedShop(options: .init(service: service))
        try await shop.session()
        let batches = try steps(Replay(shop.inspected)).compactMap(\.batch)
        #expect(!batches.isEmpty)
        #expect(batches.allSatisfy { $0.comparison == .identical })
    }

    @Test func `a step of a replay lists the changes of its record`() async throws {
        let shop = try await ReplayedShop()
        let before = try shop.inspected.sequence(at: .sequence(.max))
        try await shop.update("Customers(1)", ["Name": .string("Eve")])
        let step = try #require(try Replay(shop.inspected, from: before, keepsDigests: true).next())
        guard step.changes.count == 2, case .operation(before + 1, from: nil, to: .pending) = step.changes[0],
            case .entity(let from?, let to?) = step.changes[1]
        else {
            Issue.record("\(step.changes)")
            return
        }
        #expect(from.values["Name"] == .string("Ada Lovelace"))
        #expect(to.values["Name"] == .string("Eve"))
    }

    // MARK: Checks

    @Test func `a check of an intact log with snapshots finds no divergence`() async throws {
        let shop = try await ReplayedShop(options: .init(snapshots: .manual))
        let snapshot = try await shop.store.writeSnapshot()
        try await shop.session()
        let check = try await shop.inspected.checkReplay()
        #expect(check.isSound)
        #expect(check.snapshots == [snapshot.sequence])
        #expect(check.identicalBatches == 3)
        #expect(try await check.digest.description == shop.store.digest())
    }

    @Test func `a different state of another replay is reported with its operation`() async throws {
        let shop = try await ReplayedShop()
        try await shop.session()
        var others = try steps(Replay(shop.inspected, keepsDigests: true)).compactMap { step in
            step.digest.map { (record: step.entry.sequence, digest: $0) }
        }
        #expect(try await shop.inspected.checkReplay(against: others).isSound)
        let digest = try #require(StateDigest("0123456789abcdef"))
        others[9].digest = digest
        #expect(
            try await shop.inspected.checkReplay(against: others).divergence
                == .other(record: others[9].record, digest: digest))
    }

    @Test func `another replay that continues after the end is reported`() async throws {
        let shop = try await ReplayedShop()
        try await shop.session()
        let last = try shop.inspected.sequence(at: .sequence(.max))
        let digest = try #require(StateDigest("0123456789abcdef"))
        let check = try await shop.inspected.checkReplay(against: [
            (record: last + 2, digest), (record: last + 1, digest),
        ])
        #expect(check.divergence == .ended(record: last + 1))
        #expect(!check.isSound)
    }

    /// The snapshot contains the state of another store.
    @Test func `a snapshot with another state than that of the records is reported`() async throws {
        let sample = try SampleLog()
        let state = WorkingSet()
        var fold = try Fold(storage: state)
        for number in 1...4 as ClosedRange<UInt64> {
            let body = Record.Body.definingQueryAdded(DefiningQuery(name: "q\(number)", query: "Customers"))
            try sample.append(body)
            let other = Record.Body.definingQueryAdded(DefiningQuery(name: "other\(number)", query: "Customers"))
            try fold.apply(Record(time: SampleLog.time, body: other), sequence: number)
        }
        _ = try sample.log.writeSnapshot { writer in
            try fold.writeSnapshot { try writer.add(kind: $0, payload: $1) }
        }
        let check = try await InspectedStore(directory: sample.directory.path).checkReplay()
        #expect(check.divergence == .snapshot(5))
        #expect(!check.isSound)
    }

    @Test func `a batch that was sent with other bytes is reported`() async throws {
        let shop = try await ReplayedShop()
        try await shop.session()
        let forged = try SampleLog()
        try LogReader(directory: shop.store.files.log).forEach { record in
            var decoded = try RecordCodec.decode(kind: record.kind, payload: record.payload)
            if case .batchPrepared(var prepared) = decoded.body, prepared.batch == 2 {
                prepared.fingerprint?.digest[0] ^= 1
                decoded.body = .batchPrepared(prepared)
            }
            try forged.log.append([RecordCodec.encode(decoded)])
        }
        let check = try await InspectedStore(directory: forged.directory.path).checkReplay()
        #expect(check.identicalBatches == 2)
        #expect(check.differentBatches.map(\.batch.batch) == [2])
        #expect(!check.isSound)
    }

    // MARK: Invalid input

    @Test func `a replay without a log is an error`() {
        #expect { try Replay(InspectedStore(directory: "/nonexistent")) } throws: {
            ($0 as? TidelogError)?.code == .noStore
        }
    }

    // MARK: Damage

    @Test func `a damaged log is replayed as far as it can be read`() async throws {
        let sample = try SampleLog(segmentSize: 8_192, runSize: 512)
        for number in 1...400 as ClosedRange<UInt64> { try sample.append(create(number, "Customers")) }
        sample.log.close()
        try sample.damage(sample.segment(1), at: 3_000)
        let replay = try Replay(InspectedStore(directory: sample.directory.path), keepsDigests: true)
        let steps = try steps(replay)
        #expect(steps.map(\.entry.sequence) == Array(1...400))
        let lost = steps.filter { $0.entry.record.body == .lost }.map(\.entry.sequence)
        #expect(lost == replay.salvage?.lost.ranges.flatMap(Array.init))
        #expect(!lost.isEmpty)
        // A replay that starts after the damage has the same states.
        let late = try Replay(InspectedStore(directory: sample.directory.path), from: 350, keepsDigests: true)
        #expect(try self.steps(late).map(\.digest) == steps.dropFirst(350).map(\.digest))
    }

    @Test func `a damaged snapshot is skipped and reported`() async throws {
        let shop = try await ReplayedShop(options: .init(snapshots: .manual))
        let snapshot = try await shop.store.writeSnapshot()
        try await shop.session()
        let file = try #require(
            TemporaryDirectory.files(shop.directory.path).first { $0.hasSuffix("\(snapshot.sequence).snapshot") })
        var bytes = try #require(TemporaryDirectory.read(file))
        bytes[bytes.count / 2] ^= 0x55
        TemporaryDirectory.write(bytes, to: file)
        let check = try await shop.inspected.checkReplay()
        #expect(check.isSound && check.isDamaged)
        #expect(check.lostRecords == 0)
        #expect(check.snapshots == [])
        #expect(try Replay(shop.inspected, from: snapshot.sequence).origin == .beginning)
    }

    /// Returns a copy of the shop's log in which a record is lost, as after a repair, with an optional snapshot.
    private func repaired(
        _ shop: ReplayedShop, without lost: (Record.Body) -> Bool, snapshotBehind place: SequenceNumber? = nil
    ) throws -> (sample: SampleLog, lost: SequenceNumber) {
        let sample = try SampleLog()
        let state = WorkingSet()
        var fold = try Fold(storage: state)
        var first: SequenceNumber = 0
        try LogReader(directory: shop.store.files.log).forEach { record in
            let decoded = try RecordCodec.decode(kind: record.kind, payload: record.payload)
            try fold.apply(decoded, sequence: record.sequence)
            if first == 0, lost(decoded.body) {
                first = record.sequence
                try sample.log.append([(kind: LogRepair.lostKind, payload: [])])
            } else {
                try sample.log.append([RecordCodec.encode(decoded)])
            }
            guard record.sequence == place else { return }
            try fold.finishRebase()
            _ = try sample.log.writeSnapshot { writer in
                try fold.writeSnapshot { try writer.add(kind: $0, payload: $1) }
            }
        }
        return (sample, first)
    }

    @Test func `after lost records, a replay starts again with the next snapshot`() async throws {
        let shop = try await ReplayedShop()
        try await shop.session()
        let last = try shop.inspected.sequence(at: .sequence(.max))
        let (sample, lost) = try repaired(
            shop,
            without: { if case .batchAnswered = $0 { true } else { false } }, snapshotBehind: last - 2)
        let store = InspectedStore(directory: sample.directory.path)
        let replay = try Replay(store, keepsDigests: true)
        for step in try steps(replay) {
            let past = try await store.past(at: .sequence(step.entry.sequence))
            #expect(try await past.store.digest() == step.digest?.description, "operation \(step.entry.sequence)")
        }
        #expect(lost > 0)
        #expect(try await replay.digest().description == shop.store.digest())
        let check = try await store.checkReplay()
        #expect(check.divergence == nil)
    }

    @Test func `states after lost records are not compared with those of another replay`() async throws {
        let shop = try await ReplayedShop()
        try await shop.session()
        let others = try steps(Replay(shop.inspected, keepsDigests: true)).compactMap { step in
            step.digest.map { (record: step.entry.sequence, digest: $0) }
        }
        let (sample, lost) = try repaired(shop, without: { if case .batchAnswered = $0 { true } else { false } })
        let check = try await InspectedStore(directory: sample.directory.path).checkReplay(against: others)
        #expect(check.divergence == nil)
        #expect(check.comparedStates == Int(lost) - 1)
        #expect(check.incomparableStates == others.count - Int(lost) + 1)
    }

    @Test func `a batch with a lost operation cannot be built`() async throws {
        let shop = try await ReplayedShop()
        try await shop.session()
        let (sample, lost) = try repaired(shop, without: { if case .operation = $0 { true } else { false } })
        let check = try await InspectedStore(directory: sample.directory.path).checkReplay()
        let first = try #require(check.differentBatches.first)
        #expect(
            first.batch.comparison
                == .unbuildable("Operation \(lost), which the batch contains, is not known: records are lost."))
        #expect(!check.differentBatches.contains { $0.batch.comparison == .different })
        #expect(!check.isSound)
    }
}
