import ConformanceCorpora
import EDM
import ODataQuery
import Testing

@Suite(.enabled(if: LiteralCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
struct `The literal corpora` {
    /// Literals whose verdict depends on the Java class `Short`, which the test of the reference implementation
    /// requests.
    ///
    /// Both numbers are well-formed decimals within the facets of their rows.
    static let javaShort: Set<String> = ["-32769", "32768"]

    @Test(arguments: ["v2", "v4"])
    func `the parser accepts exactly the primitive literals that the corpus accepts`(version: String) throws {
        let rows = try LiteralCorpus.rows("literals/\(version)-primitive-literals.jsonl")
        #expect(!rows.isEmpty)
        for row in rows {
            let literal = try LiteralRow(row)
            if literal.type == .decimal, literal.facets?.precision == .max, Self.javaShort.contains(literal.text) {
                continue
            }
            #expect(literal.isAccepted == literal.isValid, "\(row.text)")
        }
    }

    @Test(arguments: ["v2", "v4"])
    func `literals are written as in the corpus`(version: String) throws {
        for row in try LiteralCorpus.rows("literals/\(version)-primitive-literals.jsonl") {
            let literal = try LiteralRow(row)
            guard literal.isValid, literal.isWritten else { continue }
            let value = try literal.parse(.tolerant)
            let written = PrimitiveLiteral.format(value, as: literal.type, version: literal.version, form: literal.form)
            if literal.mayBeSpelledDifferently {
                let again = try PrimitiveLiteral.parse(
                    written, as: literal.type, version: literal.version, form: literal.form, strictness: .strict)
                #expect(again == value, "\(row.text) is written \(written)")
            } else {
                #expect(written == literal.text, "\(row.text)")
            }
        }
    }

    @Test(arguments: ["v2", "v4"])
    func `literals parse to the values in the corpus`(version: String) throws {
        for row in try LiteralCorpus.rows("literals/\(version)-primitive-literals.jsonl") {
            let literal = try LiteralRow(row)
            guard literal.isValid, let expected = literal.expected else { continue }
            let value = try literal.parse(.tolerant)
            #expect(literal.matches(value, expected), "\(row.text): \(value)")
        }
    }

    @Test func `every well-known text is unchanged after a conversion to GeoJSON and back`() throws {
        let names = try LiteralCorpus.rows("literals/index.jsonl").compactMap { $0["file"]?.string }.filter {
            $0.contains("/wkt/")
        }
        #expect(!names.isEmpty)
        for name in names {
            let type: PrimitiveType = name.contains("/GEOGRAPHY") ? .geography : .geometry
            let lines = String(decoding: try LiteralCorpus.bytes(name), as: UTF8.self).split(
                whereSeparator: \.isNewline)
            for line in lines where !line.hasPrefix("#") && !line.hasPrefix("\u{FEFF}#") {
                let value = try PrimitiveLiteral.parse(String(line), as: type, version: .v4, form: .text)
                let url = PrimitiveLiteral.format(value, as: type, version: .v4, form: .url)
                let again = try PrimitiveLiteral.parse(url, as: type, version: .v4, form: .url)
                let numbers = { (text: String) in text.split { !$0.isNumber && $0 != "." && $0 != "-" } }
                #expect(
                    numbers(PrimitiveLiteral.format(again, as: type, version: .v4, form: .text)).dropFirst()
                        .elementsEqual(numbers(String(line))), "\(line) became \(url)")
            }
        }
    }
}

/// A row of `literals/*-primitive-literals.jsonl`.
struct LiteralRow {
    let text: String
    let type: PrimitiveType
    let version: ODataVersion
    let form: PrimitiveLiteral.LiteralContext
    let facets: Facets?
    let isValid: Bool
    let isWritten: Bool
    let expected: String?

    init(_ row: JSONValue) throws {
        text = try #require(row["literal"]?.string)
        type = try #require(PrimitiveType(rawValue: row["type"]?.string ?? ""))
        version = try #require(ODataVersion(rawValue: row["odataVersion"]?.string ?? ""))
        form =
            switch row["form"]?.string {
            case "uri": .url
            case "xml-or-default": .text
            default: .json
            }
        isValid = try #require(row["valid"]?.flag as Bool?)
        isWritten = row["direction"]?.string == "write"
        expected = row["value"]?.string ?? row["default"]?.string
        facets = row["facets"].map { facets in
            var result = Facets()
            result.maxLength = Self.number(facets["maxLength"])
            result.precision = Self.number(facets["precision"])
            result.scale = Self.number(facets["scale"]).map { .fixed($0) }
            result.isUnicode = facets["unicode"]?.flag
            return result
        }
    }

    private static func number(_ value: JSONValue?) -> Int? {
        value?.string == "Integer.MAX_VALUE" ? .max : value?.integer.map { Int($0) }
    }

    func parse(_ strictness: PrimitiveLiteral.Strictness) throws -> Value {
        try PrimitiveLiteral.parse(text, as: type, facets: facets, version: version, form: form, strictness: strictness)
    }

    /// Whether the parser accepts the literal.
    ///
    /// Literals that the reference implementation reads are parsed as strictly as it parses them. Literals that it
    /// writes are parsed tolerantly, because rows made by hand (see ``expected``) may not be canonical. A row of
    /// `Edm.Time` with a number of nanoseconds was read into a `Timestamp`, which has nanoseconds; all other rows were
    /// read into a `Calendar`, which has milliseconds.
    var isAccepted: Bool {
        let hasNanoseconds = type == .time && expected != nil
        return (try? parse(isWritten || hasNanoseconds ? .tolerant : .strict)) != nil
    }

    /// Whether the literal may differ from its canonical text.
    ///
    /// A row made by putting quotes around the text of a default value keeps this text, canonical or not. Tidelog
    /// writes binary values of V4 in base64url, the alphabet that the standard requires.
    var mayBeSpelledDifferently: Bool { expected != nil || (type == .binary && version == .v4) }

    func matches(_ value: Value, _ expected: String) -> Bool {
        switch value {
        case .null: return expected == "null"
        case .string(let text): return text == expected
        case .duration(let duration) where version == .v2: return duration.picoseconds / 1000 == Int64(expected)
        case .dateTimeOffset(let dateTime):
            if let milliseconds = Int64(expected) { return dateTime.millisecondsSince1970 == milliseconds }
        // The number in the test of the reference implementation rounds to the same 32 bits.
        case .single(let number): return number == Float(expected)
        case .double(let number): return number == Double(expected)
        default: break
        }
        return (try? PrimitiveLiteral.parse(expected, as: type, version: version, form: .text)) == value
    }
}
