import EDM
import Operations
import Testing

/// Records in the bytes of format version 1: for each kind one without optional fields and one with all of them.
///
/// Never change the bytes. A new field is added to a new example.
struct FrozenRecord: Sendable, CustomTestStringConvertible {
    let name: String
    let kind: RecordCodec.RecordKind
    let body: Record.Body

    var testDescription: String { name }

    init(_ name: String, _ kind: RecordCodec.RecordKind, _ body: Record.Body) {
        self.name = name
        self.kind = kind
        self.body = body
    }

    /// The payload in format version 1.
    var hex: String { Self.payloads[name] ?? "missing" }

    /// The time of all records except placeholders, which have none.
    var record: Record { Record(time: body == .lost ? 0 : 1_770_000_000_123, body: body) }

    static let all: [FrozenRecord] = operations + downloads + batches + queue

    private static func id(_ number: UInt64) -> EntityID { EntityID(rawValue: number) }

    private static let values: PropertyValues = [
        "A": .null, "B": .boolean(true), "C": .integer(-300), "D": .double(1.5), "E": .single(-0.25),
        "F": .decimal(DecimalValue("1.50")!), "G": .string("Ä"), "H": .binary([0, 255]),
        "I": .guid(GuidValue(high: 1, low: 2)), "J": .enumeration("Red"), "K": .raw("{}"),
        "L": .complex(ComplexValue(type: "S.T", properties: ["X": .integer(1)])),
        "M": .collection([.string("a"), .boolean(false)]),
        "N": .date(date), "O": .timeOfDay(time), "P": .duration(DayTimeDuration(isNegative: true, seconds: 90)!),
        "Q": .dateTime(LocalDateTime(date: date, time: time)),
        "R": .dateTimeOffset(GlobalDateTime(local: LocalDateTime(date: date, time: time), offsetMinutes: -90)!),
    ]
    private static let date = LocalDate("2024-02-29")!
    private static let time = LocalTime("23:59:59.120")!

    private static let content = StreamContent(
        digest: StreamDigest(Array(0..<32))!, byteCount: 1 << 40, mediaType: "image/jpeg")
    private static let namedContent = StreamContent(
        digest: StreamDigest(Array(0..<32))!, byteCount: 300, mediaType: "image/jpeg", name: "Ä.jpg")

    private static let operations = [
        FrozenRecord("lost", .lost, .lost),
        FrozenRecord(
            "serviceInstalled", .serviceInstalled,
            .serviceInstalled(ServiceDescription(root: "http://127.0.0.1/", metadata: Array("<edmx/>".utf8)))),
        FrozenRecord("operation: delete", .operation, .operation(Operation(.delete(id(300))))),
        FrozenRecord(
            "operation: create", .operation,
            .operation(
                Operation(.create(Creation(entity: id(9), set: "Orders", type: "S.Order", values: values), parent: nil))
            )),
        FrozenRecord(
            "operation: update", .operation,
            .operation(
                Operation(
                    .update(
                        id(9), changes: ["Note": .null],
                        bindings: [Binding(navigation: "Items", targets: [id(1), id(2)])]
                    )))),
        FrozenRecord(
            "operation: createLink", .operation,
            .operation(Operation(.createLink(Link(from: id(1), navigation: "Items", to: id(2)))))),
        FrozenRecord(
            "operation: updateLink", .operation,
            .operation(Operation(.updateLink(Link(from: id(1), navigation: "Owner", to: id(2)))))),
        FrozenRecord(
            "operation: deleteLink", .operation,
            .operation(Operation(.deleteLink(Link(from: id(1), navigation: "Items", to: id(2)))))),
        FrozenRecord(
            "operation with all fields", .operation,
            .operation(
                Operation(
                    .create(
                        Creation(
                            entity: id(9), set: "Orders", type: "S.Order", values: [:],
                            bindings: [Binding(navigation: "Owner", targets: [id(3)])],
                            inline: [
                                .init(
                                    navigation: "Items",
                                    entities: [Creation(entity: id(10), set: "Items", type: "S.Item", values: [:])])
                            ]), parent: Parent(entity: id(3), navigation: "Orders")), changeSet: 12,
                    transactionID: "T", baseETag: "W/\"1\"", customTag: "tag",
                    headers: [.init(name: "X-A", value: "b")],
                    headerTemplates: [.init(name: "X-B", parts: [.text("no "), .key(id(300), property: "ID")])],
                    isUnmodifiable: true, uploadCategory: .named("tour"), delivery: .draft,
                    stream: StreamWrite(property: "Photo", content: namedContent)))),
        FrozenRecord(
            "operation with a stream", .operation,
            .operation(
                Operation(
                    .update(id(9), changes: [:], bindings: []), uploadCategory: .entity(id(9)), delivery: .localOnly,
                    stream: StreamWrite(content: content)))),
        FrozenRecord(
            "operation with a deleted stream", .operation,
            .operation(Operation(.update(id(9), changes: [:], bindings: []), stream: StreamWrite(content: nil)))),
        FrozenRecord(
            "operation with a call", .operation,
            .operation(Operation(.update(.unbound, changes: [:], bindings: []), call: ActionCall("Close")))),
        FrozenRecord(
            "operation with a call bound to an entity", .operation,
            .operation(
                Operation(
                    .delete(id(9)),
                    call: ActionCall(
                        "S.Book", on: .entity(id(300)),
                        [
                            .init("a", .value(.integer(3))), .init("b", .entity(.reference(id(8)))),
                            .init("c", .entities([.content(type: "S.T", ["N": .null])])),
                        ], answer: .boundEntity)))),
        FrozenRecord(
            "operation with a call bound to a property", .operation,
            .operation(Operation(.delete(id(9)), call: ActionCall("S.First", on: .property("Stops", of: id(9)))))),
        FrozenRecord(
            "operation with a call bound to a set", .operation,
            .operation(Operation(.delete(id(9)), call: ActionCall("S.First", on: .set("Trips", type: nil))))),
        FrozenRecord(
            "operation with a call bound to a type", .operation,
            .operation(Operation(.delete(id(9)), call: ActionCall("S.First", on: .set("Trips", type: "S.Long"))))),
    ]

