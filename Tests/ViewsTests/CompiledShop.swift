import EDM
import ODataQuery
import Testing

@testable import Views

/// Customers and their orders in memory: as rows of SQLite and as scopes of the evaluator.
struct CompiledShop {
    let model: EntityDataModel
    let connection: Connection
    let functions: SQLFunctions
    let layouts: [String: TableLayout]
    var customers: [PropertyValues] = []
    var orders: [PropertyValues] = []
    /// The index of the customer of each order.
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
        <Property Name="Token" Type="Edm.Guid"/><Property Name="Ratio" Type="Edm.Single"/>
        <Property Name="Rate" Type="Edm.Decimal" Scale="floating"/><Property Name="Mood" Type="S.Mood"/>
        <NavigationProperty Name="Customer" Type="S.Customer" Partner="Orders"/></EntityType>
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/></ComplexType>
        <EnumType Name="Mood"><Member Name="Bad" Value="0"/><Member Name="Awful" Value="1"/></EnumType>
        <EntityContainer Name="C"><EntitySet Name="Customers" EntityType="S.Customer"/>
        <EntitySet Name="Orders" EntityType="S.Order"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    init() throws {
        model = try CSDLReader.read(Array(Self.metadata.utf8))
        connection = try Connection(path: ":memory:")
        try connection.registerDecimalCollation()
        try connection.registerSortKey()
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

    /// Inserts customers with entity IDs from 1, and orders with IDs from 1001.
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

    /// Returns the IDs of the matching entities, by SQL.
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

    /// Returns the IDs of the matching entities, by the evaluator.
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
            }, isInstance: { $0 == "S.Order" }, type: model.findEntityType("S.Order"))
    }

    private func customerScope(_ index: Int) -> EvaluationScope {
        EvaluationScope(
            property: { name in
                if name == "Orders" { return .entities(orders.indices.filter { owners[$0] == index }.map(orderScope)) }
                return .value(customers[index][name] ?? .null)
            }, isInstance: { $0 == "S.Customer" })
    }
}
