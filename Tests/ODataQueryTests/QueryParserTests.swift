import EDM
import ODataQuery
import SeededRandom
import Testing

struct QueryParserTests {
    @Test(arguments: [
        ("substringof('x',Name)", "contains(Name,'x')"),
        ("Price eq 1.5M and ID eq 10000L", "Price eq 1.5 and ID eq 10000"),
        ("At ge datetime'2020-01-02T03:04:05'", "At ge 2020-01-02T03:04:05Z"),
        ("Key eq guid'1225c695-cfb8-4ebb-aaaa-80da344efa6a'", "Key eq 1225c695-cfb8-4ebb-aaaa-80da344efa6a"),
        ("concat('a','b','c') eq 'abc'", "concat(concat('a','b'),'c') eq 'abc'"),
        ("not (A eq 1) or B", "not (A eq 1) or B"), ("isof(A,'Edm.String')", "isof(A,Edm.String)"),
        ("A sub (B sub C)", "A sub (B sub C)"), ("(A add B) mul C", "(A add B) mul C"), ("-(1)", "-(1)"),
    ])
    func `a filter of V2 can be sent to a V4 service`(v2: String, v4: String) throws {
        #expect(try Expression.parse(v2, version: .v2).print(version: .v4) == v4)
    }

    @Test(arguments: [
        ("contains(Name,'x')", "substringof('x',Name)"), ("ID in (1,2) and B", "(ID eq 1 or ID eq 2) and B"),
        ("ID in (1)", "ID eq 1"), ("Price divby 2 gt 1.5", "Price div 2 gt 1.5M"),
        ("Day eq 2020-01-02", "Day eq datetime'2020-01-02T00:00:00'"), ("At eq 08:15:30", "At eq time'PT8H15M30S'"),
    ])
    func `a filter of V4 can be sent to a V2 service`(v4: String, v2: String) throws {
        #expect(try Expression.parse(v4, version: .v4).print(version: .v2) == v2)
    }

    @Test(arguments: ["Items/any(i:i/A eq 1)", "A has Ns.E'B'", "now() gt A", "$it/A in B", "case(A:1) eq 1"])
    func `an expression that V2 cannot express is rejected when it is printed`(v4: String) throws {
        let expression = try Expression.parse(v4, version: .v401)
        let error = #expect(throws: URLSyntaxError.self) { try expression.print(version: .v2) }
        #expect(error?.code == .notExpressible)
    }

    @Test func `nested options survive a round trip through V4`() throws {
        let text =
            "$filter=contains(Name,'a%26b%3B')&$search=%22x%20y%22 OR z&$expand=Orders($filter=ID gt 1;$select=ID,Name;"
            + "$expand=Items($levels=max);$orderby=ID desc;$top=3;$count=true),Customer/$ref&$select=*,Address/City"
            + "&$orderby=Name,ID desc&$skip=2&$top=5&$count=true&@p=1&x-y=z%20"
        let options = try QueryOptions.parse(text, version: .v4)
        let printed = try options.print(version: .v4)
        #expect(try QueryOptions.parse(printed, version: .v4) == options)
        #expect(options.expand.first?.options.expand.first?.options.levels == .max)
        #expect(options.custom == [QueryOptions.CustomOption(name: "x-y", value: "z ")])
    }

    @Test func `V2 paths of $expand are parsed into one tree and printed as paths`() throws {
        let options = try QueryOptions.parse("$expand=Orders/Items/Product,Orders/Customer,Address", version: .v2)
        #expect(options.expand.count == 2)
        #expect(options.expand[0].options.expand.count == 2)
        #expect(try options.print(version: .v2) == "$expand=Orders/Items/Product,Orders/Customer,Address")
        let newer = try options.print(version: .v4)
        #expect(newer == "$expand=Orders($expand=Items($expand=Product),Customer),Address")
    }

