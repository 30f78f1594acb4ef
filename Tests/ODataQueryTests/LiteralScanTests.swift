import EDM
import ODataQuery
import SeededRandom
import Testing

@Suite struct `Literals in expressions` {
    @Test(arguments: [
        ("10000L)", ODataVersion.v2, Value.integer(10_000), PrimitiveType.int64, 6),
        ("5 add 1", .v2, .integer(5), .int32, 1),
        ("1.5 gt", .v2, .double(1.5), .double, 3), ("10f", .v2, .single(10), .single, 3),
        ("'O''Neil' eq", .v2, .string("O'Neil"), .string, 9), ("''", .v4, .string(""), .string, 2),
        ("true or", .v4, .boolean(true), .boolean, 4), ("null,", .v4, .null, .untyped, 4),
        ("-INF", .v4, .double(-.infinity), .double, 4), ("1e3", .v4, .double(1000), .double, 3),
        ("3000000000", .v4, .integer(3_000_000_000), .int64, 10), ("X'0A'", .v2, .binary([10]), .binary, 5),
        ("binary'Cg=='", .v4, .binary([10]), .binary, 12),
        (
            "01234567-89ab-cdef-0123-456789abcdef,", .v4,
            .guid(GuidValue(high: 0x0123_4567_89ab_cdef, low: 0x0123_4567_89ab_cdef)), .guid, 36
        ),
        (
            "guid'01234567-89ab-cdef-0123-456789abcdef'", .v2,
            .guid(GuidValue(high: 0x0123_4567_89ab_cdef, low: 0x0123_4567_89ab_cdef)), .guid, 42
        ),
    ])
    func `a scanned literal has its value, type and length`(
        text: String, version: ODataVersion, value: Value, type: PrimitiveType, length: Int
    ) throws {
        let scanned = try #require(PrimitiveLiteral.scan(Array(text.utf8)[...], version: version))
        #expect(scanned.value == value)
        #expect(scanned.type == type)
        #expect(scanned.length == length)
    }

    @Test(arguments: [
        "2012-09-03", "2012-09-03T13:52Z", "2012-09-03T13:52:10.5+02:00", "11:22:33", "3.14", "duration'PT1S'",
        "geography'SRID=0;Point(1 2)'",
    ])
    func `the scanner ends a V4 literal at the end of the value`(text: String) throws {
        let scanned = try #require(PrimitiveLiteral.scan(Array((text + " and x").utf8)[...], version: .v4))
        #expect(scanned.length == text.utf8.count)
        #expect(
            PrimitiveLiteral.format(scanned.value, as: scanned.type, version: .v4, form: .url).hasPrefix(text.prefix(3))
        )
    }

    @Test(arguments: [
        "Name", "'open", "datetime'2020-01-01T00:00'", "", " 1", "(", "nullable", "trueish", "2020-13-01", "1.2.3",
    ])
    func `the scanner returns nil for text that does not begin with a literal`(text: String) {
        #expect(PrimitiveLiteral.scan(Array(text.utf8)[...], version: .v4) == nil)
    }

    @Test func `a scanned enumeration literal has the name of its type`() throws {
        let scanned = try #require(
            PrimitiveLiteral.scanEnumeration(Array("Sales.Pattern'Solid,Yellow,-42' eq".utf8)[...]))
        #expect(scanned.typeName == "Sales.Pattern")
        #expect(scanned.members == "Solid,Yellow,-42")
        #expect(scanned.length == 31)
    }

    @Test func `literals of random characters are rejected or survive writing and reading`() throws {
        let seed = UInt64.testSeed()
        var random = SeededRandom(seed: seed)
        let pieces = [
            "'", "''", "0", "9", "99999999999999999999", "-", "+", ":", ".", "e", "T", "Z", "P", "D", "datetime'",
            "/Date(",
            ")/", "guid'", "L", "M", "F", "INF", "NaN", "null", "true", "2020-01-01", "24:00", "geography'", "SRID=0;",
            "Point(", "MultiPolygon(((", ")", ",", " ", "é", "\u{0}", "binary'", "X'", "duration'", "Collection(",
            "EMPTY",
        ]
        let types = PrimitiveType.allCases
        for _ in 0..<20_000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...7, using: &random) {
                text += pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }
            let type = types[Int.random(in: 0..<types.count, using: &random)]
            let version = ODataVersion.allCases[Int.random(in: 0..<4, using: &random)]
            let form: PrimitiveLiteral.LiteralContext = [.url, .json, .text][Int.random(in: 0..<3, using: &random)]
            if let value = try? PrimitiveLiteral.parse(text, as: type, version: version, form: form),
                form != .json || !type.isGeo
            {
                let written = PrimitiveLiteral.format(value, as: type, version: version, form: form)
                let again = try? PrimitiveLiteral.parse(written, as: type, version: version, form: form)
                // NaN is not equal to itself. A shape without an SRID is written with the default SRID of the standard.
                let isNaN = written.contains("NaN")
                let isSame =
                    type.isGeo
                    ? again.map { PrimitiveLiteral.format($0, as: type, version: version, form: form) } == written
                    : again == value
                #expect(isSame || isNaN, "seed \(seed): \(text) as \(type) of \(version) became \(written)")
            }
            let bytes = Array(text.utf8)
            if let scanned = PrimitiveLiteral.scan(bytes[...], version: version) {
                #expect((1...bytes.count).contains(scanned.length), "seed \(seed): \(text)")
            }
            _ = PrimitiveLiteral.scanEnumeration(bytes[...])
        }
    }
}
