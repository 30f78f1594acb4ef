import Testing

@testable import OperationLog

/// Searches in column blocks find the matching records and restore them exactly.
@Suite struct ColumnBlockTests {
    private struct Found: Equatable {
        let sequence: UInt64
        let kind: UInt8
        let payload: [UInt8]
    }

    private static let nothing = ColumnSearch(
        numbers: SearchedIdentifiers([]), values: [], isWanted: { _ in false }, isWantedWhole: { _, _ in false })

    private static func found(_ search: ColumnSearch, _ block: ColumnBlock) -> [Found] {
        var found: [Found] = []
        block.forEachCandidate(of: search) { sequence, kind, payload in
            found.append(Found(sequence: sequence, kind: kind, payload: Array(payload)))
        }
        return found
    }

    /// Returns random records of ``ColumnTests``, numbered from 11 on, with their block, or nil if the records have no
    /// column form.
    private static func sample(_ random: inout ColumnTests.Numbers) -> (records: [Found], block: ColumnBlock)? {
        let records = (0..<Int.random(in: 20...100, using: &random)).map { place in
            Found(
                sequence: 11 + UInt64(place), kind: UInt8.random(in: 97...101, using: &random),
                payload: ColumnTests.payload(&random))
        }
        let raw = ColumnTests.raw(records.map { ($0.kind, $0.payload) })
        guard let form = ColumnTests.form(raw, records.count),
            let block = ColumnBlock(
                form, firstSequence: 11, recordCount: UInt32(records.count), rawLength: raw.count)
        else { return nil }
        return (records, block)
    }

