import EDM
import Operations
import SeededRandom
@testable import SyncCore
import Testing

struct SnapshotCodecTests {
    private static func id(_ number: UInt64) -> EntityID { EntityID(rawValue: number) }

    private static let row = EntityRow(
        id: id(7), set: "Orders", type: "Shop.Order", values: ["OrderID": .integer(5), "Note": .null], etag: "\"1\"",
        editLink: "Orders(5)", origin: .serviceWithStaleETag)

    private static func operation(
        _ status: PendingOperation.Status, transactionID: String? = nil
    ) -> PendingOperation {
        PendingOperation(
            sequence: 12, time: -5,
            operation: Operation(
                .update(id(7), changes: ["Note": .string("ä")], bindings: []), changeSet: 11,
                transactionID: transactionID, baseETag: "\"0\"", customTag: "form",
                headers: [.init(name: "X", value: "y")]),
            status: status)
    }

    private static func attributed(_ status: PendingOperation.Status) -> PendingOperation {
        var pending = operation(status, transactionID: "T")
        pending.operation.isUnmodifiable = true
        pending.operation.uploadCategory = .entity(id(7))
        pending.operation.delivery = .draft
        pending.operation.headerTemplates = [.init(name: "X", parts: [.key(id(7), property: "OrderID")])]
        return pending
    }

    private static func pending(
        _ status: PendingOperation.Status, transactionID: String? = nil
    ) -> SnapshotItem { .pending(operation(status, transactionID: transactionID)) }

    private static let refusal = Refusal(
        status: 409, code: "c", message: "m", innerError: "{}", method: "POST", url: "Orders")

    private static let sent = Refusal(
        status: 409, code: "c", message: "m", innerError: "{}", method: "POST", url: "Orders", requestBody: "{}")

    private static var downloadedRow: EntityRow {
        var row = row
        row.downloaded = 300
        return row
    }

