import EDM
import ODataWire
import Testing

@testable import Views

/// Customers and their orders in memory: once as rows of SQLite, once as scopes of the evaluator.
private struct Shop {
    let model: EntityDataModel
    let connection: Connection
    let functions: SQLFunctions
    let layouts: [String: TableLayout]
    var customers: [PropertyValues] = []
    var orders: [PropertyValues] = []
    /// The index of each order's customer.
    var owners: [Int?] = []

    static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/><Property Name="Address" Type="S.Address"/>
        <NavigationProperty Name="Orders" Type="Collection(S.Order)" Partner="Customer"/></EntityType>
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Number" Type="Edm.Int64"/><Property Name="Name" Type="Edm.String"/>
        <Property Name="Price" Type="Edm.Decimal" Scale="variable"/><Property Name="Weight" Type="Edm.Double"/>
        <Property Name="Paid" Type="Edm.Boolean"/><Property Name="Day" Type="Edm.Date"/>
        <Property Name="At" Type="Edm.TimeOfDay"/>
        <Property Name="Placed" Type="Edm.DateTimeOffset" Precision="12"/><Property Name="Took" Type="Edm.Duration"/>
        <Property Name="Token" Type="Edm.Guid"/>
        <NavigationProperty Name="Customer" Type="S.Customer" Partner="Orders"/></EntityType>
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/></ComplexType>
        <EntityContainer Name="C"><EntitySet Name="Customers" EntityType="S.Customer"/>
        <EntitySet Name="Orders" EntityType="S.Order"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    init() throws {
        model = try CSDLReader.read(Array(Self.metadata.utf8))
        connection = try Connection(path: ":memory:")
        try connection.registerDecimalCollation()
        functions = try SQLFunctions.register(on: connection, model: model)
        var layouts: [String: TableLayout] = [:]
        for statement in Schema.statements { try connection.execute(statement) }
        for set in model.entitySets {
            let layout = TableLayout(set, ordinal: 0, model: model)
            for statement in layout.createStatements { try connection.execute(statement) }
            layouts[set.name] = layout
        }
        self.layouts = layouts
        let customer = try #require(model.findEntityType("S.Order")?.findProperty("Customer")?.navigation)
        try connection.run("INSERT INTO relationships VALUES (1, ?)", [.text(customer.relationship.name)])
    }

    private func set(_ name: String) throws -> EntitySet { try #require(model.findEntitySet(name)) }

    /// Customers have the entity IDs from 1, orders those from 1001.
    mutating func insert(customers: [PropertyValues], orders: [(PropertyValues, Int?)]) throws {
        self.customers = customers
        self.orders = orders.map(\.0)
        owners = orders.map(\.1)
        for (index, values) in customers.enumerated() {
            try insert(values, "Customers", "S.Customer", Int64(index + 1))
        }
        let navigation = try #require(model.findEntityType("S.Order")?.findProperty("Customer")?.navigation)
        for (index, values) in self.orders.enumerated() {
            let id = Int64(index + 1001)
            try insert(values, "Orders", "S.Order", id)
            guard let owner = owners[index] else { continue }
            let ends: [SQLValue] = [.integer(id), .integer(Int64(owner + 1))]
            try connection.run(
                "INSERT INTO links VALUES (1, ?, ?, 1, 1)", navigation.relationship.isForward ? ends : ends.reversed())
        }
    }

    private func insert(_ values: PropertyValues, _ set: String, _ type: String, _ id: Int64) throws {
        let layout = try #require(layouts[set])
        try connection.run(
            layout.upsert,
            [.integer(id), .integer(0), .integer(0), .integer(0), .text(type), .null, .null, .blob([])]
                + layout.columnValues(values)
        )
    }

    func compiler(_ set: String) throws -> SQLCompiler {
        let scope = try #require(EntityTableScope(self.set(set), alias: "t0", model: model, layouts: layouts))
        return SQLCompiler(scope, functions: functions, now: GlobalDateTime("2024-03-01T00:00:00Z"))
    }

    /// The IDs of the entities that pass, by SQL.
    func selected(_ set: String, _ filter: Expression, _ order: [OrderItem] = []) throws -> [Int64] {
        var compiler = try compiler(set)
        let condition = try compiler.filter(filter)
        var terms: [SQLText] = []
        for item in order { terms.append(try compiler.order(item)) }
        terms.append(SQLText("t0.entity"))
        let order = SQLText.joined(terms, by: ", ")
        var found: [Int64] = []
        let table = try #require(layouts[set]).table
        try connection.query(
            "SELECT t0.entity FROM \(table) AS t0 WHERE \(condition.sql) ORDER BY \(order.sql)",
            condition.values + order.values
        ) { found.append($0.integer(0)) }
        return found
    }

    /// The same, by the evaluator.
    func expected(_ set: String, _ filter: Expression, _ order: [OrderItem] = []) throws -> [Int64] {
        let evaluator = ExpressionEvaluator(now: GlobalDateTime("2024-03-01T00:00:00Z"), model: model)
        let scopes = set == "Orders" ? orders.indices.map(orderScope) : customers.indices.map(customerScope)
        let base: Int64 = set == "Orders" ? 1001 : 1
        var rows: [(id: Int64, keys: [Value])] = []
        for (index, scope) in scopes.enumerated() where try evaluator.isTrue(filter, for: scope) {
            rows.append((Int64(index) + base, try evaluator.sortKeys(order, for: scope)))
        }
        return rows.sorted { a, b in
            if ExpressionEvaluator.precedes(a.keys, b.keys, by: order) { return true }
            return !ExpressionEvaluator.precedes(b.keys, a.keys, by: order) && a.id < b.id
        }.map(\.id)
    }

    private func orderScope(_ index: Int) -> EvaluationScope {
        EvaluationScope(
            property: { name in
                if name == "Customer" { return .entity(owners[index].map(customerScope)) }
                return .value(orders[index][name] ?? .null)
            }, isInstance: { $0 == "S.Order" })
    }

    private func customerScope(_ index: Int) -> EvaluationScope {
        EvaluationScope(
            property: { name in
                if name == "Orders" { return .entities(orders.indices.filter { owners[$0] == index }.map(orderScope)) }
                return .value(customers[index][name] ?? .null)
            }, isInstance: { $0 == "S.Customer" })
    }
}

/// A generator that a seed makes repeatable.
private struct Chance {
    var state: UInt64

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    mutating func pick<T>(_ items: [T]) -> T { items[next(items.count)] }

