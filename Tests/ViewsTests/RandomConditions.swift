import EDM
import ODataQuery

/// Generator of random conditions, repeatable by its seed.
struct RandomConditions {
    var state: UInt64

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    mutating func pick<T>(_ items: [T]) -> T { items[next(items.count)] }

    // MARK: Data

    static let strings = ["", "a", "A", "ab", "ba", "ä", "a\u{308}", "\u{301}a", "a'b", "%", "_", "😀b", "10", "9"]
    static let decimals = ["0", "9", "10", "1.5", "1.50", "-3.25", "12345678901234567890.5"]
    static let doubles = [
        "0", "-0.0", "1.5", "-2.25", "9", "1e3", "9007199254740992", "1152921504606846976", "9223372036854775808",
        "nan",
        "inf", "-inf",
    ]
    static let rates = ["0", "1.5", "-3.25", "12345678901234567890.5", "NaN", "INF", "-INF"]
    static let moods = ["Bad", "Awful", "0", "1"]
    static let days = ["2024-02-29", "1999-12-31", "-0044-03-15", "12024-01-01"]
    static let moments = [
        "2024-02-29T23:30:00Z", "2024-03-01T00:30:00+01:00", "2024-02-29T23:30:00.000Z", "1969-12-31T23:59:59.5Z",
    ]
    static let durations = ["PT0S", "PT1.5S", "-PT0.5S", "-PT1S", "P1D", "PT24H"]
    static let times = ["00:00:00", "08:15:30.5", "23:59:59.999"]
    static let tokens = ["00000000-0000-0000-0000-00000000000a", "ffffffff-0000-0000-0000-000000000000"]

    mutating func orNull(_ value: Value?) -> Value { next(4) == 0 ? .null : value ?? .null }

    mutating func order(_ id: Int) -> PropertyValues {
        [
            "ID": .integer(Int64(id)),
            "Number": orNull(.integer(pick([-1, 0, 1, 2, 9, .max, .min, (1 << 53) + 1, 1 << 60]))),
            "Name": orNull(.string(pick(Self.strings))),
            "Price": orNull(DecimalValue(pick(Self.decimals)).map { .decimal($0) }),
            "Weight": orNull(Double(pick(Self.doubles)).map { .double($0) }), "Paid": orNull(.boolean(next(2) == 0)),
            "Day": orNull(LocalDate(pick(Self.days)).map { .date($0) }),
            "At": orNull(LocalTime(pick(Self.times)).map { .timeOfDay($0) }),
            "Placed": orNull(GlobalDateTime(pick(Self.moments)).map { .dateTimeOffset($0) }),
            "Took": orNull(DayTimeDuration(pick(Self.durations)).map { .duration($0) }),
            "Token": orNull(GuidValue(pick(Self.tokens)).map { .guid($0) }),
            "Ratio": orNull(.single(pick([0, 1.5, 0.1, -2, .nan, .infinity]))),
            "Rate": orNull(DecimalValue(pick(Self.rates)).map { .decimal($0) }),
            "Mood": orNull(.enumeration(pick(Self.moods))),
        ]
    }

    mutating func customer(_ id: Int) -> PropertyValues {
        let city = ComplexValue(properties: ["City": orNull(.string(pick(Self.strings)))])
        return [
            "ID": .integer(Int64(id)), "Name": orNull(.string(pick(Self.strings))), "Address": orNull(.complex(city)),
        ]
    }

    // MARK: Expressions as text

    func quoted(_ text: String) -> String { PrimitiveLiteral.format(.string(text), version: .v4, form: .url) }

    mutating func number(_ depth: Int) -> String {
        switch next(depth > 0 ? 12 : 6) {
        case 0: pick(["Number", "ID"])
        case 1: pick(["Price", "Rate"])
        case 2: pick(["Weight", "Ratio"])
        case 3: pick(["-1", "0", "1", "2", "9", "null", "NaN", "INF", "-INF"])
        case 4: pick(["1.5", "9.00", "12345678901234567890.5"])
        case 5:
            pick([
                "1.5e0", "1e3", "9007199254740992e0", "9007199254740993", "1152921504606846976", "9223372036854775807",
                "9223372036854775808e0",
            ])
        case 6: "(\(number(depth - 1)) \(pick(["add", "sub", "mul", "div", "divby", "mod"])) \(number(depth - 1)))"
        case 7: "length(\(string(depth - 1)))"
        case 8: "indexof(\(string(depth - 1)),\(string(depth - 1)))"
        case 9: "\(pick(["round", "floor", "ceiling"]))(\(number(depth - 1)))"
        case 10: "-(\(number(depth - 1)))"
        default:
            pick([
                "year(Day)", "day(Placed)", "hour(At)", "second(Placed)", "totalseconds(Took)", "hour(Placed)",
                "totaloffsetminutes(Placed)", "fractionalseconds(Placed)", "cast(Price,Edm.Double)",
                "cast(Name,Edm.Int32)", "cast(Number,Edm.Int16)", "case(Paid:Number,true:Price)",
            ])
        }
    }