    static let items: [SnapshotItem] = [
        .header(StateHeader(applied: 300, nextEntity: id(9), nextBatch: 4)),
        .header(
            StateHeader(
                applied: 300, nextEntity: id(9), nextBatch: 4,
                postponed: Postponement(
                    UploadPostponed(notBefore: 1_763_000_000_000, attempt: 2, reason: "The service is busy."),
                    since: 1_762_999_999_000), lastDownload: 290)),
        .service(ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array("<edmx/>".utf8))),
        .query(
            QueryState(
                query: DefiningQuery(name: "Q", query: "Orders", automaticallyRetrievesStreams: true), run: 12,
                isComplete: true)),
        .query(
            QueryState(
                query: DefiningQuery(name: "D", query: "Orders"), run: 12, isComplete: false, isDelta: true,
                deltaLink: .init(url: "Orders?$deltatoken=1", time: 5),
                next: .init(url: "Orders?$skiptoken=2", time: -6))),
        .query(
            QueryState(
                query: DefiningQuery(name: "E", query: "Orders"), run: 12, isComplete: true,
                deltaLink: .init(url: "Orders?$deltatoken=1", time: 5), downloaded: -7)),
        .events([
            StoreEvent(id: 4, kind: .download, time: -5, subset: ["Q", "D"], mark: 3),
            StoreEvent(id: 9, kind: .upload, time: 6, mark: 9),
        ]),
        .openLinks([
            OpenLink(query: "Q", set: "Orders", source: "Orders(1)", navigation: "Customer", target: "Customers(7)")
        ]),
        .quarantine([
            QuarantineEntry(
                sequence: 4, time: -5,
                entity: QuarantinedEntity(
                    query: "Q", set: "Orders", name: "Orders(1)", entity: EntityID(rawValue: 7), reason: .withoutKey,
                    path: "/ID", message: "No key.", text: "null", hidesOthers: true, count: 3))
        ]),
        .entity(id(.max), set: "Orders"),
        .key("OrderID=5", set: "Orders", of: id(7)),
        .row(row),
        .base(id(7), .row(row)),
        .base(id(8), .absent),
        .link(LinkRow(relationship: "R", first: id(1), second: id(2), inBase: true, inLocal: false)),
        pending(.pending), pending(.inFlight(3)), pending(.inDoubt(3, reason: "cut")),
        pending(.rejected(refusal)), pending(.rejected(sent)), pending(.deferred(refusal, attempts: 1)),
        pending(.deferred(sent, attempts: 7), transactionID: "T"), pending(.inFlight(3), transactionID: "T"),
        pending(.pending, transactionID: ""),
        .undone(UndoneOperation(operation: operation(.pending), undo: 20)),
        .undone(UndoneOperation(operation: operation(.rejected(refusal), transactionID: "T"), undo: .max)),
        .pending(attributed(.rejected(refusal))),
        .undone(UndoneOperation(operation: attributed(.pending), undo: 20)),
        .row(downloadedRow), .base(id(7), .row(downloadedRow)),
        .coverage(query: "Q", id(7), run: 12),
        .pending(
            PendingOperation(
                sequence: 12, time: -5, operation: Operation(.delete(id(7))), status: .inFlight(3), since: .max)),
        .undone(
            UndoneOperation(
                operation: PendingOperation(
                    sequence: 12, time: -5, operation: Operation(.delete(id(7))), status: .pending, since: .min),
                undo: 0)),
        .openBatch(
            OpenBatch(BatchPrepared(batch: 3, changeSets: [[.init(contentID: "1", operation: 12)]]), monitor: "m/3")),
        .openBatch(
            OpenBatch(
                BatchPrepared(
                    batch: 4, changeSets: [[.init(contentID: "1", operation: 12)]],
                    sent: [
                        [
                            .init(
                                contentID: "1", method: "DELETE", url: "Orders(5)",
                                headers: [.init(name: "RequestID", value: "a")], body: [1])
                        ]
                    ]))),
        .openBatch(
            OpenBatch(
                BatchPrepared(
                    batch: 5,
                    changeSets: [
                        [
                            .init(
                                contentID: "1", operation: 12, effect: .create,
                                creates: NewEntity(EntityID(rawValue: 3)))
                        ]
                    ]))),
        .ancestor(
            MergeBase(
                row: row,
                links: [
                    .init(relationship: "R", isFirst: true, partner: id(2)),
                    .init(relationship: "S", isFirst: false, partner: nil),
                ])),
        .streams(
            id(1),
            [
                StreamImage(
                    entity: id(1),
                    content: StreamContent(
                        digest: StreamDigest(Array(0..<32))!, byteCount: 7, mediaType: "image/gif", name: "a"),
                    etag: "e")
            ]),
        .pending(
            PendingOperation(
                sequence: 9, time: 1,
                operation: Operation(
                    .update(id(1), changes: [:], bindings: []), customTag: "t",
                    stream: StreamWrite(property: "S", content: nil)), status: .pending)),
        .undone(
            UndoneOperation(
                operation: PendingOperation(
                    sequence: 9, time: 1,
                    operation: Operation(
                        .update(id(1), changes: [:], bindings: []), stream: StreamWrite(property: "S", content: nil)),
                    status: .pending), undo: 12)),
        .pending(
            PendingOperation(
                sequence: 10, time: 1,
                operation: Operation(
                    .update(id(1), changes: ["Note": .string("x")], bindings: []), customTag: "t",
                    call: ActionCall("Shop.Call", on: .entity(id(1)), [.init("a", .value(.integer(1)))])),
                status: .pending)),
        .undone(
            UndoneOperation(
                operation: PendingOperation(
                    sequence: 11, time: 1,
                    operation: Operation(.update(.unbound, changes: [:], bindings: []), call: ActionCall("Call")),
                    status: .pending), undo: 12)),
        .end(items: 3, digest: store.digest),
    ]

    /// The snapshot of a small store with entities, links and pending operations.
    private static let store: (records: [(kind: UInt8, payload: [UInt8])], digest: StateDigest) = {
        do {
            let store = try TestStore()
            let customer = try store.download("Customers", ["CustomerID": .integer(1)], etag: "1")
            let order = try store.create("Orders", ["Note": .string("x")])
            try store.perform([.createLink(link(customer, "Orders", order))])
            try store.perform([.update(customer, changes: ["Name": .string("Ada")], bindings: [])])
            return try snapshot(store.state)
        } catch {
            fatalError("\(error)")
        }
    }()

    private static func snapshot(
        _ state: WorkingSet
    ) throws -> (records: [(kind: UInt8, payload: [UInt8])], digest: StateDigest) {
        var records: [(kind: UInt8, payload: [UInt8])] = []
        let digest = try Fold(storage: state).writeSnapshot { records.append(($0, $1)) }
        return (records, digest)
    }

    private func restore(_ records: [(kind: UInt8, payload: [UInt8])]) throws -> WorkingSet {
        let state = WorkingSet()
        var restoration = StateRestoration(into: state)
        for record in records { try restoration.add(kind: record.kind, payload: record.payload) }
        _ = try restoration.finish()
        return state
    }

    @Test(arguments: items)
    func `every kind of item is decoded as it was encoded`(item: SnapshotItem) throws {
        let (kind, payload) = SnapshotCodec.encode(item)
        #expect(try SnapshotCodec.decode(kind, payload: payload) == item)
    }

    @Test func `the items of this test cover every kind`() {
        #expect(Set(Self.items.map { SnapshotCodec.encode($0).kind }) == Set(SnapshotCodec.ItemKind.allCases))
    }

    @Test(arguments: items)
    func `a truncated item and an item with trailing bytes are refused`(item: SnapshotItem) {
        let (kind, payload) = SnapshotCodec.encode(item)
        for length in payload.indices {
            #expect(throws: CodecError.self) { try SnapshotCodec.decode(kind, payload: Array(payload[..<length])) }
        }
        #expect(throws: CodecError.self) { try SnapshotCodec.decode(kind, payload: payload + [0]) }
    }

    @Test func `a snapshot without one of its records is refused`() {
        for index in Self.store.records.indices {
            var records = Self.store.records
            records.remove(at: index)
            #expect(throws: StateError.self, "without record \(index)") { try restore(records) }
        }
    }

    @Test func `a snapshot with a duplicate record is refused`() {
        for index in Self.store.records.indices {
            var records = Self.store.records
            records.insert(records[index], at: index)
            #expect(throws: StateError.self, "record \(index)") { try restore(records) }
        }
    }

    @Test func `a snapshot of any bytes is restored or refused`() throws {
        let seed: UInt64 = 20_261_121
        var random = SeededRandom(seed: seed)
        var restored = 0
        for round in 0..<1_000 {
            var records = Self.store.records
            for _ in 0...Int.random(in: 0..<3, using: &random) {
                let index = Int.random(in: records.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: records[index].kind = UInt8.random(in: 0...70, using: &random)
                case 1: records.swapAt(index, Int.random(in: records.indices, using: &random))
                case 2: records[index].payload = Array(records[index].payload.dropLast(1))
                default:
                    guard !records[index].payload.isEmpty else { continue }
                    let place = Int.random(in: records[index].payload.indices, using: &random)
                    records[index].payload[place] = UInt8.random(in: 0...255, using: &random)
                }
            }
            guard let state = try? restore(records) else { continue }
            restored += 1
            #expect(try StateDigest(of: state) == Self.store.digest, "seed \(seed), round \(round)")
        }
        // Some changes restore the original bytes.
        #expect(restored < 100, "seed \(seed)")
    }

    @Test func `random items are decoded or refused`() {
        let seed: UInt64 = 7
        var random = SeededRandom(seed: seed)
        for _ in 0..<20_000 {
            let kind = SnapshotCodec.ItemKind.allCases.randomElement(using: &random)!
            let payload = (0..<Int.random(in: 0..<40, using: &random)).map { _ in UInt8(random.next() % 24) }
            if let item = try? SnapshotCodec.decode(kind, payload: payload) {
                #expect(SnapshotCodec.encode(item).kind == kind, "seed \(seed)")
            }
        }
    }

    @Test func `an item that is too long for a record is split`() throws {
        let store = try TestStore()
        let text = String(repeating: "Tide ", count: 2_000_000)
        try store.download("Customers", ["CustomerID": .integer(1), "Name": .string(text)])
        let (records, digest) = try Self.snapshot(store.state)
        #expect(records.allSatisfy { $0.payload.count <= 4 << 20 })
        #expect(try StateDigest(of: restore(records)) == digest)
    }

    @Test(arguments: [false, true])
    func `records that are slices of a buffer lead to the same state`(_ isSplit: Bool) throws {
        func slice(_ bytes: some Sequence<UInt8>) -> ArraySlice<UInt8> {
            ([1, 2, 3] + bytes + [4])[...].dropFirst(3).dropLast()
        }
        var restoration = StateRestoration(into: WorkingSet())
        for record in Self.store.records {
            let half = isSplit ? record.payload.count / 2 : 0
            if isSplit {
                try restoration.add(kind: SnapshotCodec.pieceKind, payload: slice(record.payload.prefix(half)))
            }
            try restoration.add(kind: record.kind, payload: slice(record.payload.dropFirst(half)))
        }
        #expect(try restoration.finish().digest == Self.store.digest)
    }

    @Test(arguments: [
        ("At=dateTimeOffset(2026-01-01T10:00:00.50+02:00)", "At=dateTimeOffset(2026-01-01T08:00:00.5Z)"),
        ("#12(Name='it''s',At=timeOfDay(08:00:00.0))", "#12(Name='it''s',At=timeOfDay(08:00:00))"),
        ("At=dateTime(2026-01-01T08:00:00.0),Day=2", "At=dateTime(2026-01-01T08:00:00),Day=2"),
        ("Name='At=timeOfDay(08:00:00.0)'", "Name='At=timeOfDay(08:00:00.0)'"),
        ("Name=':),=('':(='", "Name=':),=('':(='"), ("At=dateTime(8:00)", "At=dateTime(8:00)"), (":='=(:", ":='=(:"),
    ])
    func `entities are found by a key that an earlier version wrote with another notation of a time`(
        former: String, current: String
    ) throws {
        let state = try TestStore().state
        let id = EntityID(rawValue: 7)
        try state.register(id, set: "Customers")
        try state.assignKey(set: "Customers", key: former, to: id)
        let (records, digest) = try Self.snapshot(state)
        let restored = WorkingSet()
        var restoration = StateRestoration(into: restored)
        for record in records { try restoration.add(kind: record.kind, payload: record.payload) }
        #expect(try restoration.finish().digest == digest)
        #expect(try restored.entity(set: "Customers", key: current) == id)
        #expect(try former == current || restored.entity(set: "Customers", key: former) == nil)
    }

    @Test(arguments: [12, 13, .max] as [SequenceNumber])
    func `an operation after the end of a snapshot is refused, because its number may have no successor`(
        _ sequence: SequenceNumber
    ) throws {
        var pending = Self.operation(.pending)
        pending.sequence = sequence
        for item in [SnapshotItem.pending(pending), .undone(UndoneOperation(operation: pending, undo: 12))] {
            var decoder = SnapshotDecoder()
            func add(_ item: SnapshotItem) throws -> SnapshotItem? {
                let (kind, payload) = SnapshotCodec.encode(item)
                return try decoder.add(kind: kind.rawValue, payload: payload)
            }
            _ = try add(.header(StateHeader(applied: 12)))
            if sequence == 12 {
                #expect(try add(item) == item)
            } else {
                #expect(throws: StateError.self) { try add(item) }
            }
        }
    }

    @Test func `a snapshot after which no record can follow is refused`() throws {
        let (kind, payload) = SnapshotCodec.encode(.header(StateHeader(applied: .max)))
        var decoder = SnapshotDecoder()
        #expect(throws: StateError.self) { try decoder.add(kind: kind.rawValue, payload: payload) }
    }

    @Test func `unterminated pieces use a bounded amount of memory`() {
        let piece = [UInt8](repeating: 0, count: 16 << 20)
        var decoder = SnapshotDecoder()
        #expect(throws: StateError.self) {
            for _ in 0..<8 { _ = try decoder.add(kind: SnapshotCodec.pieceKind, payload: piece) }
        }
    }

    @Test func `a snapshot whose metadata cannot be parsed is refused`() {
        var records = Self.store.records
        let service = ServiceDescription(root: "http://127.0.0.1/", metadata: Array("<edmx".utf8))
        records[1].payload = SnapshotCodec.encode(.service(service)).payload
        #expect(throws: StateError.self) { try restore(records) }
    }
}