    private static let image = EntityImage(entity: id(7), set: "Orders", type: "S.Order", values: ["ID": .integer(5)])
    private static let fullImage = EntityImage(
        entity: id(8), set: "Orders", type: "S.Order", values: ["ID": .integer(6)], etag: "W/\"1\"",
        editLink: "Orders(6)", links: [.init(navigation: "Owner", targets: [id(1)], isComplete: true)])
    private static let changes = DownloadPage(
        query: "Q", entities: [fullImage], removed: [id(300)], left: [id(2)],
        links: [
            .init(source: id(1), navigation: "Items", target: id(2), isAdded: true),
            .init(source: id(1), navigation: "Owner", target: nil, isAdded: false),
        ], next: "Orders?$skiptoken=2")

    private static let downloads = [
        FrozenRecord(
            "definingQueryAdded", .definingQueryAdded, .definingQueryAdded(DefiningQuery(name: "Q", query: "Orders"))),
        FrozenRecord(
            "definingQueryAdded with all fields", .definingQueryAdded,
            .definingQueryAdded(DefiningQuery(name: "Q", query: "Orders", automaticallyRetrievesStreams: true))),
        FrozenRecord("definingQueryRemoved", .definingQueryRemoved, .definingQueryRemoved(name: "Q")),
        FrozenRecord("downloadStarted", .downloadStarted, .downloadStarted(queries: ["Q", "R"])),
        FrozenRecord(
            "downloadStarted with all fields", .downloadStarted,
            .downloadStarted([
                .init(query: "Q", mode: .delta), .init(query: "R", mode: .resumed), .init(query: "S", mode: .restarted),
            ])),
        FrozenRecord(
            "downloadPage", .downloadPage, .downloadPage(DownloadPage(query: "Q", entities: [image, image]))),
        FrozenRecord("downloadPage with all fields", .downloadPage, .downloadPage(changes)),
        FrozenRecord(
            "comparedPage", .comparedPage,
            .downloadPage(DownloadPage(query: "Q", unchanged: [7, 8, 9, 4, 300].map(id)))),
        FrozenRecord(
            "comparedPage with all fields", .comparedPage,
            .downloadPage(
                DownloadPage(
                    query: "Q", entities: changes.entities, unchanged: [id(1)], removed: changes.removed,
                    left: changes.left, links: changes.links, next: changes.next))),
        FrozenRecord("downloadFinished", .downloadFinished, .downloadFinished(query: "Q")),
        FrozenRecord(
            "downloadFinished with all fields", .downloadFinished,
            .downloadFinished(DownloadFinished(query: "Q", deltaLink: "Orders?$deltatoken=3"))),
        FrozenRecord(
            "linksLeftOpen", .linksLeftOpen,
            .linksLeftOpen([
                OpenLink(query: "Q", set: "Orders", source: "Orders(1)", navigation: "Owner", target: "Customers(7)")
            ])),
        FrozenRecord(
            "entitiesQuarantined", .entitiesQuarantined,
            .entitiesQuarantined([
                QuarantinedEntity(query: "Q", set: "Orders", reason: .unreadable, message: "No number.")
            ])),
        FrozenRecord(
            "entitiesQuarantined with all fields", .entitiesQuarantined,
            .entitiesQuarantined([
                QuarantinedEntity(
                    query: "Q", set: "Orders", name: "Orders(1)", entity: id(7), reason: .further, path: "/Total",
                    message: "No number.", text: "1e400", hidesOthers: true, count: 300)
            ])),
        FrozenRecord("entitiesRead", .entitiesRead, .entitiesRead([image, fullImage])),
        FrozenRecord("entitiesMissing", .entitiesMissing, .entitiesMissing([id(7), id(300)])),
        FrozenRecord(
            "streamsStored", .streamsStored, .streamsStored([StreamImage(entity: id(7), content: nil)])),
        FrozenRecord(
            "streamsStored with all fields", .streamsStored,
            .streamsStored([
                StreamImage(
                    entity: id(7), property: "Photo", content: namedContent, etag: "e",
                    reported: .init(readLink: "media/7", editLink: "edit/7", etag: "f")),
                StreamImage(entity: id(8), content: content, reported: .init()),
            ])),
    ]

