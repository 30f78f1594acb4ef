import EDM
import Operations

/// Decodes and encodes a record. The first byte is its kind, the rest its payload.
///
/// Required: a record that can be decoded can be encoded, and decoding and encoding the result again produces the same
/// bytes.
func fuzzRecords(_ input: [UInt8]) throws(Finding) {
    guard let kind = input.first else { return }
    guard let record = try? RecordCodec.decode(kind: kind, payload: Array(input.dropFirst())) else { return }
    let encoded = RecordCodec.encode(record)
    guard let again = try? RecordCodec.decode(kind: encoded.kind, payload: encoded.payload) else {
        throw Finding("the encoded value cannot be decoded: \(record)")
    }
    let twice = RecordCodec.encode(again)
    try require(
        encoded.kind == twice.kind && encoded.payload == twice.payload, "encoded differently: \(record), \(again)")
}

/// Operations with values of many types, and some facts.
var recordSeeds: [[UInt8]] {
    let bodies: [Record.Body] = [
        .serviceInstalled(ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array("<edmx/>".utf8))),
        .operation(Operation(.create(fuzzedCreation, parent: nil), changeSet: 12, customTag: "form 4")),
        .operation(Operation(.delete(EntityID(rawValue: 3)))),
        .operation(Operation(.delete(EntityID(rawValue: 3)), transactionID: "order 7")),
        .operationsUndone([4, 300]),
        .operationsRedone([4]),
        .operation(
            Operation(
                .delete(EntityID(rawValue: 3)),
                headerTemplates: [
                    .init(name: "X", parts: [.text("a"), .key(EntityID(rawValue: 1), property: "CustomerID")])
                ], isUnmodifiable: true, uploadCategory: .named("tour"), delivery: .draft)),
        .deliveryChanged([4], to: .localOnly),
        .operationsElided([4]),
        .clientChangesKept([4]),
        .conflictResolved(
            ConflictResolved(
                entity: EntityID(rawValue: 3), decision: .call, dropped: [.init(operation: 4, properties: ["Name"])],
                takenBack: [300], released: [4])),
        .entitiesMissing([EntityID(rawValue: 3)]),
        .operationsIncompatible([IncompatibleOperation(operation: 4, refusal: Refusal(modelChanged: "Orders is gone."))]
        ),
        .downloadPage(DownloadPage(query: "Orders", entities: [fuzzedImage])),
        .batchPrepared(BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: 4)]])),
        .batchAnswered(
            BatchAnswered(batch: 1, outcomes: [.init(operation: 4, result: .confirmed(images: [fuzzedImage]))])),
    ]
    return bodies.map { body in
        let (kind, payload) = RecordCodec.encode(Record(time: 5, body: body))
        return [kind] + payload
    }
}

private let fuzzedImage = EntityImage(
    entity: EntityID(rawValue: 7), set: "Orders", type: "Shop.Order",
    values: ["OrderID": .integer(5), "Note": .null, "Tags": .collection([.string("a"), .boolean(true)])],
    etag: "W/\"1\"", editLink: "Orders(5)",
    links: [.init(navigation: "Customer", targets: [EntityID(rawValue: 1)], isComplete: true)])

private let fuzzedCreation = Creation(
    entity: EntityID(rawValue: 9), set: "Orders", type: "Shop.Order",
    values: [
        "Ratio": .double(1.5), "Raw": .binary([0, 255]), "Key": .guid(GuidValue(high: 1, low: 2)),
        "Address": .complex(ComplexValue(type: "Shop.Address", properties: ["City": .string("Ulm")])),
    ],
    bindings: [Binding(navigation: "Customer", targets: [EntityID(rawValue: 3)])])
