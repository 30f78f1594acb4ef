import Testing

@testable import OperationLog

/// Decoding a column form restores the raw bytes for any input and never returns more bytes than declared.
@Suite struct ColumnTests {
    /// The payloads in these tests are sequences of numbers, texts and fixed values of three bytes, each preceded by
    /// literal bytes.
    static let layout = RecordLayout { kind, payload, fields in
        guard kind < 100 else { return }
        var at = 0
        while at < payload.count {
            let form = RecordField.FieldEncoding(rawValue: payload[at] & 3)
            at += 1
            let start = at
            switch form {
            case .number:
                guard LEB128.read(payload, at: &at, end: payload.count) != nil else { return }
            case .text:
                guard let length = LEB128.read(payload, at: &at, end: payload.count), length <= payload.count - at
                else { return }
                at += Int(length)
            case .fixed: at += 3
            case nil: continue
            }
            guard let form, at <= payload.count else { return }
            fields.append(RecordField(form, start..<at))
        }
    }

    struct Numbers: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    static func payload(_ random: inout Numbers) -> [UInt8] {
        var payload: [UInt8] = []
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            switch Int.random(in: 0...3, using: &random) {
            case 0: payload.append(contentsOf: Array(repeating: 8, count: 12))
            case 1:
                payload.append(1)
                LEB128.append(random.next() >> UInt64.random(in: 0...63, using: &random), to: &payload)
            case 2:
                let length = Int.random(in: 0...200, using: &random)
                payload.append(2)
                LEB128.append(UInt64(length), to: &payload)
                payload.append(contentsOf: repeatElement(UInt8(length & 0xFF), count: length))
            default: payload.append(contentsOf: [3, 7, 8, UInt8(truncatingIfNeeded: random.next())])
            }
        }
        return payload
    }

    static func raw(_ records: [(kind: UInt8, payload: [UInt8])]) -> [UInt8] {
        var raw: [UInt8] = []
        for record in records {
            raw.append(record.kind)
            LEB128.append(UInt64(record.payload.count), to: &raw)
            raw.append(contentsOf: record.payload)
        }
        return raw
    }

    static func form(_ raw: [UInt8], _ count: Int) -> [UInt8]? {
        var encoder = ColumnEncoder(layout)
        return encoder.encode(raw, recordCount: UInt32(count))
    }

    private static func restored(_ form: [UInt8], _ count: Int, _ raw: [UInt8]) -> [UInt8]? {
        var decoder = ColumnDecoder()
        return decoder.decode(form, recordCount: UInt32(count), rawLength: raw.count)
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `random records are restored from their columns`(seed: UInt64) throws {
        var random = Numbers(state: seed)
        var encoder = ColumnEncoder(Self.layout)
        var encoded = 0
        for round in 0..<100 {
            let records = (0..<Int.random(in: 20...100, using: &random)).map { _ in
                (kind: UInt8.random(in: 97...101, using: &random), payload: Self.payload(&random))
            }
            let raw = Self.raw(records)
            guard let form = encoder.encode(raw, recordCount: UInt32(records.count)) else { continue }
            encoded += 1
            #expect(Self.restored(form, records.count, raw) == raw, "seed \(seed), round \(round)")
        }
        #expect(encoded > 50, "seed \(seed)")
    }

    @Test func `numbers that increase by similar steps take few bytes each`() throws {
        let records = (0..<1000).map { number in
            var payload: [UInt8] = [1]
            LEB128.append(1_770_000_000_000_000_000 + UInt64(number * number) * 1_000_000_000, to: &payload)
            return (kind: UInt8(2), payload: payload)
        }
        let raw = Self.raw(records)
        let form = try #require(Self.form(raw, 1000))
        // Each record takes two bytes for its steps in the row and at most two bytes for the difference.
        #expect(form.count < 1000 * 4 + 64)
        #expect(Self.restored(form, 1000, raw) == raw)
    }

    @Test func `the smallest and the largest numbers are restored`() throws {
        let numbers: [UInt64] = [0, .max, 0, 1 << 63, .max, (1 << 63) - 1, 1, 0, 0, 0, 0, 0, 0, 0]
        let records = numbers.map { number in
            var payload: [UInt8] = Array(repeating: 8, count: 20) + [1]
            LEB128.append(number, to: &payload)
            return (kind: UInt8(2), payload: payload)
        }
        let raw = Self.raw(records)
        let form = try #require(Self.form(raw, records.count))
        #expect(Self.restored(form, records.count, raw) == raw)
    }

    @Test func `fixed values of different sizes after the same step are restored`() throws {
        let literal = [UInt8](repeating: 8, count: 20)
        let layout = RecordLayout { _, payload, fields in
            fields.append(RecordField(.number, 20..<21))
            fields.append(RecordField(.fixed, 21..<payload.count))
        }
        let records = (0..<50).map { index in
            (kind: UInt8(1), payload: literal + [UInt8(index)] + [UInt8](repeating: UInt8(index), count: 2 + index % 2))
        }
        let raw = Self.raw(records)
        var encoder = ColumnEncoder(layout)
        let encoded = encoder.encode(raw, recordCount: 50)
        #expect(Self.restored(try #require(encoded), 50, raw) == raw)
    }

    @Test func `records are restored even if the layout does not match the payload`() throws {
        let wrong: [RecordField] = [
            RecordField(.number, 0..<3), RecordField(.text, 3..<9), RecordField(.fixed, 2..<4),
            RecordField(.fixed, 40..<60), RecordField(.number, 5..<5),
        ]
        for field in wrong {
            let records = (0..<50).map { (kind: UInt8(1), payload: Array("0123456789 and more of it \($0)".utf8)) }
            let raw = Self.raw(records)
            var encoder = ColumnEncoder(RecordLayout { _, _, fields in fields.append(field) })
            guard let form = encoder.encode(raw, recordCount: 50) else { continue }
            #expect(Self.restored(form, 50, raw) == raw, "\(field)")
        }
    }

    @Test func `changed columns yield nil or the expected number of bytes, and never trap`() throws {
        var random = Numbers(state: 7)
        let records = (0..<30).map { _ in (kind: UInt8(1), payload: Self.payload(&random)) }
        let raw = Self.raw(records)
        let form = try #require(Self.form(raw, 30))
        for index in form.indices {
            for bit in 0..<8 {
                var changed = form
                changed[index] ^= 1 << bit
                if let other = Self.restored(changed, 30, raw) { #expect(other.count == raw.count) }
            }
        }
        for length in form.indices { #expect(Self.restored(Array(form[..<length]), 30, raw) == nil) }
        #expect(Self.restored(form, 29, raw) == nil)
        #expect(Self.restored(form, 31, raw) == nil)
        #expect(Self.restored(form, 30, raw + [0]) == nil)
        #expect(Self.restored(form, 30, Array(raw.dropLast())) == nil)
    }
}
