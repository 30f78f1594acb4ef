import EDM
import GatewayCore
import ODataQuery
import SyncCore

/// Parses a URL relative to the service root. The first byte selects the version.
///
/// Required: query options that can be parsed are printed in a form that is parsed and printed in the same way; the
/// normal form of a query of a gateway is its own normal form.
func fuzzURLs(_ input: [UInt8]) throws(Finding) {
    guard let form = input.first else { return }
    let version: ODataVersion = form % 2 == 0 ? .v4 : .v2
    let text = String(decoding: input.dropFirst(), as: UTF8.self)
    _ = try? ServiceRequest.parse(text, model: FuzzModel.model, version: version)
    _ = RequestPath.isContained(text)
    _ = FeedRequest(text)
    if let query = CanonicalQuery(text) {
        let normal = query.description
        try require(CanonicalQuery(normal)?.description == normal, "no normal form: \(text), \(normal)")
    }
    let query = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).last.map(String.init) ?? ""
    guard let options = try? QueryOptions.parse(query, version: version),
        let printed = try? options.print(version: version)
    else { return }
    guard let again = try? QueryOptions.parse(printed, version: version) else {
        throw Finding("printed options cannot be parsed: \(query), \(printed)")
    }
    try require((try? again.print(version: version)) == printed, "printed differently: \(query), \(printed)")
}

/// Parses a literal. The first three bytes select the type, the version and the context.
///
/// Required: a literal that can be parsed is formatted in a form with the same value.
func fuzzLiterals(_ input: [UInt8]) throws(Finding) {
    guard input.count > 3 else { return }
    let types = PrimitiveType.allCases
    let type = types[Int(input[0]) % types.count]
    let version: ODataVersion = input[1] % 2 == 0 ? .v4 : .v2
    let form = [PrimitiveLiteral.LiteralContext.url, .json, .text][Int(input[2]) % 3]
    // V4 has no Edm.Time and V2 no Edm.Duration, so their values have the form of the other type.
    if type == (version == .v4 ? .time : .duration) { return }
    let text = String(decoding: input[3...], as: UTF8.self)
    guard let value = try? PrimitiveLiteral.parse(text, as: type, version: version, form: form) else { return }
    let formatted = PrimitiveLiteral.format(value, as: type, version: version, form: form)
    guard let again = try? PrimitiveLiteral.parse(formatted, as: type, version: version, form: form) else {
        throw Finding("a formatted literal cannot be parsed: \(type) \(text), \(formatted)")
    }
    let twice = PrimitiveLiteral.format(again, as: type, version: version, form: form)
    try require(twice == formatted, "formatted differently: \(type) \(text), \(formatted), \(twice)")
}

/// Reads a file of defining queries, which a user passes to the command-line program.
///
/// Required: an error names a line of the file.
func fuzzQueryFiles(_ input: [UInt8]) throws(Finding) {
    let text = String(decoding: input, as: UTF8.self)
    do throws(DefiningQueryFileError) {
        _ = try DefiningQueryFile(text)
    } catch {
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).count
        try require((1...max(1, lines)).contains(error.line), "an error after the end of the file: \(error)")
    }
}

let urlSeeds: [[UInt8]] = [
    (0, "Customers?$filter=contains(tolower(Name),'a') and Price gt 1.5 or not (ID in (1,2))&$orderby=Name desc,ID"),
    (0, "Customers(1)/Orders(Region='EU',ID=2)?$expand=Customer($select=ID,Name;$levels=2)&$top=5&$skip=1&$count=true"),
    (
        0,
        "Customers?$filter=Orders/any(o:o/ID eq 5 and o/Region ne 'x')&$search=\"a b\" AND NOT c&$compute=Price mul 2 as P"
    ),
    (0, "Customers/S.Premium?$filter=Rank has S.Mood'Calm' or Since ge 2020-01-01T00:00:00Z or Span eq duration'P1D'"),
    (0, "Customers?$apply=filter(ID gt 1)/groupby((Name),aggregate(Price with sum as Total))"),
    (1, "Customers?$filter=substringof('a',Name) and Since gt datetime'2020-01-01T00:00:00'&$inlinecount=allpages"),
    (0, "Customers(%27a%2Fb%27)/$links/Orders?x=%00&y=+&$format=json"),
].map { [UInt8($0.0)] + Array($0.1.utf8) }

let literalSeeds: [[UInt8]] = {
    let texts = [
        "1", "-1.50", "1e3", "INF", "'O''Neil'", "true", "2020-02-29", "2020-01-01T00:00:00.1234567Z", "10:00:00.5",
        "duration'P1DT2H3M4.5S'", "binary'AQI'", "datetime'2020-01-01T00:00:00'",
        "guid'12345678-aaaa-bbbb-cccc-ddddeeeeffff'",
        "12345678-aaaa-bbbb-cccc-ddddeeeeffff", "/Date(1330558323000+0060)/", "1.5M", "12L",
        "geography'SRID=4326;Point(1 2)'",
    ]
    return texts.flatMap { text in
        PrimitiveType.allCases.indices.flatMap { type in
            (0...1).map { version in [UInt8(type), UInt8(version), UInt8(type % 3)] + Array(text.utf8) }
        }
    }
}()

let queryFileSeeds: [[UInt8]] = [
    "# queries\n[Query]\nname=Orders\nquery=Orders?$filter=ID gt 1\n", "[query]\r\n; x\r\n name = a \r\n",
    "\u{FEFF}[Query]\nname",
].map { Array($0.utf8) }
