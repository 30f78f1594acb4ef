import EDM
import Operations
import SyncCore

/// Decodes and restores the items of a snapshot.
///
/// If the first byte is 0, the rest is the kind and the payload of one item. Otherwise the rest is a sequence of items:
/// the kind, the length of the payload (two bytes, the lower one first) and the payload.
///
/// Required: an item that can be decoded can be encoded, and decoding and encoding the result again produces the same
/// bytes; a sequence of items is restored or refused with an error.
func fuzzSnapshot(_ input: [UInt8]) throws(Finding) {
    guard let form = input.first else { return }
    let bytes = input.dropFirst()
    if form == 0 { return try fuzzItem(bytes) }
    var restoration = StateRestoration(into: WorkingSet())
    var rest = bytes
    do throws(StateError) {
        while rest.count >= 3 {
            let head = Array(rest.prefix(3))
            let length = Int(head[1]) | Int(head[2]) << 8
            rest = rest.dropFirst(3)
            try restoration.add(kind: head[0], payload: Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        _ = try restoration.finish()
    } catch {
        return
    }
}

private func fuzzItem(_ bytes: ArraySlice<UInt8>) throws(Finding) {
    guard let kind = bytes.first.flatMap({ SnapshotCodec.ItemKind(rawValue: $0) }),
        let item = try? SnapshotCodec.decode(kind, payload: Array(bytes.dropFirst()))
    else { return }
    let encoded = SnapshotCodec.encode(item)
    guard let again = try? SnapshotCodec.decode(encoded.kind, payload: encoded.payload) else {
        throw Finding("the encoded value cannot be decoded: \(item)")
    }
    try require(SnapshotCodec.encode(again).payload == encoded.payload, "encoded differently: \(item), \(again)")
}

/// Each item separately, and all items as one state.
var snapshotSeeds: [[UInt8]] {
    let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices><Schema \
        Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="T"><Key><PropertyRef Name="I"/>\
        </Key><Property Name="I" Type="Edm.Int32"/></EntityType><EntityContainer Name="C"><EntitySet Name="E" \
        EntityType="S.T"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
    let entity = EntityID(rawValue: 1)
    let row = EntityRow(id: entity, set: "E", type: "S.T", values: ["I": .integer(1)], origin: .service)
    let items: [SnapshotItem] = [
        .header(StateHeader(applied: 9, nextEntity: EntityID(rawValue: 2), nextBatch: 3, lastDownload: 4)),
        .service(ServiceDescription(root: "http://127.0.0.1/", metadata: Array(metadata.utf8))),
        .entity(entity, set: "E"),
        .key("E(1)", set: "E", of: entity),
        .row(row),
        .base(entity, .row(row)),
        .pending(
            PendingOperation(
                sequence: 8, time: 1, operation: Operation(.delete(entity)), status: .inDoubt(2, reason: "cut"))),
        .pending(
            PendingOperation(
                sequence: 9, time: 1, operation: Operation(.delete(entity), transactionID: "T"), status: .pending)),
        .coverage(query: "Q", entity, run: 4),
        .undone(
            UndoneOperation(
                operation: PendingOperation(
                    sequence: 7, time: 1, operation: Operation(.delete(entity), transactionID: "T"), status: .pending),
                undo: 10)),
    ]
    let encoded = items.map { SnapshotCodec.encode($0) }
    let all = encoded.flatMap { kind, payload in
        [kind.rawValue, UInt8(payload.count & 0xFF), UInt8(payload.count >> 8)] + payload
    }
    return encoded.map { [0, $0.kind.rawValue] + $0.payload } + [[1] + all]
}
