import Testing

@testable import OperationLog

/// Records taken apart into columns and put together again.
@Suite struct ColumnTests {
    private static func raw(_ records: [(kind: UInt8, payload: [UInt8])]) -> [UInt8] {
        var raw: [UInt8] = []
        for record in records { RecordCoding.encode(kind: record.kind, payload: record.payload, into: &raw) }
        return raw
    }

    private static func columns(_ raw: [UInt8]) throws -> [UInt8] { try #require(ColumnWriter(raw: raw)).bytes }

    private static func order(_ number: Int, _ generator: inout SeededGenerator) -> [UInt8] {
        let words = ["fragile", "call", "gift", "noon"].shuffled(using: &generator).prefix(2).joined(separator: " ")
        let amount = Int.random(in: 0...99999, using: &generator)
        var bytes: [UInt8] = [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
        bytes += Array("OrderID=\(number);Amount=\(amount);Note=\(words);".utf8)
        bytes += [UInt8.random(in: 0...20, using: &generator)]
        return bytes
    }

    @Test func `records of one shape have one template, and take less room than their raw bytes`() throws {
        var generator = SeededGenerator(seed: 7)
        let raw = Self.raw((0..<500).map { (kind: UInt8(2), payload: Self.order($0 + 1000, &generator)) })
        let columns = try Self.columns(raw)
        #expect(columns[0] == 1)
        #expect(columns.count * 3 < raw.count * 2)
        #expect(ColumnReader.raw(columns, recordCount: 500, rawLength: raw.count) == raw)
    }

    @Test func `numbers that count up become the same difference again and again`() throws {
        let raw = Self.raw((0..<200).map { (kind: UInt8(1), payload: Array("count".utf8) + [UInt8($0)]) })
        let columns = try Self.columns(raw)
        #expect(columns.suffix(199).allSatisfy { $0 == 1 })
        #expect(ColumnReader.raw(columns, recordCount: 200, rawLength: raw.count) == raw)
    }

    @Test func `records without a shape are kept whole`() throws {
        for records in [
            [], [(kind: UInt8(1), payload: [])], [(kind: 9, payload: [1, 2, 3]), (kind: 8, payload: [4])],
            Array(repeating: (kind: UInt8(3), payload: [UInt8]()), count: 100),
        ] as [[(kind: UInt8, payload: [UInt8])]] {
            let raw = Self.raw(records)
            let columns = try Self.columns(raw)
            #expect(ColumnReader.raw(columns, recordCount: records.count, rawLength: raw.count) == raw)
        }
    }

    @Test func `any records come back as they were`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("seed: \(seed)")
        var generator = SeededGenerator(seed: seed)
        for round in 0..<Effort.runs("TIDELOG_COLUMNS", usually: 150) {
            let shapes = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
                (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                    (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                        UInt8.random(in: 0...255, using: &generator)
                    }
                }
            }
            let letters: ClosedRange<UInt8> = Bool.random(using: &generator) ? 0...255 : 0...2
            let records = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
                let shape = shapes.randomElement(using: &generator) ?? []
                var payload: [UInt8] = []
                for piece in shape {
                    for _ in 0..<Int.random(in: 0...5, using: &generator) {
                        payload.append(.random(in: letters, using: &generator))
                    }
                    payload += piece
                }
                return (kind: UInt8.random(in: 1...2, using: &generator), payload: payload)
            }
            let raw = Self.raw(records)
            let columns = try Self.columns(raw)
            let back = ColumnReader.raw(columns, recordCount: records.count, rawLength: raw.count)
            #expect(back == raw, "seed \(seed), round \(round)")
        }
    }

    @Test func `columns that were changed give other records or none, and never trap`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("seed: \(seed)")
        var generator = SeededGenerator(seed: seed)
        let raw = Self.raw((0..<60).map { (kind: UInt8(2), payload: Self.order($0, &generator)) })
        let columns = try Self.columns(raw)
        var refused = 0
        let rounds = Effort.runs("TIDELOG_COLUMNS", usually: 150) * 100
        for _ in 0..<rounds {
            var changed = columns
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<min(changed.count, 300), using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: changed[index] = .random(in: 0...255, using: &generator)
                case 1: changed.remove(at: index)
                default: changed.insert([0xFF, 0x7F, 0, 1].randomElement(using: &generator) ?? 0, at: index)
                }
            }
            let found = ColumnReader.raw(changed, recordCount: 60, rawLength: raw.count)
            if found == nil { refused += 1 } else { #expect(found?.count == raw.count) }
        }
        #expect(refused > rounds / 2)
    }

    @Test func `random bytes for columns never trap`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("seed: \(seed)")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<Effort.runs("TIDELOG_COLUMNS", usually: 150) * 100 {
            let small = Bool.random(using: &generator)
            let bytes = (0..<Int.random(in: 0...80, using: &generator)).map { _ in
                UInt8.random(in: 0...(small ? 4 : 255), using: &generator)
            }
            let count = Int.random(in: 0...20, using: &generator)
            _ = ColumnReader.raw(bytes, recordCount: count, rawLength: Int.random(in: 0...200, using: &generator))
        }
    }

    @Test func `a few bytes cannot claim gigabytes`() {
        // A template whose gap has 256 MiB a record, in lanes, of no record.
        let hostile: [UInt8] = [1, 5, 1, 1, 0x61, 0, 1, 0, 2, 0xFF, 0xFF, 0xFF, 0x7F, 1, 0]
        #expect(ColumnReader.raw(hostile, recordCount: 1, rawLength: 2) == nil)
    }
}
