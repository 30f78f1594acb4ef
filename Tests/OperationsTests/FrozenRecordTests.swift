import EDM
import Testing

@testable import Operations

/// The bytes of records never change, and optional fields have exactly one form.
@Suite struct FrozenRecordTests {
    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(arguments: FrozenRecord.all)
    func `the bytes of a record of version 1 are written and read`(frozen: FrozenRecord) throws {
        let (kind, payload) = RecordCodec.encode(frozen.record)
        #expect(kind == frozen.kind.rawValue)
        #expect(Self.hex(payload) == frozen.hex, "FROZEN \(frozen.name)")
        let bytes = Self.bytes(frozen.hex)
        #expect(try RecordCodec.decode(kind: frozen.kind.rawValue, payload: bytes) == frozen.record)
        #expect(try RecordDecoder().decode(kind: frozen.kind.rawValue, payload: bytes) == frozen.record)
    }

    @Test func `there is a frozen record of each kind`() {
        #expect(Set(FrozenRecord.all.map(\.kind)) == Set(RecordCodec.RecordKind.allCases))
        #expect(RecordCodec.RecordKind.allCases.map(\.rawValue) == Array(0...23))
    }

    // MARK: Fields

    /// A deletion, followed by these bytes instead of the end of its fields.
    private func decoded(_ fields: UInt8...) throws -> Record.Body {
        try RecordCodec.decode(kind: RecordCodec.RecordKind.operation.rawValue, payload: [10, 3, 7] + fields).body
    }

    private let deletion = Operation(.delete(EntityID(rawValue: 7)))

    @Test func `an unknown field is skipped if it may be ignored`() throws {
        #expect(try decoded(0) == .operation(deletion))
        // Field 60, a number, and field 61, two bytes.
        #expect(try decoded(241, 0x85, 1, 247, 2, 8, 9, 0) == .operation(deletion))
        #expect(try decoded(5, 9, 0) == .operation(deletion))
        #expect(throws: CodecError.self) { try decoded(247, 3, 8, 9) }
        #expect(throws: CodecError.self) { try decoded(247, 1, 8, 9, 0) }
    }

    @Test func `a record with another unknown field is kept as an unknown record`() throws {
        let payload: [UInt8] = [10, 3, 7, 240, 5, 0]
        let kind = RecordCodec.RecordKind.operation.rawValue
        let record = try RecordCodec.decode(kind: kind, payload: payload)
        #expect(record == Record(time: 0, body: .unknown(kind: kind, payload: payload)))
        #expect(RecordCodec.encode(record) == (kind, payload))
        #expect(try RecordDecoder().decode(kind: kind, payload: payload) == record)
    }

    @Test func `a number has one form, and a field one tag`() {
        let kind = RecordCodec.RecordKind.operation.rawValue
        #expect(throws: CodecError.self) { _ = try RecordCodec.decode(kind: kind, payload: [0x8A, 0, 3, 7, 0]) }
        #expect(throws: CodecError.self) { _ = try RecordDecoder().decode(kind: kind, payload: [0x8A, 0, 3, 7, 0]) }
        #expect(throws: CodecError.self) { _ = try decoded(10, 1, 97, 11, 1, 98, 0) }
    }

    private static let described: [RecordCodec.RecordKind] = [
        .operation, .downloadPage, .comparedPage, .entitiesRead, .entitiesMissing, .batchPrepared, .batchAnswered,
        .queueChanged, .deliveryChanged,
    ]

    @Test(arguments: described)
    func `a record with an unknown field has to be decoded to find its entities`(kind: RecordCodec.RecordKind) throws {
        func isVisited(_ payload: [UInt8]) -> Bool {
            payload.withUnsafeBytes {
                RecordMentions.visit(kind: kind.rawValue, payload: $0, entity: { _ in }, operation: { _ in })
            }
        }
        let known = FrozenRecord.all.filter { $0.kind == kind }.map { Self.bytes($0.hex) }
        let bytes = try #require(known.first(where: isVisited))
        #expect(isVisited(bytes.dropLast() + [241, 5, 0]))
        #expect(!isVisited(bytes.dropLast() + [240, 5, 0]))
        #expect(!isVisited(bytes + [0]) && !isVisited(bytes.dropLast()))
    }

