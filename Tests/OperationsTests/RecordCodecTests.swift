import EDM
import Operations
import SeededRandom
import Testing

struct RecordCodecTests {
    static let image = EntityImage(
        entity: EntityID(rawValue: 7), set: "Orders", type: "Shop.Order",
        values: ["OrderID": .integer(5), "Note": .null, "Tags": .collection([.string("a"), .boolean(true)])],
        etag: "W/\"1\"", editLink: "Orders(5)",
        links: [.init(navigation: "Customer", targets: [EntityID(rawValue: 1)], isComplete: true)])

    static let creation = Creation(
        entity: EntityID(rawValue: 9), set: "Orders", type: "Shop.Order",
        values: [
            "Amount": .decimal(DecimalValue("1.50")!), "Ratio": .double(.infinity), "Small": .single(1.5),
            "Raw": .binary([0, 255]), "Place": .raw("{\"type\":\"Point\"}"), "Key": .guid(GuidValue(high: 1, low: 2)),
            "Address": .complex(ComplexValue(type: "Shop.Address", properties: ["City": .string("Ulm")])),
            "Mood": .enumeration("Happy"),
        ],
        bindings: [Binding(navigation: "Customer", targets: [EntityID(rawValue: 3)])],
        inline: [
            .init(
                navigation: "Items",
                entities: [Creation(entity: EntityID(rawValue: 10), set: "Items", type: "Shop.Item", values: [:])])
        ])

    static let someContent = StreamContent(
        digest: StreamDigest(Array(0..<32))!, byteCount: 1 << 40, mediaType: "image/jpeg", name: "Ä.jpg")
    /// A deep insert that carries a second create, and a link.
    static let batchWithEffects: BatchPrepared = {
        let child = NewEntity(EntityID(rawValue: 8))
        let new = NewEntity(
            EntityID(rawValue: 7), below: [NewEntity.Level(navigation: "Items", entities: [child, child])])
        var prepared = BatchPrepared(
            batch: 4,
            changeSets: [
                [
                    .init(contentID: "1", operation: 4, effect: .create, creates: new),
                    .init(contentID: "1", operation: 5),
                    .init(
                        contentID: "2", operation: 6, effect: .link,
                        references: .init(contentIDInURL: "1", hasContentIDInBody: true, hasOthers: true)),
                ]
            ], fingerprint: .init(byteCount: 1, digest: [9], options: []))
        prepared.coalesces = true
        return prepared
    }()

