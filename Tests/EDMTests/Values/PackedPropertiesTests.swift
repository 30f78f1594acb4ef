import EDM
import SeededRandom
import Testing

/// Values that stay encoded behave exactly like decoded values.
struct PackedPropertiesTests {
    private static let seeds: [UInt64] = Array(1...40)

    private func encoded(_ values: PropertyValues) -> [UInt8] {
        var writer = ByteWriter()
        writer.properties(values)
        return writer.bytes
    }

    private func encoded(_ value: Value?) -> [UInt8]? {
        value.map {
            var writer = ByteWriter()
            writer.value($0)
            return writer.bytes
        }
    }

    private func decoded(_ bytes: [UInt8], _ names: NameTable? = nil) throws(CodecError) -> PropertyValues {
        try ByteReader.read(bytes, names: names) { reader throws(CodecError) in try reader.properties() }
    }

    @Test(arguments: seeds) func `encoded properties return the values that were encoded`(seed: UInt64) throws {
        var random = RandomValues(seed: seed)
        let plain = random.properties()
        let packed = PropertyValues(try #require(plain.packed(with: NameTable())))
        #expect(packed.packed != nil && plain.packed == nil)
        #expect(packed.count == plain.count && packed.isEmpty == plain.isEmpty)
        #expect(packed.names == plain.names)
        #expect(packed.values.map(encoded) == plain.values.map(encoded))
        #expect(packed.map(\.name) == plain.names)
        #expect(packed.map { encoded($0.value) } == plain.values.map(encoded))
        for name in RandomValues.names + ["none", "Café", "Cafe\u{301}"] {
            #expect(encoded(packed[name]) == encoded(plain[name]), "\(name)")
        }
        #expect(String(describing: packed) == String(describing: plain))
    }

    @Test(arguments: seeds) func `values that are set in encoded properties are those that were set`(
        seed: UInt64
    ) throws {
        var random = RandomValues(seed: seed)
        let names = NameTable()
        var plain = random.properties()
        var packed = plain
        packed.encode(with: names)
        #expect(packed.packed != nil || plain.isEmpty)
        for name in RandomValues.names + ["none", "Café", "none"] {
            let value = random.value()
            plain[name] = value
            packed.set(value, of: name, with: names)
            #expect(encoded(packed) == encoded(plain), "\(name)")
        }
        var flat: PropertyValues = ["A": .integer(1)]
        flat.encode(with: names)
        flat.set(.string("b"), of: "B", with: names)
        flat.set(.null, of: "A", with: names)
        #expect(flat.packed != nil && flat == ["A": .null, "B": .string("b")])
    }

    @Test(arguments: seeds) func `values that are read one by one are the same in each order`(seed: UInt64) throws {
        var random = RandomValues(seed: seed)
        let plain = random.properties()
        let packed = PropertyValues(try #require(plain.packed(with: NameTable())))
        var position = PropertyPosition()
        let names = plain.names + RandomValues.names + ["none", "Café", "Cafe\u{301}"]
        for name in names + names.shuffled(using: &random.random) {
            #expect(encoded(packed.value(of: name, from: &position)) == encoded(plain[name]), "\(name)")
        }
    }

    @Test(arguments: seeds) func `encoded properties compare and hash like their values`(seed: UInt64) throws {
        var random = RandomValues(seed: seed)
        let table = NameTable()
        let one = random.properties()
        var other = one
        if let name = one.names.first { other[name] = random.value() }
        let shuffled = PropertyValues(one.map { ($0.name, $0.value) }.shuffled(using: &random.random))
        for (a, b) in [(one, one), (one, other), (other, one), (one, shuffled), (one, random.properties())] {
            let packedA = PropertyValues(try #require(a.packed(with: table)))
            let packedB = PropertyValues(try #require(b.packed(with: table)))
            let areEqual = a == b
            #expect((packedA == packedB) == areEqual)
            #expect((packedA == b) == areEqual)
            #expect((a == packedB) == areEqual)
            #expect(!areEqual || packedA.hashValue == b.hashValue)
        }
    }

    @Test func `encoded numbers compare by value, and encoded strings by code units`() throws {
        let table = NameTable()
        func packed(_ value: Value) throws -> PropertyValues {
            PropertyValues(try #require(PropertyValues([("a", value)]).packed(with: table)))
        }
        #expect(try packed(.decimal(DecimalValue("1.5")!)) == packed(.decimal(DecimalValue("1.50")!)))
        #expect(try packed(.string("\u{E9}")) != packed(.string("e\u{301}")))
        #expect(try packed(.double(.nan)) != packed(.double(.nan)))
        #expect(try packed(.double(0)) == packed(.double(-0.0)))
        #expect(try packed(.collection([.single(.nan)])) != packed(.collection([.single(.nan)])))
    }

    @Test(arguments: seeds) func `a change of encoded properties keeps the unchanged values`(seed: UInt64) throws {
        var random = RandomValues(seed: seed)
        var plain = random.properties()
        let before = PropertyValues(try #require(plain.packed(with: NameTable())))
        var packed = before
        for name in [RandomValues.names.randomElement(using: &random.random)!, "none"] {
            let value = Bool.random(using: &random.random) ? random.value() : nil
            plain[name] = value
            packed[name] = value
        }
        let merged = random.properties()
        let packedMerged = PropertyValues(try #require(merged.packed(with: NameTable())))
        plain.merge(merged)
        packed.merge(packedMerged)
        #expect(encoded(packed) == encoded(plain))
        #expect(before.packed != nil)
    }

    @Test(arguments: seeds) func `values of known names stay encoded in a merge`(seed: UInt64) throws {
        var random = RandomValues(seed: seed)
        let plain = random.properties()
        let packed = PropertyValues(try #require(plain.packed(with: NameTable())))
        let changes = PropertyValues(
            plain.names.filter { _ in Bool.random(using: &random.random) }.shuffled(using: &random.random)
                .map { ($0, .integer(Int64.random(in: -300...300, using: &random.random))) })
        let packedChanges = PropertyValues(try #require(changes.packed(with: NameTable())))
        var expected = plain
        expected.merge(changes)
        for changes in [changes, packedChanges] {
            var merged = packed
            merged.merge(changes)
            #expect(encoded(merged) == encoded(expected))
            if changes.names != plain.names { #expect(merged.packed != nil) }
        }
        #expect(encoded(packed) == encoded(plain))
    }

    @Test(arguments: seeds) func `encoded properties are written like their values`(seed: UInt64)
        throws
    {
        var random = RandomValues(seed: seed)
        let plain = random.properties()
        let packed = PropertyValues(try #require(plain.packed(with: NameTable())))
        #expect(encoded(packed) == encoded(plain))
    }

    @Test func `properties with known names are read without decoding the values`() throws {
        let table = NameTable()
        let values: PropertyValues = ["ID": .integer(1), "Name": .string("a"), "Größe": .null]
        #expect(try decoded(encoded(values), table).packed == nil)
        let first = try decoded(encoded(values), table)
        let second = try decoded(encoded(values), table)
        #expect(first.packed != nil && first == values)
        #expect(first.packed?.names === second.packed?.names)
    }

    @Test func `properties with a value that is nested too deeply are not encoded`() {
        var value = Value.integer(1)
        for _ in 0...ByteReader.depthLimit { value = .collection([value]) }
        #expect(PropertyValues([("a", value)]).packed(with: NameTable()) == nil)
    }

    // MARK: Untrusted bytes

    /// Compares with the reader that decodes all values: both return the same values, or the same error at the same
    /// byte.
    private func compare(_ bytes: [UInt8], _ table: NameTable) throws {
        do throws(CodecError) {
            let plain = try decoded(bytes)
            let other = try decoded(bytes, table)
            #expect(encoded(other) == encoded(plain), "\(bytes)")
        } catch {
            #expect(throws: error, "\(bytes)") { try decoded(bytes, table) }
        }
    }

    @Test(arguments: seeds) func `damaged bytes fail at the same position as in the decoder of values`(seed: UInt64)
        throws
    {
        var random = RandomValues(seed: seed)
        let values = random.properties()
        let whole = encoded(values)
        let table = NameTable()
        // From here on, the names are in the table.
        _ = try decoded(whole, table)
        try compare(whole, table)
        for _ in 0..<60 {
            var bytes = whole
            for _ in 0...Int.random(in: 0...2, using: &random.random) where !bytes.isEmpty {
                let at = Int.random(in: 0..<bytes.count, using: &random.random)
                switch Int.random(in: 0..<5, using: &random.random) {
                case 0: bytes[at] = .random(in: 0...255, using: &random.random)
                case 1: bytes[at] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random.random)
                case 2: bytes.remove(at: at)
                case 3: bytes.insert(.random(in: 0...255, using: &random.random), at: at)
                default: bytes.removeSubrange(at...)
                }
            }
            try compare(bytes, table)
        }
    }

    @Test(
        arguments: [
            // The decimal 1.0 written as +1.0, and a negative zero.
            [6, 4, 0x2B, 0x31, 0x2E, 0x30], [6, 2, 0x2D, 0x30],
            // A number and a length with more bytes than necessary.
            [3, 0x82, 0x00], [7, 0x81, 0x00, 0x61],
            // Half a second without digits for it, and a negative duration of zero.
            [11, 0x80, 0xA0, 0x94, 0xA5, 0x8D, 0x1D, 0], [12, 1, 0, 0],
            // A complex value with a duplicate name, and one with two names that are equal but not identical.
            [17, 0, 2, 1, 0x61, 0, 1, 0x61, 1], [17, 0, 2, 3, 0x65, 0xCC, 0x81, 0, 2, 0xC3, 0xA9, 1],
            // Invalid UTF-8: an overlong encoding, a surrogate, and a scalar above the maximum.
            [7, 2, 0xC0, 0x80], [7, 3, 0xED, 0xA0, 0x80], [7, 4, 0xF4, 0x90, 0x80, 0x80],
        ] as [[UInt8]]) func `bytes that no writer produces are decoded as plain values`(value: [UInt8]) throws
    {
        let table = NameTable()
        _ = try decoded(encoded(["a": .null]), table)
        try compare([1, 1, 0x61] + value, table)
        #expect(((try? decoded([1, 1, 0x61] + value, table)).flatMap(\.packed)) == nil)
    }

    @Test(arguments: seeds) func `a subset copied from bytes equals the subset of the whole values`(seed: UInt64) throws
    {
        var random = RandomValues(seed: seed)
        let packed = try #require(random.properties().packed(with: NameTable()))
        let isChosen = { (name: String) in name.utf8.count % 2 == 1 }
        let subset = PropertySubset(where: isChosen)
        let whole = try #require(subset(PropertyValues(packed)))
        var page = PackedPage()
        let copy = packed.bytes.withUnsafeBytes { subset.copy(of: $0, named: packed.names, to: &page) }
        #expect(copy.map { PropertyValues($0).hasSameEncoding(as: whole) } == true)
        #expect(whole.names == packed.names.names.filter(isChosen))
        // The values that are not chosen are checked too.
        for invalid in [packed.bytes + [0], Array(packed.bytes.dropLast())] where invalid != packed.bytes {
            let copy = invalid.withUnsafeBytes { subset.copy(of: $0, named: packed.names, to: &page) }
            #expect(copy == nil)
        }
    }

    // MARK: Pages

    @Test(arguments: seeds) func `rows of a page have their own names and values`(seed: UInt64) throws {
        var random = RandomValues(seed: seed)
        let table = NameTable()
        let rows = try (0..<40).flatMap { _ in
            let row = random.properties()
            return try (0..<Int.random(in: 1...30, using: &random.random)).map { number in
                var row = row
                if let name = row.names.first { row[name] = .string(String(repeating: "x", count: 40 * number)) }
                return try #require(row.packed(with: table))
            }
        }
        var page = PackedPage()
        let copies = rows.map { row in row.withBytes { page.copy($0, named: row.names) } }
        for (row, copy) in zip(rows, copies) {
            #expect(copy.map { $0.names === row.names && $0.bytes == row.bytes } == true)
        }
    }

    @Test func `rows share memory up to a limit`() throws {
        let values = PropertyValues([("a", .string(String(repeating: "x", count: 100)))])
        let row = try #require(values.packed(with: NameTable()))
        var page = PackedPage()
        var copies: [PackedProperties] = []
        for _ in 0..<2_000 { copies.append(try #require(row.withBytes { page.copy($0, named: row.names) })) }
        // The numbers of bytes of adjacent rows.
        var runs: [Int] = []
        var end: UInt?
        for copy in copies {
            let address = copy.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            if address == end { runs[runs.count - 1] += copy.byteCount } else { runs.append(copy.byteCount) }
            end = address + UInt(copy.byteCount)
        }
        #expect(runs[0] == row.byteCount, "The first row has memory of its own.")
        #expect(runs.allSatisfy { $0 <= PackedPage.sizeLimit } && runs.count < 10, "\(runs)")
    }

    @Test(arguments: seeds) func `damaged bytes in a page are refused or read without a trap`(seed: UInt64) throws {
        var random = RandomValues(seed: seed)
        let whole = try #require(random.properties().packed(with: NameTable()))
        var page = PackedPage()
        for _ in 0..<200 where !whole.bytes.isEmpty {
            var bytes = whole.bytes
            for _ in 0...Int.random(in: 0...2, using: &random.random) {
                let at = Int.random(in: 0..<bytes.count, using: &random.random)
                bytes[at] = .random(in: 0...255, using: &random.random)
            }
            guard let copy = bytes.withUnsafeBytes({ page.copy($0, named: whole.names) }) else { continue }
            let values = PropertyValues(copy)
            #expect(copy.bytes == bytes && values.values.count == whole.names.count)
            for (name, value) in values {
                #expect(encoded(value) == encoded(values[name]), "\(bytes)")
                _ = (value.hashValue, value.decimalValue.flatMap(BigDecimal.init)?.normalized)
            }
            _ = (values == PropertyValues(whole), values.hashValue)
            var changed = values
            changed.merge(PropertyValues(whole))
            changed["none"] = .null
        }
    }

    @Test(
        arguments: [
            // A decimal without digits, a duration whose sign is neither true nor false, and a date in the month 13.
            [6, 1, 0x2F], [12, 2, 2, 2], [10, 2, 13, 1], [13, 2, 13, 1, 2, 0], [14, 2, 13, 1, 2, 0, 2],
        ] as [[UInt8]]) func `an invalid value is read as null, and the next one is unaffected`(value: [UInt8]) throws
    {
        let names = try #require(PropertyNames(["a", "b"]))
        var page = PackedPage()
        let copy = try #require((value + [3, 2]).withUnsafeBytes { page.copy($0, named: names) })
        let values = PropertyValues(copy)
        #expect(values.values == [.null, .integer(1)] && values["b"] == .integer(1))
        #expect(values.map(\.value) == values.values && values == ["a": .null, "b": .integer(1)])
    }

    @Test(arguments: seeds) func `the UTF-8 check accepts exactly the bytes that form a valid string`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let pieces: [[UInt8]] = [
            [0x61], [0xC3, 0xA9], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xF0, 0x90, 0x80, 0x80], [0x80], [0xC1],
            [0xED, 0xA0, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0xF5], [0xE0, 0x80],
        ]
        for _ in 0..<50 {
            var bytes = (0..<Int.random(in: 0...6, using: &random)).flatMap { _ in pieces.randomElement(using: &random)!
            }
            if !bytes.isEmpty, Bool.random(using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            #expect(
                bytes.withUnsafeBytes(UTF8Text.isValid) == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)"
            )
        }
    }
}

extension PackedProperties {
    fileprivate func withBytes(_ body: (UnsafeRawBufferPointer) -> PackedProperties?) -> PackedProperties? {
        withUnsafeBytes(body)
    }
}
