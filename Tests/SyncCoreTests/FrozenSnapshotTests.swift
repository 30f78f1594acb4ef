import EDM
import Operations
@testable import SyncCore
import Testing

/// The items of snapshots in the bytes of format version 1: for each kind one without optional fields and one with all
/// of them.
///
/// Never change the bytes. A new field is added to a new example.
@Suite struct FrozenSnapshotTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let name: String
        let kind: SnapshotCodec.ItemKind
        let item: SnapshotItem

        /// The payload in format version 1.
        var hex: String { Self.payloads[name] ?? "missing" }
        var testDescription: String { name }

        init(_ name: String, _ kind: SnapshotCodec.ItemKind, _ item: SnapshotItem) {
            self.name = name
            self.kind = kind
            self.item = item
        }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(arguments: examples)
    func `the bytes of an item of version 1 are written and read`(example: Example) throws {
        let (kind, payload) = SnapshotCodec.encode(example.item)
        #expect(kind == example.kind)
        #expect(Self.hex(payload) == example.hex, "FROZEN \(example.name)")
        #expect(try SnapshotCodec.decode(example.kind, payload: Self.bytes(example.hex)) == example.item)
    }

    @Test func `there is a frozen item of each kind`() {
        #expect(Set(Self.examples.map(\.kind)) == Set(SnapshotCodec.ItemKind.allCases))
        #expect(SnapshotCodec.ItemKind.allCases.map(\.rawValue) == Array(1...15))
    }

    @Test(arguments: examples)
    func `an item with an unknown field that must not be ignored is refused`(example: Example) throws {
        let payload = Self.bytes(example.hex).dropLast()
        let error = #expect(throws: CodecError.self) {
            try SnapshotCodec.decode(example.kind, payload: payload + [252, 1, 0])
        }
        #expect(error?.reason == .unknownField)
    }

    @Test func `default values are refused`() {
        // No last download; a query that is not complete; no download of a row; the time of the operation; no events.
        let refused: [(SnapshotCodec.ItemKind, [UInt8])] = [
            (.header, [1, 1, 1, 4, 0, 0]), (.query, [1, 81, 0, 0, 0, 4, 0, 0]),
            (.row, [1, 1, 65, 1, 65, 0, 0, 12, 0, 0]), (.operation, [1, 8, 3, 7, 0, 0, 4, 8, 0]), (.list, [0, 0, 0]),
        ]
        for (kind, payload) in refused {
            #expect(throws: CodecError.self, "\(kind)") { try SnapshotCodec.decode(kind, payload: payload) }
        }
        // The same with other values.
        let valid: [(SnapshotCodec.ItemKind, [UInt8])] = [
            (.header, [1, 1, 1, 4, 1, 0]), (.query, [1, 81, 0, 0, 0, 4, 1, 0]),
            (.row, [1, 1, 65, 1, 65, 0, 0, 12, 1, 0]), (.operation, [1, 8, 3, 7, 0, 0, 4, 6, 0]), (.list, [1, 0, 0]),
        ]
        for (kind, payload) in valid {
            #expect(throws: Never.self, "\(kind)") { try SnapshotCodec.decode(kind, payload: payload) }
        }
    }

    // MARK: Examples

    private static func id(_ number: UInt64) -> EntityID { EntityID(rawValue: number) }

    private static let row = EntityRow(
        id: id(7), set: "Orders", type: "S.Order", values: ["ID": .integer(5)], origin: .local)
    private static let fullRow = EntityRow(
        id: id(300), set: "Orders", type: "S.Order", values: ["ID": .integer(5), "Note": .null], etag: "\"1\"",
        editLink: "Orders(5)", origin: .serviceWithStaleETag, downloaded: 290)
    private static let refusal = Refusal(
        status: 409, code: "c", message: "m", innerError: "{}", method: "POST", url: "Orders", requestBody: "{}")

    private static func pending(
        _ status: PendingOperation.Status, _ operation: Operation = Operation(.delete(id(7))), since: Timestamp? = nil
    ) -> PendingOperation {
        PendingOperation(sequence: 12, time: -5, operation: operation, status: status, since: since)
    }

    private static let attributed = Operation(
        .update(id(7), changes: ["Note": .string("ä")], bindings: []), changeSet: 11, transactionID: "T",
        baseETag: "\"0\"", customTag: "form", isUnmodifiable: true, uploadCategory: .entity(id(7)), delivery: .draft)

    static let examples: [Example] = [
        Example("header", .header, .header(StateHeader(applied: 300, nextEntity: id(9), nextBatch: 4))),
        Example(
            "header with all fields", .header,
            .header(
                StateHeader(
                    applied: 300, nextEntity: id(9), nextBatch: 4,
                    postponed: Postponement(
                        UploadPostponed(notBefore: 1_770_000_000_000, attempt: 2, reason: "busy"),
                        since: 1_769_999_999_000), lastDownload: 290))),
        Example(
            "service", .service,
            .service(ServiceDescription(root: "http://127.0.0.1/", metadata: Array("<edmx/>".utf8)))),
        Example("query", .query, .query(QueryState(query: DefiningQuery(name: "Q", query: "Orders")))),
        Example(
            "query with all fields", .query,
            .query(
                QueryState(
                    query: DefiningQuery(name: "Q", query: "Orders", automaticallyRetrievesStreams: true), run: 300,
                    isComplete: true, isDelta: true, deltaLink: .init(url: "Orders?$deltatoken=1", time: 5),
                    next: .init(url: "Orders?$skiptoken=2", time: -6), downloaded: -7))),
        Example("entity", .entity, .entity(id(300), set: "Orders")),
        Example("key", .key, .key("ID=5", set: "Orders", of: id(7))),
        Example("row", .row, .row(row)),
        Example("row with all fields", .row, .row(fullRow)),
        Example("base: absent", .base, .base(id(7), .absent)),
        Example("base: row", .base, .base(id(300), .row(fullRow))),
        Example(
            "link", .link, .link(LinkRow(relationship: "R", first: id(1), second: id(2), inBase: true, inLocal: false))),
        Example("coverage", .coverage, .coverage(query: "Q", id(7), run: 300)),
        Example("operation: pending", .operation, .pending(pending(.pending))),
        Example("operation: inFlight", .operation, .pending(pending(.inFlight(3)))),
        Example("operation: inDoubt", .operation, .pending(pending(.inDoubt(3, reason: "cut")))),
        Example("operation: rejected", .operation, .pending(pending(.rejected(refusal)))),
        Example("operation: deferred", .operation, .pending(pending(.deferred(refusal, attempts: 300)))),
        Example(
            "operation with all fields", .operation,
            .undone(UndoneOperation(operation: pending(.pending, attributed, since: 9), undo: 20))),
        Example(
            "openBatch", .openBatch,
            .openBatch(OpenBatch(BatchPrepared(batch: 3, changeSets: [[.init(contentID: "1", operation: 12)]])))),
        Example(
            "openBatch with all fields", .openBatch,
            .openBatch(
                OpenBatch(
                    BatchPrepared(
                        batch: 3, changeSets: [[.init(contentID: "1", operation: 12, effect: .delete)]],
                        fingerprint: .init(byteCount: 300, digest: [9], options: [])), monitor: "m/3"))),
        Example(
            "openBatch with shown effects", .openBatch,
            .openBatch(
                OpenBatch(
                    BatchPrepared(batch: 3, changeSets: [[.init(contentID: "1", operation: 12)]]),
                    shown: [
                        ShownEffect(entity: id(7), name: "Name"),
                        ShownEffect(entity: id(7), name: "Orders", target: id(300)),
                    ]))),
        Example(
            "ancestor", .ancestor,
            .ancestor(
                MergeBase(
                    row: row,
                    links: [
                        .init(relationship: "R", isFirst: true, partner: id(2)),
                        .init(relationship: "S", isFirst: false, partner: nil),
                    ]))),
        Example(
            "streams", .streams,
            .streams(
                id(1),
                [
                    StreamImage(
                        entity: id(1),
                        content: StreamContent(
                            digest: StreamDigest(Array(0..<32))!, byteCount: 7, mediaType: "image/gif"), etag: "e")
                ])),
        Example(
            "list: events", .list, .events([StoreEvent(id: 9, kind: .upload, time: 6, mark: 9)])),
        Example(
            "list: events with all fields", .list,
            .events([
                StoreEvent(id: 4, kind: .download, time: -5, subset: ["Q", "R"], mark: 3),
                StoreEvent(id: 5, kind: .download, time: -5, subset: [], mark: 3),
            ])),
        Example(
            "list: openLinks", .list,
            .openLinks([
                OpenLink(query: "Q", set: "Orders", source: "Orders(1)", navigation: "Owner", target: "Customers(7)")
            ])),
        Example(
            "list: quarantine", .list,
            .quarantine([
                QuarantineEntry(
                    sequence: 4, time: -5,
                    entity: QuarantinedEntity(query: "Q", set: "Orders", reason: .withoutKey, message: "No key."))
            ])),
        Example("end", .end, .end(items: 3, digest: StateDigest(value: 0x0102_0304_0506_0708))),
    ]
}
