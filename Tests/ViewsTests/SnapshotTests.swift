import EDM
import Operations
import SyncCore
import Testing
import Views

/// A snapshot contains the complete state: the restored state equals the written one.
struct SnapshotTests {
    typealias Written = (records: [(kind: UInt8, payload: [UInt8])], digest: StateDigest)

    static let seeds: [UInt64] = Array(1...12)

    private func written(_ fold: Fold) throws -> Written {
        var records: [(kind: UInt8, payload: [UInt8])] = []
        let digest = try fold.writeSnapshot { records.append(($0, $1)) }
        return (records, digest)
    }

    private func bytes(_ written: Written) -> [[UInt8]] { written.records.map { [$0.kind] + $0.payload } }

    private func restore(_ written: Written, into storage: WorkingSet) throws -> Fold {
        var restoration = StateRestoration(into: storage)
        for record in written.records { try restoration.add(kind: record.kind, payload: record.payload) }
        #expect(try restoration.finish().digest == written.digest)
        return try Fold(storage: storage)
    }

    private static func records(_ seed: UInt64, _ count: Int = 250) -> [Record] {
        var random = RandomRecords(seed: seed)
        return (0..<count).map { _ in random.next() }
    }

    private func folded(
        _ records: ArraySlice<Record>, _ storage: WorkingSet, from first: SequenceNumber = 1
    ) throws -> Fold {
        var fold = try Fold(storage: storage)
        for (index, record) in records.enumerated() {
            try fold.apply(record, sequence: first + UInt64(index))
            try fold.finishRebase()
        }
        return fold
    }

    @Test(arguments: seeds)
    func `a restored state, in memory or in SQLite, writes the same snapshot`(_ seed: UInt64) throws {
        let original = try written(folded(Self.records(seed)[...], WorkingSet()))
        let comment: Comment = "seed \(seed)"
        let memory = try restore(original, into: WorkingSet())
        #expect(bytes(try written(memory)) == bytes(original), comment)
        let file = ViewsFile()
        let state = try file.openState()
        let views = try state.transaction { try restore(original, into: state) }
        #expect(bytes(try written(views)) == bytes(original), comment)
        #expect(try StateDigest(of: state) == original.digest, comment)
    }

    @Test(arguments: seeds)
    func `views write the same snapshot as the state in memory`(_ seed: UInt64) throws {
        let records = Self.records(seed)
        let file = ViewsFile()
        let state = try file.openState()
        let views = try state.transaction { try folded(records[...], state) }
        let memory = try written(folded(records[...], WorkingSet()))
        #expect(bytes(try written(views)) == bytes(memory), "seed \(seed)")
    }

    @Test(arguments: seeds)
    func `a state that continues from a snapshot equals one that was never restored`(_ seed: UInt64) throws {
        let records = Self.records(seed)
        var random = RandomRecords(seed: seed &+ 5_000)
        let cut = random.number(1..<records.count)
        let snapshot = try written(folded(records[..<cut], WorkingSet()))
        var fold = try restore(snapshot, into: WorkingSet())
        for (index, record) in records.enumerated().dropFirst(cut) {
            try fold.apply(record, sequence: SequenceNumber(index + 1))
            try fold.finishRebase()
        }
        let whole = try folded(records[...], WorkingSet())
        #expect(bytes(try written(fold)) == bytes(try written(whole)), "seed \(seed), cut behind record \(cut)")
    }

    private static let everything: Set<String> = [
        "header", "service", "query", "entity", "key", "coverage", "end", "row local", "row service",
        "row gone", "row serviceWithStaleETag", "base row", "base absent", "link true true",
        "link true false", "link false true", "pending pending", "pending inFlight", "pending inDoubt",
        "pending rejected", "pending deferred", "postponed", "since", "undone pending", "undone rejected",
        "undone inDoubt", "ancestor", "pending with attributes", "undone with attributes", "openBatch", "lastDownload",
        "streams", "pending with stream", "undone with stream", "query with deltaLink", "query with next",
        "delta query", "downloaded query", "events", "openLinks", "quarantine",
        "downloaded row", "downloaded base",
    ]

    @Test func `the random states contain everything that a snapshot can contain`() throws {
        // Some items are rare. If the seeds of the other tests do not produce them, further seeds do.
        var found: Set<String> = []
        for seed: UInt64 in 1...300 where !found.isSuperset(of: Self.everything) {
            var decoder = SnapshotDecoder()
            let written = try written(folded(Self.records(seed)[...], WorkingSet()))
            for record in written.records {
                switch try decoder.add(kind: record.kind, payload: record.payload) {
                case .header(let header):
                    found.insert("header")
                    if header.postponed != nil { found.insert("postponed") }
                    if header.lastDownload != 0 { found.insert("lastDownload") }
                case .pending(let pending):
                    if pending.since != pending.time { found.insert("since") }
                    found.insert("pending \("\(pending.status)".prefix { $0 != "(" })")
                    if pending.operation.uploadCategory != nil { found.insert("pending with attributes") }
                    if pending.operation.stream != nil { found.insert("pending with stream") }
                case .undone(let undone):
                    found.insert("undone \("\(undone.operation.status)".prefix { $0 != "(" })")
                    if undone.operation.operation.uploadCategory != nil { found.insert("undone with attributes") }
                    if undone.operation.operation.stream != nil { found.insert("undone with stream") }
                case .base(_, let base):
                    found.insert("base \("\(base)".prefix { $0 != "(" })")
                    if case .row(let row) = base, row.downloaded != 0 { found.insert("downloaded base") }
                case .query(let query):
                    found.insert("query")
                    if query.deltaLink != nil { found.insert("query with deltaLink") }
                    if query.next != nil { found.insert("query with next") }
                    if query.downloaded != nil { found.insert("downloaded query") }
                    if query.isDelta { found.insert("delta query") }
                case .link(let link): found.insert("link \(link.inBase) \(link.inLocal)")
                case .row(let row):
                    found.insert("row \(row.origin)")
                    if row.downloaded != 0 { found.insert("downloaded row") }
                case let item?: found.insert("\("\(item)".prefix { $0 != "(" })")
                case nil: break
                }
            }
        }
        #expect(found == Self.everything)
    }
}
