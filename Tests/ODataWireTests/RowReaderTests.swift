import EDM
import ODataWire
import SeededRandom
import Testing

@Suite struct `Rows with the members of the previous row` {
    private static let model = Result {
        try CSDLReader.read(
            Array(
                """
                <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
                <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
                <EnumType Name="Color"><Member Name="Red"/></EnumType>
                <EntityType Name="Row"><Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/>
                <Property Name="Amount" Type="Edm.Decimal" Scale="2"/><Property Name="Weight" Type="Edm.Double"/>
                <Property Name="At" Type="Edm.DateTimeOffset"/><Property Name="Flag" Type="Edm.Boolean"/>
                <Property Name="Guid" Type="Edm.Guid"/><Property Name="Day" Type="Edm.Date"/>
                <Property Name="Color" Type="S.Color"/></EntityType>
                <EntityContainer Name="C"><EntitySet Name="Rows" EntityType="S.Row"/></EntityContainer>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
    }

    private static let guid = "6f9619ff-8b86-4011-b42d-00c04fc964ff"

    /// Returns the text of a row. If `member` is not nil, its value is replaced by `value`.
    private static func row(_ member: String? = nil, _ value: String = "") -> String {
        let members = [
            ("@odata.etag", #""W/\"1\"""#), ("ID", "7"), ("Text", #""a""#), ("Amount", "1.50"), ("Weight", "2.25"),
            ("At", #""2026-01-02T03:04:05.600Z""#), ("Flag", "true"), ("Guid", "\"\(guid)\""),
            ("Day", #""2026-01-02""#),
            ("Color", #""Red""#),
        ]
        return "{" + members.map { "\"\($0)\":" + ($0 == member ? value : $1) }.joined(separator: ",") + "}"
    }

    /// Reads a page of these rows and returns the item at `place`, or the code of the error.
    private func reading(
        _ rows: [String], at place: Int, isEncoded: Bool = false
    ) throws -> (item: DeltaItem?, code: PayloadError.Code?) {
        let model = try Self.model.get()
        let type = try #require(model.findEntityType("S.Row"))
        do throws(PayloadError) {
            var reader = PayloadReader(version: .v4, model: model)
            reader.encodesRows = isEncoded
            var feed = try reader.feedReader(
                Array(#"{"value":[\#(rows.joined(separator: ","))]}"#.utf8), type: type)
            for _ in 0..<place { _ = try feed.next() }
            return (try feed.next(), nil)
        } catch {
            return (nil, error.code)
        }
    }

    private static let values: [(String, [String])] = [
        (
            "ID",
            [
                "0", "-1", "-0", "2147483647", "2147483648", "-2147483649", "1.0", "1e2", "007", "99999999999999999999",
                #""5""#, "null", "true", "-", "1x", "nul",
            ]
        ),
        (
            "Text",
            [
                #""""#, #""zoë 😀""#, #""tab\tquote\" \u00e9""#, "null", "5", "true", #""open"#, "\"line\nbreak\"",
                #""\ud83d""#, #""a\\b\/c""#, #""\n""#, #""\x""#, #""ends in \""#, #""zoë \t é""#, "\"\u{7F}\"",
                #""eight888""#, #""exactly8\"exactly8""#,
            ]
        ),
        (
            "Amount",
            ["0", "0.50", "00.5", "-0.5", "1.", ".5", "1e3", "123456789012345678901234567890.12", #""1.5""#, "INF"]
        ),
        (
            "Weight",
            [
                "0", "-0.0", "0.1", "1e-7", "1.7976931348623157e308", "12345678901234.5", "9007199254740993", #""INF""#,
                "123456789012345678", "0.30000000000000004",
            ]
        ),
        (
            "At",
            [
                #""2026-01-02T03:04Z""#, #""2026-13-02T03:04:05Z""#, #""2026-01-02T03:04:05+01:00""#, "5", "null",
                #""2026-01-02T03:04:05Z""#, #""2026-01-02T03:04:05.Z""#, #""2026-01-02T03:04:05.123456789012Z""#,
                #""2026-01-02T03:04:05.1234567890123Z""#, #""2026-01-02T03:04:60Z""#, #""2026-01-02t03:04:05z""#,
                #""2024-02-29T23:59:59.100Z""#, #""2026-02-29T00:00:00Z""#, #""2026-01-02T24:00:00Z""#,
                #""-0001-01-02T03:04:05Z""#, #""12026-01-02T03:04:05Z""#, #""2026-01-02T03:04:0xZ""#, #""""#,
            ]
        ),
        ("Flag", ["false", "null", "tru", #""true""#, "1"]),
        (
            "Guid",
            [
                "\"\(guid.uppercased())\"", #""6f9619ff""#, "null", "\"\(guid.replacing("-", with: "0"))\"",
                "\"\(guid.replacing("f", with: "g"))\"", "\"\(guid)0\"",
            ]
        ),
        ("Day", [#""-0044-03-15""#, #""2026-02-30""#, "null"]),
        ("Color", [#""Red,Blue""#, "1", "null"]),
        ("@odata.etag", [#""*""#, "null", "5"]),
    ]

    @Test(arguments: values)
    func `a row with one changed value yields the same item or error as on its own`(
        member: String, values: [String]
    ) throws {
        for value in values {
            let row = Self.row(member, value)
            let alone = try reading([row], at: 0)
            let among = try reading([Self.row(), row, Self.row()], at: 1)
            #expect(among.item == alone.item, "\(member): \(value)")
            #expect(among.code == alone.code, "\(member): \(value)")
            let encoded = try reading([Self.row(), row, Self.row()], at: 1, isEncoded: true)
            #expect(encoded.item == alone.item, "\(member): \(value)")
            #expect(String(describing: encoded) == String(describing: alone), "\(member): \(value)")
            #expect(Self.encoding(of: encoded.item) == Self.encoding(of: alone.item), "\(member): \(value)")
            #expect(alone.item != nil || alone.code != nil)
        }
    }

    /// Returns the bytes in which the values of an entity are stored.
    private static func encoding(of item: DeltaItem?) -> [UInt8]? {
        guard case .entity(let payload)? = item else { return nil }
        return payload.values.packed(with: NameTable())?.bytes
    }

    @Test(arguments: [false, true]) func `values are encoded only for a caller that stores them`(
        isEncoded: Bool
    ) throws {
        let item = try reading([Self.row(), Self.row()], at: 1, isEncoded: isEncoded).item
        guard case .entity(let payload)? = item else {
            Issue.record("The row is not an entity: \(String(describing: item))")
            return
        }
        #expect((payload.values.packed != nil) == isEncoded)
    }

    @Test(arguments: [
        "{}", #"{"ID":1}"#, #"{"ID":1,"ID":2}"#, #"{"Text":"b","ID":1}"#, #"{"ID":1,"Other":2}"#,
        ##"{"@odata.type":"#S.Row","ID":1}"##, #"{ "@odata.etag" : "1" , "ID" : 5 }"#, "7", "null", "[]",
        #"{"@removed":{"reason":"deleted"},"ID":5}"#,
    ])
    func `a row with different members yields the same item or error as on its own`(row: String) throws {
        let alone = try reading([row], at: 0)
        let among = try reading([Self.row(), row, Self.row()], at: 1)
        #expect(among.item == alone.item)
        #expect(among.code == alone.code)
    }

    @Test(arguments: 0..<8) func `a row with changed bytes yields the same item or error as on its own`(seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        let row = Array(Self.row().utf8)
        // Bytes that occur in JSON and its values, so that many of the changed rows are valid.
        let bytes = Array(##"{}[]:,"\/bfnrtu0123456789.-+eEtrufalsn TZ:Aé"##.utf8)
        for _ in 0..<300 {
            var changed = row
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 1..<changed.count - 1, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: changed.remove(at: place)
                case 1: changed.insert(bytes.randomElement(using: &random) ?? 0x20, at: place)
                default: changed[place] = bytes.randomElement(using: &random) ?? 0x20
                }
            }
            let text = String(decoding: changed, as: UTF8.self)
            let alone = try reading([text], at: 0)
            let among = try reading([Self.row(), text, Self.row()], at: 1)
            guard Self.endsWhereItEnds(text) else { continue }
            #expect(among.item == alone.item, "seed \(seed): \(text)")
            #expect(among.code == alone.code, "seed \(seed): \(text)")
            let encoded = try reading([Self.row(), text, Self.row()], at: 1, isEncoded: true)
            #expect(Self.encoding(of: encoded.item) == Self.encoding(of: alone.item), "seed \(seed): \(text)")
        }
    }

    /// Whether the end of the row is unambiguous, so that text after it cannot belong to the row and the row cannot
    /// contain other rows.
    private static func endsWhereItEnds(_ text: String) -> Bool {
        do throws(JSONError) {
            var scanner = try JSONScanner(Array(text.utf8))
            try scanner.skip()
            try scanner.end()
            return true
        } catch {
            return error.code != .truncated && error.offset < text.utf8.count - 1
        }
    }

    @Test func `a row keeps the digits of a decimal and the fraction of a second`() throws {
        guard case .entity(let entity)? = try reading([Self.row(), Self.row()], at: 1).item else {
            Issue.record("There is no entity.")
            return
        }
        #expect(entity.etag == #"W/"1""#)
        #expect(entity.values["Amount"].map { "\($0)" }?.contains("1.50") == true)
        guard case .dateTimeOffset(let at)? = entity.values["At"] else {
            Issue.record("There is no time.")
            return
        }
        #expect(at.description == "2026-01-02T03:04:05.600Z")
    }
}
