import EDM
import Operations
import SeededRandom
import Testing

/// A decoder that reuses names returns the same results as decoding each record separately.
struct RecordDecoderTests {
    /// The examples of the codec, and typical operations.
    private static let bodies: [Record.Body] =
        RecordCodecTests.bodies + [
            .operation(Operation(.create(order, parent: nil))),
            .operation(Operation(.create(order, parent: Parent(entity: EntityID(rawValue: 3), navigation: "Orders")))),
            .operation(Operation(.update(EntityID(rawValue: 300), changes: values, bindings: []), changeSet: 4)),
            .operation(Operation(.delete(EntityID(rawValue: 1 << 40)), baseETag: "W/\"1\"")),
            .operation(
                Operation(.createLink(Link(from: EntityID(rawValue: 1), navigation: "Tags", to: EntityID(rawValue: 2))))
            ),
            .entitiesRead([
                EntityImage(
                    entity: EntityID(rawValue: 9), set: "Orders", type: "Shop.Order", values: values, etag: "1"),
                EntityImage(entity: EntityID(rawValue: 10), set: "Orders", type: "Shop.Order", values: values),
            ]),
        ]

    private static let values: PropertyValues = [
        "ID": .integer(-1), "Note": .string("a note that is longer than sixteen bytes"), "Name": .string("Zoë"),
        "Amount": .decimal(DecimalValue(12)), "Weight": .double(.nan), "IsPaid": .boolean(true), "Nothing": .null,
        "At": GlobalDateTime(millisecondsSince1970: 1_770_000_000_123).map { .dateTimeOffset($0) } ?? .null,
        "Address": .complex(ComplexValue(type: "Shop.Address", properties: ["City": .string("Bonn")])),
        "Tags": .collection([.string("a"), .single(0.5)]),
    ]

    private static let order = Creation(
        entity: EntityID(rawValue: 7), set: "Orders", type: "Shop.Order", values: values,
        bindings: [Binding(navigation: "Customer", targets: [EntityID(rawValue: 200)])])

    /// Returns the encoding of the decoded record, because not every value is equal to itself, or the error.
    private static func outcome(_ decode: () throws(CodecError) -> Record) -> String {
        do throws(CodecError) {
            let (kind, payload) = RecordCodec.encode(try decode())
            return "\(kind) \(payload)"
        } catch {
            return "\(error)"
        }
    }

    @Test("The record decoder returns the same record as the codec, the first time and later", arguments: bodies)
    func agrees(body: Record.Body) {
        let (kind, payload) = RecordCodec.encode(Record(time: 1_770_000_000_000, body: body))
        let decoder = RecordDecoder()
        let among = [1, 2, 3] + payload + [4]
        for _ in 0..<3 {
            let alone = Self.outcome { () throws(CodecError) in try RecordCodec.decode(kind: kind, payload: payload) }
            let kept = Self.outcome { () throws(CodecError) in
                try decoder.decode(kind: kind, payload: among[3..<3 + payload.count])
            }
            #expect(kept == alone)
        }
    }

    @Test("The record decoder returns the same result as the codec for a damaged record", arguments: bodies)
    func agreesOnDamage(body: Record.Body) {
        let seed: UInt64 = 20_261_125
        print("seed \(seed)")
        var generator = SeededRandom(seed: seed)
        let (kind, payload) = RecordCodec.encode(Record(time: 5, body: body))
        let decoder = RecordDecoder()
        func check(_ bytes: [UInt8]) {
            let alone = Self.outcome { () throws(CodecError) in try RecordCodec.decode(kind: kind, payload: bytes) }
            let kept = Self.outcome { () throws(CodecError) in try decoder.decode(kind: kind, payload: bytes) }
            #expect(kept == alone, "\(bytes)")
        }
        check(payload)
        for length in 0..<payload.count { check(Array(payload[..<length])) }
        check(payload + [0])
        for _ in 0..<300 where !payload.isEmpty {
            var bytes = payload
            for _ in 0...Int(generator.next() % 2) {
                bytes[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
            }
            check(bytes)
        }
    }

    @Test("An operation whose rare attributes were removed is equal to one that never had them")
    func nothingRare() {
        let plain = Operation(.delete(EntityID(rawValue: 1)), changeSet: 3)
        var changed = plain
        changed.customTag = "t"
        changed.headers = [Operation.Header(name: "a", value: "b")]
        changed.isUnmodifiable = true
        #expect(changed != plain)
        changed.customTag = nil
        changed.headers = []
        changed.isUnmodifiable = false
        #expect(changed == plain)
        #expect(Set([changed, plain]).count == 1)
    }
}