    // MARK: Data

    static let strings = ["", "a", "A", "ab", "ba", "ä", "a'b", "%", "_", "😀b", "10", "9"]
    static let decimals = ["0", "9", "10", "1.5", "1.50", "-3.25", "12345678901234567890.5"]
    static let doubles = [
        "0", "1.5", "-2.25", "9", "1e3", "9007199254740992", "1152921504606846976", "9223372036854775808",
    ]
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
        ]
    }

    mutating func customer(_ id: Int) -> PropertyValues {
        let city = ComplexValue(properties: ["City": orNull(.string(pick(Self.strings)))])
        return [
            "ID": .integer(Int64(id)), "Name": orNull(.string(pick(Self.strings))), "Address": orNull(.complex(city)),
        ]
    }

    // MARK: Expressions, as text

    func quoted(_ text: String) -> String { PrimitiveLiteral.format(.string(text), version: .v4, form: .url) }

    mutating func number(_ depth: Int) -> String {
        switch next(depth > 0 ? 12 : 6) {
        case 0: pick(["Number", "ID"])
        case 1: "Price"
        case 2: "Weight"
        case 3: pick(["-1", "0", "1", "2", "9", "null"])
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

    /// A condition on an order.
    mutating func condition(_ depth: Int) -> String {
        switch next(depth > 0 ? 17 : 11) {
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
            "\(pick(["Number", "Price", "Weight"])) in (\(pick(["1,2,9", "null,1", "10.0,1.5", "", "9007199254740993,1"])))"
        case 10:
            pick([
                "Customer eq null", "Customer ne null", "sap.entityexists(Customer)", "isof(S.Order)",
                "isof(S.Customer)",
            ])
        case 11, 12: "(\(condition(depth - 1)) and \(condition(depth - 1)))"
        case 13, 14: "(\(condition(depth - 1)) or \(condition(depth - 1)))"
        case 15: "not (\(condition(depth - 1)))"
        default:
            pick([
                "Customer/Orders/any()", "Customer/Orders/\(pick(["any", "all"]))(o:o/Number \(comparison()) Number)",
                "Customer/Orders/$count \(comparison()) \(pick(["0", "2"]))",
                "Customer/Orders/$count($filter=Paid) \(comparison()) 1",
            ])
        }
    }
}

struct SQLCompilerTests {
    private func shop(_ chance: inout Chance) throws -> Shop {
        var shop = try Shop()
        let customers = (0..<6).map { chance.customer($0) }
        let orders = (0..<40).map { (chance.order($0), chance.next(3) == 0 ? nil : Optional(chance.next(6))) }
        try shop.insert(customers: customers, orders: orders)
        return shop
    }

    @Test func `a compiled filter selects what the evaluator lets through`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("SQL compiler seed \(seed)")
        var chance = Chance(state: seed)
        var compared = 0
        var telling = 0
        for _ in 0..<4 {
            let shop = try shop(&chance)
            for _ in 0..<250 {
                let text = chance.condition(3)
                let filter = try Expression.parse(text, version: .v401)
                // Where the evaluator refuses a row, SQL may refuse or may not have come to it.
                guard let expected = try? shop.expected("Orders", filter) else { continue }
                compared += 1
                if !expected.isEmpty, expected.count < 40 { telling += 1 }
                let selected = try shop.selected("Orders", filter)
                #expect(selected == expected, "seed \(seed): \(text)")
            }
        }
        print("\(compared) filters compared, \(telling) of them select some rows and not others")
        #expect(telling > 300)
    }

    @Test func `a compiled order is the evaluator's`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("SQL order seed \(seed)")
        var chance = Chance(state: seed)
        let shop = try shop(&chance)
        for _ in 0..<150 {
            let key = chance.pick([
                chance.number(2), chance.string(2), "Day", "Placed", "Took", "At", "Token", "Paid", "Price",
                "Customer/Name",
            ])
            let text = "$orderby=\(PercentCoding.encode(key, for: .queryValue))\(chance.pick(["", "%20desc"])),Name"
            let items = try QueryOptions.parse(text, version: .v401).orderBy
            guard let expected = try? shop.expected("Orders", .true, items) else { continue }
            #expect(try shop.selected("Orders", .true, items) == expected, "seed \(seed): \(text)")
        }
    }

    @Test func `whole numbers and floating ones compare exactly, with an index too`() throws {
        var shop = try Shop()
        let weights: [Double] = [9_007_199_254_740_992, 9_007_199_254_740_994, 1_152_921_504_606_846_976]
        try shop.insert(
            customers: [], orders: weights.map { (["Weight": .double($0), "Number": .integer(1 << 60)], nil) })
        let layout = try #require(shop.layouts["Orders"])
        try shop.connection.execute(try #require(layout.createIndex(over: ["Weight"], number: 9)))
        for sign in ["eq", "ne", "gt", "ge", "lt", "le"] {
            for number in ["9007199254740993", "9007199254740992", "1152921504606846977"] {
                let filter = try Expression.parse("Weight \(sign) \(number)", version: .v401)
                #expect(try shop.selected("Orders", filter) == shop.expected("Orders", filter), "\(sign) \(number)")
            }
        }
        for text in ["Weight in (9007199254740993,2)", "Number eq Weight", "Number gt 1152921504606846976e0"] {
            let filter = try Expression.parse(text, version: .v401)
            #expect(try shop.selected("Orders", filter) == shop.expected("Orders", filter), "\(text)")
        }
    }

    @Test func `alternatives for one property are one list`() throws {
        var chance = Chance(state: 3)
        let shop = try shop(&chance)
        var compiler = try shop.compiler("Orders")
        let filter = try Expression.parse(
            "Number eq 1 or Name eq 'a' or Number eq null or Number eq 2 or Price eq 1.5 or 9 eq Number", version: .v401
        )
        let sql = try compiler.filter(filter)
        #expect(sql.sql.occurrences(of: " IN (") == 1, "\(sql.sql)")
        #expect(try shop.selected("Orders", filter) == shop.expected("Orders", filter))
        let negated = Expression.not(filter)
        #expect(try shop.selected("Orders", negated) == shop.expected("Orders", negated))
    }

    @Test(arguments: [
        ("Number eq 5", "Number"), ("Name ge 'a' and Name lt 'b'", "Name"), ("Price gt 1.5", "Price"),
        ("ID in (1,2,3)", "ID"), ("Number eq null", "Number"), ("Price eq 2", "Price"),
    ])
    func `plain comparisons can use an index`(text: String, column: String) throws {
        var chance = Chance(state: 1)
        let shop = try shop(&chance)
        let layout = try #require(shop.layouts["Orders"])
        try shop.connection.execute(try #require(layout.createIndex(over: [column], number: 9)))
        var compiler = try shop.compiler("Orders")
        let condition = try compiler.filter(Expression.parse(text, version: .v401))
        var plan = ""
        try shop.connection.query(
            "EXPLAIN QUERY PLAN SELECT t0.entity FROM \(layout.table) AS t0 WHERE \(condition.sql)", condition.values
        ) { plan += $0.text(3) ?? "" }
        #expect(plan.contains("SEARCH"), "\(condition.sql): \(plan)")
    }

    @Test(arguments: [
        "Nav/Name eq 'x'", "Orders/any(o:o/$count gt 1)", "Address eq null", "@p eq 1", "$root/Orders/$count eq 1",
    ])
    func `what SQL cannot answer is refused, so that it is answered in memory`(text: String) throws {
        let shop = try Shop()
        var compiler = try shop.compiler("Customers")
        let filter = try Expression.parse(text, version: .v401)
        let error = #expect(throws: EvaluationError.self) { try compiler.filter(filter) }
        #expect(error?.code == .unsupported)
    }

    @Test func `values never become part of the statement's text`() throws {
        var chance = Chance(state: 2)
        let shop = try shop(&chance)
        var compiler = try shop.compiler("Orders")
        let filter = try Expression.parse(
            "Name eq 'x'' OR 1=1 --' or tolower(Name) eq 'y''); DROP TABLE links;--'", version: .v401)
        let sql = try compiler.filter(filter).sql
        #expect(!sql.contains("1=1"))
        #expect(!sql.contains("DROP"))
        #expect(try shop.selected("Orders", filter).isEmpty)
    }
}

extension String {
    /// How often the other text is in this one.
    fileprivate func occurrences(of part: String) -> Int { ranges(of: part).count }
}