    mutating func string(_ depth: Int) -> String {
        switch next(depth > 0 ? 8 : 4) {
        case 0, 1: "Name"
        case 2: quoted(pick(Self.strings))
        case 3: pick(["Customer/Name", "Customer/Address/City", "null"])
        case 4: "tolower(\(string(depth - 1)))"
        case 5: "concat(\(string(depth - 1)),\(string(depth - 1)))"
        case 6: "substring(\(string(depth - 1)),1)"
        default: "trim(\(string(depth - 1)))"
        }
    }

    mutating func comparison() -> String { pick(["eq", "ne", "gt", "ge", "lt", "le"]) }

    /// Returns a condition on an order.
    mutating func condition(_ depth: Int) -> String {
        switch next(depth > 0 ? 18 : 11) {
        case 0: "\(number(depth)) \(comparison()) \(number(depth))"
        case 1: "\(string(depth)) \(comparison()) \(string(depth))"
        case 2: "\(pick(["contains", "startswith", "endswith"]))(\(string(depth)),\(string(depth)))"
        case 3: pick(["Paid", "Paid eq true", "Paid ne null", "not Paid", "Paid eq null", "true", "false"])
        case 4: "Day \(comparison()) \(pick(Self.days + ["Day", "null", "2024-02-29T23:30:00Z"]))"
        case 5: "Placed \(comparison()) \(pick(Self.moments + ["Placed", "now()", "null"]))"
        case 6: "Took \(comparison()) \(pick(Self.durations.map { "duration'\($0)'" } + ["null"]))"
        case 7:
            pick([
                "At \(comparison()) \(pick(Self.times))", "time(Placed) \(comparison()) \(pick(Self.times))",
                "date(Placed) \(comparison()) 2024-02-29", "cast(Placed,Edm.Date) \(comparison()) Day",
                "isof(Price,Edm.Decimal)", "Placed add Took \(comparison()) \(pick(Self.moments))",
            ])
        case 8: "Token \(comparison()) \(pick(Self.tokens + ["null"]))"
        case 9:
            "\(pick(["Number", "Price", "Weight", "Rate"])) in "
                + "(\(pick(["1,2,9", "null,1", "10.0,1.5", "", "9007199254740993,1", "NaN,1.5"])))"
        case 10:
            pick([
                "Customer eq null", "Customer ne null", "sap.entityexists(Customer)", "isof(S.Order)",
                "isof(S.Customer)",
            ])
        case 11, 12: "(\(condition(depth - 1)) and \(condition(depth - 1)))"
        case 13, 14: "(\(condition(depth - 1)) or \(condition(depth - 1)))"
        case 15: "not (\(condition(depth - 1)))"
        case 16:
            pick([
                "Mood \(comparison()) S.Mood'\(pick(Self.moods))'", "Mood \(comparison()) '\(pick(Self.moods))'",
                "Mood in (S.Mood'\(pick(Self.moods))',S.Mood'\(pick(Self.moods))')",
                "(Mood eq '\(pick(Self.moods))' or Mood eq '\(pick(Self.moods))')", "Mood \(comparison()) null",
                "Rate \(comparison()) Weight", "Ratio \(comparison()) Weight", "Weight \(comparison()) Weight",
                "Rate \(comparison()) Rate",
            ])
        default:
            pick([
                "Customer/Orders/any()", "Customer/Orders/\(pick(["any", "all"]))(o:o/Number \(comparison()) Number)",
                "Customer/Orders/$count \(comparison()) \(pick(["0", "2"]))",
                "Customer/Orders/$count($filter=Paid) \(comparison()) 1",
            ])
        }
    }
}
