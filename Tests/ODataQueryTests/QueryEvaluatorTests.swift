import EDM
import ODataQuery
import Testing

struct QueryEvaluatorTests {
    /// Returns an order with two items, a customer, and no sales representative.
    private func order() -> EvaluationScope {
        func item(_ quantity: Int64) -> EvaluationScope { EvaluationScope(["Quantity": .integer(quantity)]) }
        let values: PropertyValues = [
            "ID": .integer(7), "Name": .string("Straße 'A'"), "Price": .decimal(DecimalValue("12.50")!),
            "Nothing": .null,
            "Weight": .double(1.5), "Paid": .boolean(true),
            "Placed": .dateTimeOffset(GlobalDateTime("2024-02-29T23:30:15.25+01:00")!),
            "Day": .date(LocalDate("2024-02-29")!), "Took": .duration(DayTimeDuration("P1DT2H3M4.5S")!),
            "At": .timeOfDay(LocalTime("08:15:30")!), "Tags": .collection([.string("red"), .string("blue")]),
            "Colour": .enumeration("Red,Blue"),
            "Address": .complex(ComplexValue(properties: ["City": .string("Köln"), "Street": .null])),
        ]
        return EvaluationScope(
            property: { name in
                switch name {
                case "Items": .entities([item(1), item(5)])
                case "Customer": .entity(EvaluationScope(["Name": .string("Ann")]))
                case "SalesRep": .entity(nil)
                default: values[name].map { .value($0) }
                }
            }, isInstance: { $0 == "Shop.Order" }, state: { $0 == .isLocal })
    }

    private func evaluate(_ text: String, _ version: ODataVersion = .v401) throws -> Value {
        let now = GlobalDateTime("2024-03-01T00:00:00Z")
        return try ExpressionEvaluator(now: now).evaluate(Expression.parse(text, version: version), for: order())
    }