    static let bodies: [Record.Body] = [
        .lost,
        .serviceInstalled(ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array("<edmx/>".utf8))),
        .operation(
            Operation(
                .create(creation, parent: Parent(entity: EntityID(rawValue: 3), navigation: "Orders")), changeSet: 12,
                customTag: "form 4", headers: [.init(name: "X-A", value: "b")])),
        .operation(
            Operation(
                .update(EntityID(rawValue: 1), changes: ["Name": .string("ä")], bindings: []), baseETag: "W/\"2\"")),
        .operation(Operation(.delete(EntityID(rawValue: .max)))),
        .operation(
            Operation(.createLink(Link(from: EntityID(rawValue: 1), navigation: "Orders", to: EntityID(rawValue: 2))))),
        .operation(
            Operation(.updateLink(Link(from: EntityID(rawValue: 1), navigation: "Customer", to: EntityID(rawValue: 2))))
        ),
        .operation(
            Operation(.deleteLink(Link(from: EntityID(rawValue: 1), navigation: "Orders", to: EntityID(rawValue: 2))))),
        .definingQueryAdded(DefiningQuery(name: "Orders", query: "Orders?$top=1", automaticallyRetrievesStreams: true)),
        .definingQueryRemoved(name: "Orders"),
        .downloadStarted(queries: ["Orders", "Customers"]),
        .downloadPage(DownloadPage(query: "Orders", entities: [image])),
        .downloadFinished(query: "Orders"),
        .downloadStarted([
            QueryStart(query: "Orders", mode: .delta), QueryStart(query: "Customers", mode: .resumed),
            QueryStart(query: "A", mode: .restarted), QueryStart(query: "B", mode: .full),
        ]),
        .downloadPage(
            DownloadPage(
                query: "Orders", entities: [image],
                unchanged: [7, 8, 9, 4, .max, 1].map(EntityID.init(rawValue:)),
                removed: [EntityID(rawValue: 300)], left: [EntityID(rawValue: 2)],
                links: [
                    .init(
                        source: EntityID(rawValue: 1), navigation: "Items", target: EntityID(rawValue: 2), isAdded: true
                    ),
                    .init(source: EntityID(rawValue: 1), navigation: "Customer", target: nil, isAdded: false),
                ], next: "Orders?$skiptoken=2")),
        .downloadFinished(DownloadFinished(query: "Orders", deltaLink: "Orders?$deltatoken=3")),
        .entitiesRead([image, image]),
        .batchPrepared(
            BatchPrepared(
                batch: 1, changeSets: [[.init(contentID: "1", operation: 4)], [.init(contentID: "2", operation: 5)]])),
        .batchPrepared(
            BatchPrepared(
                batch: 2, changeSets: [[.init(contentID: "1", operation: 4)]],
                sent: [
                    [
                        .init(
                            contentID: "1", method: "POST", url: "Orders",
                            headers: [.init(name: "Repeatability-Request-ID", value: "a")], body: [0x7B, 0x7D])
                    ]
                ])),
        .batchPrepared(
            BatchPrepared(
                batch: 3, changeSets: [[.init(contentID: "1", operation: 4)]],
                fingerprint: .init(
                    byteCount: 482, digest: Array(0..<32), options: [.init(name: "supportsPatch", value: "false")]))),
        .batchPrepared(batchWithEffects),
        .batchAccepted(BatchAccepted(batch: 2, monitor: "$monitor/2")),
        .batchAnswered(
            BatchAnswered(
                batch: 1,
                outcomes: [
                    .init(operation: 4, result: .confirmed(images: [image])),
                    .init(
                        operation: 5,
                        result: .rejected(
                            Refusal(
                                status: 409, code: "c", message: "m", innerError: "{}", method: "POST", url: "Orders"))),
                    .init(operation: 6, result: .notProcessed),
                    .init(operation: 7, result: .inDoubt("cut off")),
                ])),
        .batchInterrupted(BatchInterrupted(batch: 1, reason: "connection lost")),
        .operationsReleased([4, 5]),
        .batchAnswered(
            BatchAnswered(
                batch: 1,
                outcomes: [
                    .init(operation: 4, result: .confirmed(images: [image])),
                    .init(
                        operation: 5,
                        result: .rejected(
                            Refusal(
                                status: 409, code: "c", message: "m", innerError: "{}", method: "POST", url: "Orders",
                                requestBody: "{\"Note\":\"ä\"}"))),
                    .init(
                        operation: 6,
                        result: .deferred(
                            Refusal(
                                status: 503, code: "", message: "busy", method: "DELETE", url: "Orders(1)"),
                            attempts: 300)),
                    .init(operation: 7, result: .notProcessed), .init(operation: 8, result: .inDoubt("cut off")),
                    .init(
                        operation: 9,
                        result: .rejected(Refusal(status: 404, code: "", message: "", method: "DELETE", url: "A(1)"))),
                ])),
        .uploadPostponed(
            UploadPostponed(notBefore: 1_763_000_030_000, attempt: 3, reason: "The service responded with status 503.")),
        .operationsUndone([4, .max]),
        .operationsRedone([5]),
        .operation(Operation(.delete(EntityID(rawValue: 1)), changeSet: 7, transactionID: "order 4", customTag: "t")),
        .operation(Operation(.delete(EntityID(rawValue: 1)), transactionID: "")),
        .operation(
            Operation(
                .delete(EntityID(rawValue: 1)), changeSet: 7, transactionID: "order 4", customTag: "t",
                headerTemplates: [
                    HeaderTemplate(
                        name: "X-Order", parts: [.text("no "), .key(EntityID(rawValue: 300), property: "OrderID")])
                ], isUnmodifiable: true, uploadCategory: .named("tour"), delivery: .draft)),
        .operation(
            Operation(
                .delete(EntityID(rawValue: 1)), uploadCategory: .entity(EntityID(rawValue: 5)), delivery: .localOnly)),
        .deliveryChanged([4, .max], to: .queued),
        .operationsElided([4, 5]),
        .clientChangesKept([4, .max]),
        .conflictResolved(
            ConflictResolved(
                entity: EntityID(rawValue: 7), decision: .merged,
                dropped: [.init(operation: 4, properties: ["Name", "Ä"], navigations: ["Customer"])],
                takenBack: [5, .max], released: [6])),
        .entitiesMissing([EntityID(rawValue: 7), EntityID(rawValue: 9)]),
        .operationsAmended([
            AmendedOperation(
                operation: 4,
                content: Operation(
                    .update(EntityID(rawValue: 7), changes: ["Name": .string("Ä")], bindings: []), customTag: "t")),
            AmendedOperation(
                operation: 5,
                content: Operation(
                    .update(EntityID(rawValue: 7), changes: [:], bindings: []),
                    stream: StreamWrite(content: someContent)
                )),
        ]),
        .linksLeftOpen([
            OpenLink(query: "Q", set: "Orders", source: "Orders(1)", navigation: "Customer", target: "Customers(7)"),
            OpenLink(query: "", set: "", source: "", navigation: "", target: ""),
        ]),
        .entitiesQuarantined([
            QuarantinedEntity(
                query: "Q", set: "Orders", name: "Orders(1)", entity: EntityID(rawValue: 7), reason: .unreadable,
                path: "/Total", message: "No number.", text: "1e400", hidesOthers: true),
            QuarantinedEntity(query: "", set: "", reason: .further, message: "", count: .max),
        ]),
        .operationsIncompatible([
            IncompatibleOperation(
                operation: 4, refusal: Refusal(modelChanged: "Orders is gone.", method: "PATCH", url: "Orders(1)"))
        ]),
        .operation(
            Operation(
                .create(
                    Creation(entity: EntityID(rawValue: 7), set: "Photos", type: "S.Photo", values: [:]), parent: nil),
                customTag: "t", delivery: .draft, stream: StreamWrite(content: someContent))),
        .operation(
            Operation(
                .update(EntityID(rawValue: 7), changes: [:], bindings: []),
                stream: StreamWrite(property: "Thumbnail", content: nil))),
        .operation(
            Operation(
                .update(EntityID(rawValue: 7), changes: ["Note": .string("ä")], bindings: []), changeSet: 9,
                transactionID: "T", customTag: "t", delivery: .draft,
                call: ActionCall(
                    "S.Book", on: .entity(EntityID(rawValue: 300)),
                    [
                        .init("seats", .value(.integer(3))), .init("place", .value(.null)),
                        .init("other", .entity(.reference(EntityID(rawValue: 8)))),
                        .init(
                            "new",
                            .entities([
                                .content(type: "S.Trip", ["Name": .string("n")]), .reference(EntityID(rawValue: 9)),
                            ])),
                    ], answer: .boundEntity))),
        .operation(
            Operation(
                .update(.unbound, changes: [:], bindings: []), call: ActionCall("Close", [.init("e", .entities([]))]))),
        .operation(
            Operation(
                .delete(EntityID(rawValue: 7)), call: ActionCall("S.First", on: .set("Trips", type: "S.LongTrip")))),
        .operation(
            Operation(
                .delete(EntityID(rawValue: 7)),
                call: ActionCall("S.First", on: .property("Stops", of: EntityID(rawValue: 7))))),
        .operationsAmended([
            AmendedOperation(
                operation: 4,
                content: Operation(
                    .update(EntityID(rawValue: 7), changes: [:], bindings: []),
                    call: ActionCall("S.First", on: .set("Trips", type: nil)))),
            AmendedOperation(operation: 5, content: Operation(.delete(EntityID(rawValue: 7)))),
        ]),
        .streamsStored([
            StreamImage(entity: EntityID(rawValue: 7), content: someContent, etag: "e"),
            StreamImage(entity: EntityID(rawValue: 8), property: "Thumbnail", content: nil),
        ]),
        .streamsStored([
            StreamImage(
                entity: EntityID(rawValue: 7), content: someContent, etag: "e",
                reported: .init(readLink: "media/7", editLink: "edit/7", etag: "f")),
            StreamImage(entity: EntityID(rawValue: 8), property: "Thumbnail", content: nil),
        ]),
        .unknown(kind: 200, payload: [1, 2, 3]),
    ]

    @Test(arguments: bodies)
    func `every kind of record is equal after encoding and decoding`(body: Record.Body) throws {
        // The time of an unknown record is inside its payload, which this version does not decode.
        let time: Timestamp =
            switch body {
            case .unknown, .lost: 0
            default: -1_763_000_000_123
            }
        let record = Record(time: time, body: body)
        let (kind, payload) = RecordCodec.encode(record)
        #expect(try RecordCodec.decode(kind: kind, payload: payload) == record)
    }

    @Test(arguments: [0, -1, 63, 64, 1_763_000_000_123, .min] as [Timestamp])
    func `the payload of an operation contains the form that the views store`(time: Timestamp) {
        for case .operation(let operation) in Self.bodies {
            let payload = RecordCodec.encode(Record(time: time, body: .operation(operation))).payload
            #expect(RecordCodec.operation(in: payload) == ValueCodec.encode(operation)[...])
        }
    }

    @Test func `a digest with the wrong length is refused`() {
        let record = Record(
            time: 0, body: .streamsStored([StreamImage(entity: EntityID(rawValue: 7), content: Self.someContent)]))
        let kind = RecordCodec.encode(record).kind
        var payload = RecordCodec.encode(record).payload
        #expect(kind == RecordCodec.RecordKind.streamsStored.rawValue)
        guard let length = payload.firstIndex(of: 32) else { return #expect(Bool(false)) }
        payload[length] = 31
        payload.remove(at: length + 1)
        // The length of the field that contains the digest.
        payload[length - 1] -= 1
        let error = #expect(throws: CodecError.self) { try RecordCodec.decode(kind: kind, payload: payload) }
        #expect(error?.reason == .invalid("digest"))
    }

    @Test func `the examples cover every kind of record`() {
        let kinds = Set(Self.bodies.map { RecordCodec.encode(Record(time: 0, body: $0)).kind })
        #expect(kinds.isSuperset(of: RecordCodec.RecordKind.allCases.map(\.rawValue)))
    }

    @Test(arguments: bodies)
    func `a record that is truncated at any byte is refused`(body: Record.Body) {
        if case .unknown = body { return }
        let (kind, payload) = RecordCodec.encode(Record(time: 5, body: body))
        for length in 0..<payload.count {
            #expect(throws: CodecError.self) { try RecordCodec.decode(kind: kind, payload: Array(payload[..<length])) }
        }
    }

    @Test func `bytes after the end of a record are refused`() {
        let (kind, payload) = RecordCodec.encode(Record(time: 5, body: .downloadFinished(query: "Q")))
        #expect(throws: CodecError.self) { try RecordCodec.decode(kind: kind, payload: payload + [0]) }
    }

    @Test func `deep nesting is refused and does not overflow the stack`() {
        var payload: [UInt8] = [0, 2, 1, 1, 1, 0x78]
        payload += Array(repeating: [18, 1], count: 100_000).flatMap { $0 }
        #expect(throws: CodecError.self) {
            try RecordCodec.decode(kind: RecordCodec.RecordKind.operation.rawValue, payload: payload)
        }
    }

    @Test func `decoding of changed bytes never traps`() {
        let seed: UInt64 = 20_261_121
        print("seed \(seed)")
        var generator = SeededRandom(seed: seed)
        for body in Self.bodies {
            let (kind, payload) = RecordCodec.encode(Record(time: 5, body: body))
            for _ in 0..<500 where !payload.isEmpty {
                var bytes = payload
                for _ in 0...Int(generator.next() % 3) {
                    bytes[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
                }
                // A decoded record must be encodable; otherwise it was decoded incorrectly.
                if let record = try? RecordCodec.decode(kind: kind, payload: bytes) {
                    _ = RecordCodec.encode(record)
                }
            }
        }
    }

    @Test func `a range of unchanged entities takes a few bytes, regardless of its length`() throws {
        let ids = (1...60_000).map { EntityID(rawValue: $0) }
        let record = Record(time: 0, body: .downloadPage(DownloadPage(query: "Q", unchanged: ids)))
        let (kind, payload) = RecordCodec.encode(record)
        #expect(payload.count < 20)
        #expect(try RecordCodec.decode(kind: kind, payload: payload) == record)
    }

    @Test func `a range with an implausible number of entities is refused`() {
        let record = Record(time: 0, body: .downloadPage(DownloadPage(query: "Q", unchanged: [EntityID(rawValue: 1)])))
        let (kind, payload) = RecordCodec.encode(record)
        // The length of the run is the last byte before the empty list of entities and the end.
        let length = payload.count - 3
        let hostile = payload[..<length] + [0xFF, 0xFF, 0xFF, 0xFF, 0x0F] + payload[(length + 1)...]
        #expect(throws: CodecError.self) { try RecordCodec.decode(kind: kind, payload: Array(hostile)) }
    }
}