    private static let refusal = Refusal(status: 409, code: "c", message: "m", method: "POST", url: "Orders")
    private static let fullRefusal = Refusal(
        status: -1, code: "c", message: "m", innerError: "{}", method: "POST", url: "Orders", requestBody: "{\"A\":1}")
    private static let fullBatch: BatchPrepared = {
        let new = NewEntity(id(7), below: [.init(navigation: "Items", entities: [NewEntity(id(8)), NewEntity(id(9))])])
        var prepared = BatchPrepared(
            batch: 300,
            changeSets: [
                [
                    .init(contentID: "1", operation: 4, effect: .create, creates: new),
                    .init(contentID: "1", operation: 5),
                    .init(
                        contentID: "2", operation: 6, effect: .link,
                        references: .init(contentIDInURL: "1", hasContentIDInBody: true, hasOthers: true)),
                ], [.init(contentID: "3", operation: 7, effect: .invoke)],
            ],
            sent: [
                [
                    .init(
                        contentID: "1", method: "POST", url: "Orders", headers: [.init(name: "X", value: "a")],
                        body: [0x7B, 0x7D])
                ], [],
            ],
            fingerprint: .init(byteCount: 482, digest: Array(0..<32), options: [.init(name: "a", value: "b")]))
        prepared.coalesces = true
        return prepared
    }()

    private static let batches = [
        FrozenRecord(
            "batchPrepared", .batchPrepared,
            .batchPrepared(BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: 4)]]))),
        FrozenRecord("batchPrepared with all fields", .batchPrepared, .batchPrepared(fullBatch)),
        FrozenRecord(
            "batchAccepted", .batchAccepted, .batchAccepted(BatchAccepted(batch: 2, monitor: "$monitor/2"))),
        FrozenRecord(
            "batchAnswered", .batchAnswered,
            .batchAnswered(
                BatchAnswered(
                    batch: 1,
                    outcomes: [
                        .init(operation: 4, result: .confirmed(images: [image])),
                        .init(operation: 5, result: .rejected(refusal)), .init(operation: 6, result: .notProcessed),
                        .init(operation: 7, result: .inDoubt("cut off")),
                        .init(operation: 8, result: .deferred(refusal, attempts: 300)),
                    ]))),
        FrozenRecord(
            "batchAnswered with all fields", .batchAnswered,
            .batchAnswered(
                BatchAnswered(
                    batch: 1,
                    outcomes: [
                        .init(operation: 4, result: .confirmed(images: [fullImage])),
                        .init(operation: 5, result: .rejected(fullRefusal)),
                        .init(operation: 6, result: .deferred(fullRefusal, attempts: 1)),
                    ]))),
        FrozenRecord(
            "batchInterrupted", .batchInterrupted, .batchInterrupted(BatchInterrupted(batch: 1, reason: "lost"))),
    ]

    private static let queue = [
        FrozenRecord("operationsReleased", .queueChanged, .operationsReleased([4, 300])),
        FrozenRecord("operationsUndone", .queueChanged, .operationsUndone([4, .max])),
        FrozenRecord("operationsRedone", .queueChanged, .operationsRedone([4])),
        FrozenRecord("operationsElided", .queueChanged, .operationsElided([4, 5])),
        FrozenRecord("clientChangesKept", .queueChanged, .clientChangesKept([])),
        FrozenRecord("deliveryChanged", .deliveryChanged, .deliveryChanged([4, 300], to: .draft)),
        FrozenRecord(
            "uploadPostponed", .uploadPostponed,
            .uploadPostponed(UploadPostponed(notBefore: 1_770_000_030_000, attempt: 3, reason: "busy"))),
        FrozenRecord(
            "conflictResolved", .conflictResolved,
            .conflictResolved(
                ConflictResolved(
                    entity: id(7), decision: .merged,
                    dropped: [.init(operation: 4, properties: ["Name", "Ä"], navigations: ["Owner"])],
                    takenBack: [5, 300], released: [6]))),
        FrozenRecord(
            "operationsIncompatible", .operationsIncompatible,
            .operationsIncompatible([
                IncompatibleOperation(operation: 4, refusal: refusal),
                IncompatibleOperation(operation: 300, refusal: fullRefusal),
            ])),
        FrozenRecord(
            "operationsAmended", .operationsAmended,
            .operationsAmended([
                AmendedOperation(operation: 4, content: Operation(.delete(id(7)))),
                AmendedOperation(
                    operation: 5,
                    content: Operation(.update(id(7), changes: ["N": .null], bindings: []), customTag: "t")
                ),
            ])),
    ]
}