    /// Returns the numbers in the record's fields.
    private static func numbers(_ record: Found) -> [UInt64] {
        record.payload.withUnsafeBytes { payload in
            var fields: [RecordField] = []
            ColumnTests.layout.fields(record.kind, payload, &fields)
            return fields.filter { $0.form == .number }.compactMap { field in
                var at = field.range.lowerBound
                return LEB128.read(payload, at: &at, end: field.range.upperBound)
            }
        }
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `a search by number returns exactly the records that contain one of the numbers, unchanged`(seed: UInt64)
        throws
    {
        var random = ColumnTests.Numbers(state: seed)
        var searched = 0
        for round in 0..<100 {
            guard let (records, block) = Self.sample(&random) else { continue }
            #expect(block.nextSequence == 11 + UInt64(records.count))
            var search = Self.nothing
            let all = records.flatMap(Self.numbers)
            search.numbers = SearchedIdentifiers(
                (0..<Int.random(in: 1...6, using: &random)).compactMap { _ in
                    all.randomElement(using: &random)
                })
            let wanted = records.filter { Self.numbers($0).contains(where: search.numbers.contains) }
            #expect(Self.found(search, block) == wanted, "seed \(seed), round \(round)")
            searched += wanted.count
        }
        #expect(searched > 50, "seed \(seed)")
    }

    @Test func `a search by kind returns all records of the kind, unchanged`() throws {
        let records = (0..<200).map { place -> (kind: UInt8, payload: [UInt8]) in
            let payload: [UInt8] = [UInt8(place % 100), 1, 1, UInt8(place % 3), 7, 7, 7]
            return (UInt8(place % 5), payload)
        }
        let layout = RecordLayout { kind, payload, fields in
            // Records of kind 4 have no fields and are stored whole.
            if kind < 4 { fields += [RecordField(.number, 0..<1), RecordField(.number, 3..<4)] }
        }
        var encoder = ColumnEncoder(layout)
        let raw = ColumnTests.raw(records)
        let encoded = encoder.encode(raw, recordCount: 200)
        let form = try #require(encoded)
        let block = try #require(ColumnBlock(form, firstSequence: 1, recordCount: 200, rawLength: raw.count))
        for kind in UInt8(0)...4 {
            var search = Self.nothing
            search.isWanted = { $0 == kind }
            search.isWantedWhole = { found, payload in found == kind && payload.count == 7 }
            let found = Self.found(search, block)
            let payloads = records.filter { $0.kind == kind }.map { $0.payload }
            #expect(found.map { $0.payload } == payloads)
            #expect(found.allSatisfy { $0.kind == kind })
        }
    }

    @Test(arguments: [false, true])
    func `numbers are found in and outside of a column's range, with and without numbers above 32 bits`(isLarge: Bool)
        throws
    {
        // The payload is a name and a number between 1,000 and 1,096.
        func payload(_ number: UInt64) -> [UInt8] {
            var payload = Array("Name".utf8)
            LEB128.append(number, to: &payload)
            return payload
        }
        var records = (0..<200).map { payload(1_000 + UInt64($0 % 97)) }
        let large = UInt64(UInt32.max) + 1_005
        if isLarge { records[150] = payload(large) }
        let layout = RecordLayout { _, payload, fields in fields.append(RecordField(.number, 4..<payload.count)) }
        var encoder = ColumnEncoder(layout)
        let raw = ColumnTests.raw(records.map { (2, $0) })
        let encoded = encoder.encode(raw, recordCount: 200)
        let form = try #require(encoded)
        let block = try #require(ColumnBlock(form, firstSequence: 1, recordCount: 200, rawLength: raw.count))
        // 1,005 has the same low 32 bits as the second large number; the last ones are outside of the range.
        for number in [1_000, 1_005, 1_096, large, UInt64(UInt32.max) + 1 + 1_005, 5, 999, 1_097, 1 << 40, .max] {
            let wanted = records.filter { $0 == payload(number) }
            var named = Self.nothing
            named.values = [
                ColumnSearch.NamedValue(name: Array("Name".utf8), value: Array(payload(number).dropFirst(4)))
            ]
            #expect(Self.found(named, block).map(\.payload) == wanted, "\(number)")
            var single = Self.nothing
            single.numbers = SearchedIdentifiers([number])
            #expect(Self.found(single, block).map(\.payload) == wanted, "\(number)")
            var several = Self.nothing
            several.numbers = SearchedIdentifiers([number, 1_001, 7])
            let either = records.filter { $0 == payload(number) || $0 == payload(1_001) }
            #expect(Self.found(several, block).map(\.payload) == either, "\(number)")
        }
    }

    @Test func `a search by named value matches literals that end with, continue after or equal the name`() throws {
        // The payload of kind 2 is a name, a number and a text. Names, numbers and texts vary between the records.
        func payload(_ name: String, _ number: UInt8, _ text: String) -> [UInt8] {
            var payload = Array(name.utf8)
            payload += [1, number, 2, UInt8(text.utf8.count)]
            return payload + Array(text.utf8)
        }
        let texts = ["x", "xy", "y", "xy", "z"]
        let records = (0..<200).map { place in
            payload(place % 2 == 0 ? "Name" : "Note", UInt8(place % 7), texts[place % 5])
        }
        let layout = RecordLayout { _, payload, fields in
            fields.append(RecordField(.number, 5..<6))
            fields.append(RecordField(.text, 7..<payload.count))
        }
        var encoder = ColumnEncoder(layout)
        let raw = ColumnTests.raw(records.map { (2, $0) })
        let encoded = encoder.encode(raw, recordCount: 200)
        let form = try #require(encoded)
        let block = try #require(ColumnBlock(form, firstSequence: 1, recordCount: 200, rawLength: raw.count))
        func found(_ name: [UInt8], _ value: [UInt8]) -> [[UInt8]] {
            var search = Self.nothing
            search.values = [ColumnSearch.NamedValue(name: name, value: value)]
            return Self.found(search, block).map(\.payload)
        }
        let (name, note) = (Array("Name".utf8), Array("Note".utf8))
        #expect(found(name, [1, 3]) == records.filter { $0.starts(with: name + [1, 3]) })
        #expect(found([2], [2] + Array("xy".utf8)) == records.filter { $0.suffix(2).elementsEqual("xy".utf8) })
        #expect(found(Array("Not".utf8), Array("e".utf8)) == records.filter { $0.starts(with: note) })
        // The search ignores bytes after the step's value.
        #expect(found(name, [1, 3, 2]) == found(name, [1, 3]))
        #expect(found(Array("Nome".utf8), [1]) == [])
        var both = Self.nothing
        both.numbers = SearchedIdentifiers([5])
        both.values = [ColumnSearch.NamedValue(name: name, value: [1, 3]), .init(name: note, value: [1, 5])]
        let isWanted = { (record: [UInt8]) in record[5] == 5 || record.starts(with: name + [1, 3]) }
        #expect(Self.found(both, block).map { $0.payload } == records.filter(isWanted))
    }

    /// The encoder of this version stores such a record whole; the format permits it.
    @Test func `a record whose rest follows another field is always a candidate`() throws {
        let (number, rest) = (ColumnForm.Ending.number.rawValue, ColumnForm.Ending.rest.rawValue)
        // The kind 5 and a number, then the rest of the record.
        let steps: [UInt8] = [2, number, 1, 5, rest, 0]
        let row: [UInt8] = [2, 0, 1]
        let columns: [UInt8] = [2, ColumnForm.NumberMode.plain.rawValue, 7, 4, 3, 1, 2, 3]
        let block = try #require(
            ColumnBlock(steps + row + columns, firstSequence: 11, recordCount: 1, rawLength: 6))
        #expect(Self.found(Self.nothing, block) == [Found(sequence: 11, kind: 5, payload: [7, 1, 2, 3])])
    }

    @Test func `a search in a block with changed bytes ends early and never traps`() throws {
        var random = ColumnTests.Numbers(state: 9)
        let records = (0..<30).map { _ in (kind: UInt8(1), payload: ColumnTests.payload(&random)) }
        let raw = ColumnTests.raw(records)
        let form = try #require(ColumnTests.form(raw, 30))
        var search = Self.nothing
        search.isWanted = { _ in true }
        search.isWantedWhole = { _, _ in true }
        search.numbers = SearchedIdentifiers(0..<100)
        for index in form.indices {
            for bit in 0..<8 {
                var changed = form
                changed[index] ^= 1 << UInt8(bit)
                guard let block = ColumnBlock(changed, firstSequence: 1, recordCount: 30, rawLength: raw.count) else {
                    continue
                }
                let found = Self.found(search, block)
                #expect(found.count <= 30)
                #expect(found.allSatisfy { $0.payload.count <= raw.count })
            }
        }
    }
}