    @Test(arguments: [
        // Null
        ("Nothing eq null", "true"), ("Nothing ne null", "false"), ("Nothing eq 1", "false"), ("Nothing ne 1", "true"),
        ("Nothing gt 1", "false"), ("not (Nothing gt 1)", "true"), ("Nothing add 1", "null"),
        ("Nothing ge null", "true"), ("Nothing le Nothing", "true"), ("SalesRep/Name ge null", "true"),
        ("Nothing ge 1", "false"), ("1 le Nothing", "false"), ("Nothing gt Nothing", "false"),
        ("9007199254740993 eq 9007199254740992e0", "false"), ("9007199254740993 gt 9007199254740992e0", "true"),
        ("1152921504606846976 eq 1152921504606846976e0", "true"),
        ("9223372036854775807 lt 9223372036854775808e0", "true"), ("-INF lt 1", "true"), ("1 lt INF", "true"),
        ("NaN eq 1", "false"), ("NaN ge 1", "false"), ("1 in (1e0,2)", "true"),
        ("length(Nothing)", "null"),
        ("not Nothing", "null"), ("Nothing and false", "false"), ("Nothing and true", "null"),
        ("Nothing or true", "true"),
        ("Nothing or false", "null"), ("SalesRep eq null", "true"), ("Customer ne null", "true"),
        ("SalesRep/Name eq null", "true"), ("Customer/Name eq 'Ann'", "true"), ("Nothing in (1,null)", "true"),
        // Numbers
        ("ID add 1 mul 2", "9"), ("7 div 2", "3"), ("-7 div 2", "-3"), ("-7 mod 2", "-1"), ("7 divby 2", "3.5"),
        ("9223372036854775807 add 1", "9223372036854775808"), ("Price add 0.1", "12.60"),
        ("Price mul Price", "156.2500"),
        ("Price div 3", "4.1666666666666666666666666667"), ("Weight add 1", "2.5"), ("Price eq 12.5", "true"),
        ("Price eq 12.5e0", "true"), ("9007199254740993 eq 9007199254740992e0", "false"), ("NaN eq NaN", "false"),
        ("round(2.5)", "3"), ("round(-2.5)", "-3"), ("floor(-2.5)", "-3"), ("ceiling(-2.5)", "-2"),
        ("-Price", "-12.50"),
        ("1 div 8.0", "0.125"), ("2 sub 2.00", "0.00"), ("5.5 mod 2", "1.5"),
        // Strings
        ("length(Name)", "10"), ("indexof(Name,'A')", "8"), ("indexof(Name,'x')", "-1"),
        ("substring(Name,1,3)", "'tra'"),
        ("substring(Name,99)", "''"), ("toupper('straße')", "'STRASSE'"), ("trim('\t a b ')", "'a b'"),
        ("concat(concat(Name,'-'),'x')", "'Straße ''A''-x'"), ("contains(Name,'ße')", "true"),
        ("startswith(Name,'straße')", "false"), ("endswith(Name,'''')", "true"), ("'a' lt 'B'", "false"),
        ("'e\u{301}' eq '\u{e9}'", "false"), ("Address/City eq 'Köln'", "true"), ("Address/Street eq null", "true"),
        // Dates and durations
        ("year(Placed)", "2024"), ("day(Day)", "29"), ("hour(Placed)", "23"), ("second(Placed)", "15"),
        ("fractionalseconds(Placed)", "0.25"), ("totaloffsetminutes(Placed)", "60"), ("minute(At)", "15"),
        ("Placed eq 2024-02-29T22:30:15.25Z", "true"), ("totalseconds(Took)", "93784.5"),
        ("Placed add duration'PT1H' eq 2024-03-01T00:30:15.25+01:00", "true"),
        ("Day sub 2024-02-28 eq duration'P1D'", "true"), ("Took mul 2 eq duration'P2DT4H6M9S'", "true"),
        ("date(Placed) eq Day", "true"), ("now() gt Placed", "true"),
        ("duration'PT0.5S' sub duration'PT1S' lt duration'PT0S'", "true"),
        // Collections
        ("Items/any(i:i/Quantity gt 4)", "true"), ("Items/all(i:i/Quantity gt 4)", "false"), ("Items/any()", "true"),
        ("Items/$count", "2"), ("Items/$count($filter=Quantity gt 4)", "1"), ("Tags/any(t:t eq 'red')", "true"),
        ("Items/any(i:i/Quantity eq 5 and $it/ID eq 7)", "true"), ("'red' in Tags", "true"), ("ID in (1,7)", "true"),
        ("contains(Tags,[\"blue\"])", "true"), ("Items/all(i:Items/any(j:j/Quantity ge i/Quantity))", "true"),
        // Other functions and operators
        ("Colour has Shop.Colour'Red'", "true"), ("Colour has Shop.Colour'Green'", "false"),
        ("isof(Shop.Order)", "true"),
        ("cast(ID,Edm.String)", "'7'"), ("cast('x',Edm.Int32)", "null"), ("cast(Price,Edm.Int32)", "12"),
        ("case(ID gt 9:'many',ID gt 5:'some',true:'few')", "'some'"), ("sap.islocal()", "true"),
        ("sap.isLocal()", "true"), ("sap.inErrorState()", "false"), ("sap.entityExists(Customer)", "true"),
        ("sap.inerrorstate()", "false"), ("sap.entityexists(Customer)", "true"),
        ("sap.entityexists(SalesRep)", "false"),
    ])
    func `an expression evaluates to the value that the standard defines`(text: String, expected: String) throws {
        let value = try evaluate(text)
        #expect(PrimitiveLiteral.format(value, version: .v4, form: .url) == expected)
    }