    @Test(arguments: [
        String(repeating: "(", count: 100_000), String(repeating: "not ", count: 100_000) + "A",
        String(repeating: "-", count: 100_000) + "A", "A" + String(repeating: " add 1", count: 100_000),
        String(repeating: "[", count: 100_000), String(repeating: "tolower(", count: 100_000),
        String(repeating: "A/any(x:", count: 100_000), "A" + String(repeating: "/B", count: 100_000),
        String(repeating: "{\"a\":", count: 100_000), String(repeating: "case(", count: 100_000),
        String(repeating: "isof(", count: 100_000), String(repeating: "A/$count($filter=", count: 100_000),
    ])
    func `an expression that is nested too deeply is rejected`(text: String) {
        let error = #expect(throws: URLSyntaxError.self) { try Expression.parse(text, version: .v401) }
        #expect(error?.code == .tooComplex || error?.code == .unexpectedText)
    }

    @Test(arguments: [
        "$expand=" + String(repeating: "A($expand=", count: 50_000), "$search=" + String(repeating: "(", count: 50_000),
        "$search=a" + String(repeating: " OR a", count: 50_000), "$search=" + String(repeating: "NOT ", count: 50_000),
        "$select=" + String(repeating: "A($select=", count: 50_000),
        "$expand=A" + String(repeating: "/B", count: 50_000),
    ])
    func `options that are nested too deeply are rejected`(query: String) {
        #expect(throws: URLSyntaxError.self) { try QueryOptions.parse(query, version: .v401) }
    }

    @Test func `a filter by ten thousand keys is parsed into one flat node`() throws {
        let text = (0..<10_000).map { "ID eq \($0)" }.joined(separator: " or ")
        let expression = try Expression.parse(text, version: .v2)
        guard case .or(let operands) = expression else {
            Issue.record("The chain is no flat node.")
            return
        }
        #expect(operands.count == 10_000)
        #expect(try expression.print(version: .v2) == text)
    }

    @Test func `random bytes and truncated expressions never trap`() {
        let seeds = [
            "$filter=contains(Name,'x') and Items/any(i:i/A eq 1.5e3 or i/B in (1,2)) and not (C lt -INF)",
            "$expand=A($filter=B eq datetime'2020-01-01T00:00:00';$search=\"a\" OR NOT b),C/$ref&$orderby=D desc",
            "$filter=X eq {\"a\":[1,\"\\u00e9\"]} and case(A:1,B:2) eq @p&@p=geography'SRID=0;Point(1 2)'",
        ]
        let seed = UInt64.testSeed()
        var state = seed
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for _ in 0..<3000 {
            var bytes = Array(seeds[next(seeds.count)].utf8)
            for _ in 0...next(4) {
                switch next(3) {
                case 0: bytes[next(bytes.count)] = UInt8(truncatingIfNeeded: next(128))
                case 1 where bytes.count > 1: bytes.removeLast(next(bytes.count - 1))
                default: bytes.insert(Array("()',;$/@:%&=[]{}\"-. ".utf8)[next(20)], at: next(bytes.count))
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            for version in ODataVersion.allCases {
                guard let options = try? QueryOptions.parse(text, version: version) else { continue }
                _ = try? options.print(version: version)
            }
        }
    }

    @Test func `the error for an unknown property names the property`() throws {
        let type = EntityType(
            kind: .entity, name: "S.A",
            properties: [Property(name: "Name", type: TypeReference(.primitive(.string)), declaringType: "S.A")])
        let model = EntityDataModel(
            version: .v4, schemas: [], structuredTypes: [type], enumerationTypes: [], entitySets: [], singletons: [])
        for query in ["$filter=Nome eq 'x'", "$orderby=Nome", "$select=Nome", "$expand=Nome"] {
            let error = #expect(throws: URLSyntaxError.self) {
                try QueryOptions.parse(query, version: .v4, type: type, model: model)
            }
            #expect(error?.code == .unknownProperty)
            #expect(error?.message.contains("Nome") == true)
        }
        let error = #expect(throws: URLSyntaxError.self) {
            try QueryOptions.parse("$filter=Name gt 5", version: .v4, type: type, model: model)
        }
        #expect(error?.code == .wrongArgumentType)
    }
}