    @Test(arguments: RecordCodec.RecordKind.allCases.filter { $0 != .lost })
    func `a later version can add fields to each kind`(kind: RecordCodec.RecordKind) throws {
        for frozen in FrozenRecord.all where frozen.kind == kind {
            let payload = Self.bytes(frozen.hex).dropLast()
            #expect(try RecordCodec.decode(kind: kind.rawValue, payload: payload + [253, 1, 0]) == frozen.record)
            let later = try RecordCodec.decode(kind: kind.rawValue, payload: payload + [252, 1, 0])
            #expect(later.body == .unknown(kind: kind.rawValue, payload: payload + [252, 1, 0]))
        }
    }

    @Test func `an unknown field of an element makes the record unknown`() throws {
        let refusal = Refusal(status: 1, code: "", message: "", method: "", url: "")
        var payload = RecordCodec.encode(
            Record(time: 5, body: .operationsIncompatible([IncompatibleOperation(operation: 1, refusal: refusal)]))
        ).payload
        payload.insert(contentsOf: [252, 1], at: payload.count - 2)
        let kind = RecordCodec.RecordKind.operationsIncompatible.rawValue
        #expect(
            try RecordCodec.decode(kind: kind, payload: payload).body == .unknown(kind: kind, payload: payload))
    }

    @Test func `fields in another order, fields that occur twice, and default values are refused`() throws {
        var changeSet = deletion
        changeSet.changeSet = 9
        #expect(try decoded(4, 9, 0) == .operation(changeSet))
        // Twice, and after a later field.
        #expect(throws: CodecError.self) { try decoded(4, 9, 4, 9, 0) }
        #expect(throws: CodecError.self) { try decoded(10, 1, 65, 4, 9, 0) }
        // The tags of the number 0.
        for tag in 1...UInt8(3) { #expect(throws: CodecError.self) { try decoded(tag, 1, 0) } }
        // No headers, isUnmodifiable false and 2, delivery queued.
        #expect(throws: CodecError.self) { try decoded(30, 1, 0, 0) }
        for flag in [UInt8(0), 2] { #expect(throws: CodecError.self) { try decoded(36, flag, 0) } }
        #expect(throws: CodecError.self) { try decoded(40, 0, 0) }
        // Both categories.
        #expect(throws: CodecError.self) { try decoded(46, 1, 65, 48, 7, 0) }
        // A parent of a deletion, and a parent without its navigation property.
        #expect(throws: CodecError.self) { try decoded(12, 7, 18, 1, 65, 0) }
        #expect(throws: CodecError.self) { try decoded(12, 7, 0) }
        // No end, and bytes after it.
        #expect(throws: CodecError.self) { try decoded(4, 9) }
        #expect(throws: CodecError.self) { try decoded(0, 0) }
    }

    @Test func `a field with the wrong length is refused`() throws {
        // A stream write without fields.
        var writing = deletion
        writing.stream = StreamWrite(content: nil)
        #expect(try decoded(54, 1, 0, 0) == .operation(writing))
        #expect(throws: CodecError.self) { try decoded(54, 2, 0, 0) }
        #expect(throws: CodecError.self) { try decoded(54, 0, 0, 0) }
        #expect(throws: CodecError.self) { try decoded(54, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0, 0) }
    }

    @Test func `runs of unchanged entities have one form`() throws {
        func page(_ runs: UInt8...) throws -> Record.Body {
            try RecordCodec.decode(
                kind: RecordCodec.RecordKind.comparedPage.rawValue, payload: [10, 1, 81] + runs + [0, 0]
            ).body
        }
        let ids = [1, 2].map { EntityID(rawValue: $0) }
        #expect(try page(1, 2, 2) == .downloadPage(DownloadPage(query: "Q", unchanged: ids)))
        #expect(throws: CodecError.self) { try page(2, 2, 1, 0, 1) }
        #expect(throws: CodecError.self) { try page(1, 2, 0) }
        #expect(throws: CodecError.self) { try page(0) }
    }
}