    @Test func `V2 functions and literals evaluate like those of V4`() throws {
        #expect(
            try evaluate("substringof('ße',Name) and replace(Name,'Straße','Weg') eq 'Weg ''A'''", .v2)
                == .boolean(true))
        #expect(try evaluate("Placed gt datetime'2024-02-29T00:00:00' and Price eq 12.5M", .v2) == .boolean(true))
    }

    @Test(arguments: [
        ("abc", "b", true), ("abc", "^b", false), ("abc", "^a.c$", true), ("a\nc", "a.c", false), ("", "^$", true),
        ("abc", "", true), ("aaa", "^a{3}$", true), ("aaaa", "^a{2,3}$", false), ("aa", "^a{2,}$", true),
        ("a", "^(a|bc)+$", true), ("abca", "^(a|bc)+$", true), ("abcb", "^(a|bc)+$", false), ("ac", "^ab?c$", true),
        ("x-1", "^[a-z]-\\d$", true), ("X_9", "^\\w{3}$", true), ("a b", "a\\sb", true),
        ("aéb", "^a[^\\x00-\\x7F]b$", true),
        ("a.c", "a\\.c", true), ("abc", "a\\.c", false), ("cat dog", "\\bdog\\b", true), ("hotdog", "\\bdog", false),
        ("2024-02-29", "^(?<year>\\d{4})-(?:\\d\\d)-\\d{2}$", true), ("😀", "^.$", true), ("]-", "^[\\]\\-]+$", true),
        ("", "^(a*)*$", true), ("b", "^(a*)*$", false), ("ab", "^a*?b$", true), ("{}", "^[{}]+$", true),
        ("a1", "^[\\D]\\d$", true), ("ab", "a|", true),
    ])
    func `a pattern matches as in ECMAScript`(text: String, pattern: String, isFound: Bool) throws {
        let call = Expression.call(
            .matchesPattern, [.literal(.string(text), .string), .literal(.string(pattern), .string)])
        #expect(try ExpressionEvaluator().evaluate(call, for: order()) == .boolean(isFound))
    }

    @Test(arguments: [
        ("(", EvaluationError.Code.wrongOperand), (")", .wrongOperand), ("[a", .wrongOperand), ("*", .wrongOperand),
        ("a{2,1}", .wrongOperand), ("a**", .wrongOperand), ("\\", .wrongOperand), ("[b-a]", .wrongOperand),
        ("a{", .wrongOperand),
        ("(a)\\1", .unsupported), ("(?=a)", .unsupported), ("\\p{L}", .unsupported), ("(?<!a)", .unsupported),
        ("a{9999}", .outOfRange), ("((a{99}){99}){99}", .outOfRange),
        (String(repeating: "(", count: 1_000), .outOfRange),
        (String(repeating: "a", count: 5_000), .outOfRange),
    ])
    func `a pattern that is invalid, not regular or too long is rejected`(
        pattern: String, code: EvaluationError.Code
    ) throws {
        let call = Expression.call(.matchesPattern, [.property("Name"), .literal(.string(pattern), .string)])
        let error = #expect(throws: EvaluationError.self) { try ExpressionEvaluator().evaluate(call, for: order()) }
        #expect(error?.code == code)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a pattern that makes backtracking matchers exponential is matched quickly`() throws {
        let text = String(repeating: "a", count: 20_000)
        for pattern in ["^(a+)+$", "^(a|a)*b$", "(a*)*b", "^(a?){50}a{50}b"] {
            let call = Expression.call(
                .matchesPattern, [.literal(.string(text), .string), .literal(.string(pattern), .string)])
            #expect(try ExpressionEvaluator().evaluate(call, for: order()) == .boolean(pattern == "^(a+)+$"))
        }
    }

    @Test func `in V2, ge and le with null are false`() throws {
        let model = try CSDLReader.read(
            Array(
                """
                <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
                <edmx:DataServices m:DataServiceVersion="2.0"
                xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
                <Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
                <EntityContainer Name="C" m:IsDefaultEntityContainer="true"/></Schema></edmx:DataServices></edmx:Edmx>
                """.utf8))
        for text in ["Nothing ge null", "Nothing le Nothing"] {
            let expression = try Expression.parse(text, version: .v2)
            #expect(try ExpressionEvaluator(model: model).evaluate(expression, for: order()) == .boolean(false))
        }
    }

    @Test(arguments: ["1 div 0", "ID mod 0", "Price div 0", "Took div 0", "Price divby 0", "1.5e0 mod 0"])
    func `a division by zero is an error`(text: String) throws {
        let error = #expect(throws: EvaluationError.self) { try evaluate(text) }
        #expect(error?.code == .divisionByZero)
    }

    @Test(
        arguments: [
            ("1 divby 0", .decimal(.infinity)), ("-1 divby 0", .decimal(.negativeInfinity)),
            ("1e0 div 0", .double(.infinity)), ("-1e0 divby 0", .double(-.infinity)), ("1 div 0e0", .double(.infinity)),
            ("1e0 div (-0e0)", .double(.infinity)),
        ] as [(String, Value)])
    func `a division by zero that yields infinity has the sign of the left operand`(text: String, value: Value) throws {
        #expect(try evaluate(text) == value)
    }

    @Test func `flags with a space after the comma are the same members`() {
        let members = [("Red", 1), ("Green", 2), ("Blue", 4)].map {
            EnumerationType.Member(name: $0.0, value: Int64($0.1))
        }
        let colour = EnumerationType(name: "Shop.Colour", underlyingType: .int32, isFlags: true, members: members)
        let spaced = Value.enumeration("Red, Blue")
        #expect(colour.number(of: spaced) == 5)
        #expect(ValueComparison.apply(.has, spaced, .enumeration("Blue")))
        #expect(!ValueComparison.apply(.has, spaced, .enumeration("Green")))
        #expect(colour.number(of: .enumeration(" Red ,Blue ")) == 5)
        #expect(colour.number(of: .enumeration("Red Blue")) == nil)
    }

    @Test func `zero divby zero is not a number`() throws {
        #expect(try evaluate("0 divby 0") == .decimal(.notANumber))
        #expect(try evaluate("(0 divby 0) eq (0 divby 0)") == .boolean(false))
    }

    @Test func `nested replace calls that exceed the size limit are rejected`() throws {
        let long = String(repeating: "a", count: 100)
        let text = (0..<20).reduce("'aaaa'") { inner, _ in "replace(\(inner),'a','\(long)')" }
        let error = #expect(throws: EvaluationError.self) { try evaluate(text, .v2) }
        #expect(error?.code == .outOfRange)
    }

    @Test func `the smallest and largest integers and durations do not overflow`() throws {
        #expect(try evaluate("-9223372036854775808 div -1") == .decimal(DecimalValue("9223372036854775808")!))
        #expect(try evaluate("-9223372036854775808 mod -1") == .integer(0))
        let error = #expect(throws: EvaluationError.self) { try evaluate("Day add duration'P106751991167300D'") }
        #expect(error?.code == .outOfRange)
    }

    @Test(arguments: [
        "Address/Country/Name eq null", "Address/Country eq null", "Address/Shops/$count eq 0",
        "not Address/Shops/any()",
    ])
    func `a navigation property of a complex value is unsupported instead of null`(text: String) throws {
        func navigation(_ name: String) -> Property {
            Property(name: name, type: TypeReference(.entity(name: "S.Country")), declaringType: "S.Address")
        }
        let address = StructuredType(
            kind: .complex, name: "S.Address",
            properties: [
                Property(name: "Street", type: TypeReference(.primitive(.string)), declaringType: "S.Address")
            ], navigationProperties: [navigation("Country"), navigation("Shops")])
        let model = EntityDataModel(
            version: .v401, schemas: [], structuredTypes: [address], enumerationTypes: [], entitySets: [],
            singletons: [])
        let filter = try #require(
            try QueryOptions.parse("$filter=" + PercentCoding.encode(text, for: .queryValue), version: .v401).filter)
        let evaluator = ExpressionEvaluator(model: model)
        let error = #expect(throws: EvaluationError.self) {
            try evaluator.evaluate(filter, for: EvaluationScope(["Address": .complex(ComplexValue(properties: [:]))]))
        }
        #expect(error?.code == .unsupported)
        #expect(throws: Never.self) { try evaluator.evaluate(filter, for: EvaluationScope(["Address": .null])) }
    }

    @Test func `the error for an unknown property names the property`() throws {
        let error = #expect(throws: EvaluationError.self) { try evaluate("Colours eq 1") }
        #expect(error?.message.contains("Colours") == true)
    }

    @Test func `sorting puts null lowest and uses later keys for ties`() throws {
        let items = try QueryOptions.parse("$orderby=A desc,B", version: .v4).orderBy
        let rows: [[Value]] = [
            [.integer(1), .string("b")], [.null, .string("x")], [.integer(2), .string("c")],
            [.integer(1), .string("B")],
        ]
        let sorted = rows.sorted { ExpressionEvaluator.precedes($0, $1, by: items) }
        #expect(sorted.map { $0[1].stringValue } == ["c", "B", "b", "x"])
    }

    @Test(arguments: [
        ("blue", true), ("BLUE", true), ("lu", true), ("gr*", true), ("ree*", false), ("blue AND red", false),
        ("blue NOT red", true), ("red OR \"green bike\"", true), ("\"bike green\"", false), ("straße", true),
    ])
    func `a search finds words and phrases in any text`(search: String, isFound: Bool) throws {
        let texts = ["A Blue car", "the green bike", "STRASSE Straße"]
        #expect(try SearchExpression.parse(search).matches(texts) == isFound)
    }

    @Test func `points in time outside the supported range are rejected`() {
        for text in [
            "1970-01-01T00:00:00Z sub duration'P106751991167300DT15H30M6S' lt Placed",
            "1970-01-01T00:00:00Z add duration'P106751991167300DT15H30M6S' lt Placed",
        ] {
            let error = #expect(throws: EvaluationError.self) { try evaluate(text) }
            #expect(error?.code == .outOfRange, "\(text)")
        }
    }

    @Test func `a string that repeated concat calls double beyond the limit is rejected`() throws {
        var expression = Expression.literal(.string(String(repeating: "x", count: 1 << 20)), .string)
        for _ in 0..<6 { expression = .call(.concat, [expression, expression]) }
        let error = #expect(throws: EvaluationError.self) {
            try ExpressionEvaluator().evaluate(expression, for: order())
        }
        #expect(error?.code == .outOfRange)
    }
}
