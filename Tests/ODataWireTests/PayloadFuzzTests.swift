import EDM
import ODataWire
import SeededRandom
import Testing

@Suite struct `Nothing that a service or a client sends traps` {
    static let documents = [
        #"""
        {"d":{"__count":"1","results":[{"__metadata":{"uri":"u","type":"Shop.Customer","etag":"e"},"CustomerID":1,"Long":"12",
        "Price":"1.50","Since":"/Date(1330558323000+0060)/","At":"PT1H2M3.5S","Data":"AQI=","Address":{"Street":"s","Zip":1},
        "Orders":{"results":[{"Region":"EU","OrderID":"1"}],"__next":"n"}}],"__next":"x"}}
        """#,
        ##"""
        {"@odata.context":"c","@odata.count":1,"value":[{"@odata.type":"#Shop.Premium","CustomerID":1,"Price":1e3,"Ratio":"INF",
        "Day":"2020-02-29","Clock":"10:00:00.5","Span":"-P1DT1S","Seen":"2020-01-01T00:00:00+01:00","Mood":"Calm","Tags":["a"],
        "Homes":[{"@odata.type":"#Shop.Town","X":1}],"Orders@odata.bind":["a"],"Free":[1,{"y":null}]}],"@odata.nextLink":"n"}
        """##,
        ##"""
        {"@odata.context":"http://h/$metadata#Customers(Name)/$delta","value":[{"@removed":{"reason":"changed"},"CustomerID":1},
        {"@odata.context":"#Customers/$deletedEntity","id":"Customers(1)","reason":"deleted"},{"@context":"#Orders/$entity",
        "OrderID":1,"Customer":{"@removed":{},"@id":"u"}},{"CustomerID":2,"Orders@delta":[{"@removed":{},"@id":"o"},{"@id":"p"}]},
        {"@context":"#Orders('a')/Customer(%41)/$link","source":"a","relationship":"b","target":"c"},
        {"@context":"#Orders/$deletedLink","source":"a","relationship":"b"}],"@odata.deltaLink":"d"}
        """##,
        ##"{"@odata.context":"#Customers/Shop.Premium(Rank)/$deletedEntity","@removed":{"reason":"deleted"},"CustomerID":1}"##,
    ]

    private static let results = [
        TypeReference(.complex(name: "Shop.Address")), TypeReference(.primitive(.int64), isCollection: true),
        TypeReference(.entity(name: PayloadShop.customer.name)),
        TypeReference(.entity(name: PayloadShop.customer.name), isCollection: true),
    ]

    @Test(arguments: ODataVersion.allCases)
    func `payloads with damaged bytes are read or rejected`(version: ODataVersion) {
        let model = PayloadShop.model(version)
        let reader = PayloadReader(version: version, model: model)
        let bodies = RequestBodyReader(version: version, model: model)
        let seed = UInt64.testSeed()
        var random = SeededRandom(seed: seed)
        let digits = Array("0123456789-+.eE\"{}[],:/".utf8)
        for document in Self.documents {
            for _ in 0..<2000 {
                var bytes = Array(document.utf8)
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    let place = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.remove(at: place)
                    case 2: bytes.insert(contentsOf: bytes[place..<min(place + 9, bytes.count)], at: place)
                    default: bytes[place] = digits[Int.random(in: 0..<digits.count, using: &random)]
                    }
                }
                _ = try? reader.feed(bytes, type: PayloadShop.customer)
                _ = try? reader.entity(bytes, type: PayloadShop.customer)
                _ = try? reader.deltaItem(bytes, type: PayloadShop.customer)
                _ = try? reader.entityReferences(bytes)
                _ = try? reader.serviceDocument(bytes)
                _ = try? reader.value(bytes, type: TypeReference(.complex(name: "Shop.Address")))
                for type in Self.results { _ = try? reader.result(bytes, type: type, name: "results") }
                _ = try? bodies.entity(bytes, type: PayloadShop.customer)
                _ = try? bodies.reference(bytes)
                _ = ServiceErrorReader.read(bytes)
                _ = PayloadReader.count(bytes)
            }
        }
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
}
