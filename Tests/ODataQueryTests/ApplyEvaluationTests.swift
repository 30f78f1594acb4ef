import EDM
import ODataQuery
import Testing

/// Evaluation of `$apply` over a part of the sales in the standard's examples (OData Extension for Data Aggregation
/// 4.0, section 2.4).
struct ApplyEvaluationTests {
    private static let customers: [String: PropertyValues] = [
        "C1": ["ID": .string("C1"), "Name": .string("Joe"), "Country": .string("USA")],
        "C2": ["ID": .string("C2"), "Name": .string("Sue"), "Country": .string("USA")],
        "C3": ["ID": .string("C3"), "Name": .string("Joe"), "Country": .string("Netherlands")],
    ]

    private static let sales: [(id: Int64, customer: String?, product: String, amount: Int64)] = [
        (1, "C1", "Paper", 1), (2, "C1", "Sugar", 2), (3, "C1", "Coffee", 4), (4, "C2", "Coffee", 8),
        (5, "C2", "Paper", 4), (6, "C3", "Paper", 2), (7, "C3", "Paper", 1), (8, "C3", "Sugar", 2),
    ]

    private static func row(
        _ index: Int, id: Int64, customer: String?, product: String, amount: Value
    ) -> ApplyRow {
        let values: PropertyValues = ["ID": .integer(id), "Product": .string(product), "Amount": amount]
        let target = customer.flatMap { name in
            customers[name].map { values in
                EvaluationScope(property: { .value(values[$0] ?? .null) }, identity: name)
            }
        }
        let scope = EvaluationScope(
            property: { name in name == "Customer" ? .entity(target) : values[name].map { .value($0) } },
            identity: "\(id)")
        return ApplyRow(scope: scope, source: index)
    }

    private let rows = sales.enumerated().map { index, sale in
        row(index, id: sale.id, customer: sale.customer, product: sale.product, amount: .integer(sale.amount))
    }

    /// Returns each row of the result: an entity as `#ID`, any other row as its values by name.
    private func run(_ text: String, _ rows: [ApplyRow]? = nil) throws -> [String] {
        let query = PercentCoding.encode(text, for: .queryValue)
        let sequence = try QueryOptions.parse("$apply=\(query)", version: .v401).apply
        let input = rows ?? self.rows
        let evaluation = ApplyEvaluation(ExpressionEvaluator()) { row in
            row.source.map { [Self.sales[$0].product] } ?? []
        }
        return try evaluation.apply(sequence, to: input).map { row in
            let values = row.values.map { "\($0.name)=\(Self.text($0.value))" }.joined(separator: " ")
            return (row.source.map { "#\(Self.sales[$0].id)" + (values.isEmpty ? "" : " ") } ?? "") + values
        }
    }

    private static func text(_ value: Value) -> String {
        guard case .complex(let complex) = value else {
            return PrimitiveLiteral.format(value, version: .v4, form: .text)
        }
        return "{" + complex.properties.map { "\($0.name)=\(text($0.value))" }.joined(separator: " ") + "}"
    }

    @Test(arguments: [
        ("aggregate(Amount with sum as Total,Amount with max as Max)", ["Total=24 Max=8"]),
        ("aggregate(Amount with average as Average)", ["Average=3"]),
        ("aggregate(Amount mul 2 with sum as Double)", ["Double=48"]),
        ("aggregate(Product with countdistinct as Products,$count as Sales)", ["Products=3 Sales=8"]),
        ("aggregate(Customer with countdistinct as Customers)", ["Customers=3"]),
        ("aggregate(Amount with sum from Customer/Country with average as Average)", ["Average=12"]),
        ("aggregate(Customer/$count as Sold)", ["Sold=3"]),
        (
            "filter(Amount gt 100)/aggregate(Amount with sum as Total,Amount with countdistinct as Amounts,$count as Sales)",
            ["Total=null Amounts=0 Sales=0"]
        ),
    ])
    func `aggregate combines all instances into one row`(text: String, expected: [String]) throws {
        #expect(try run(text) == expected)
    }

    @Test(arguments: [
        ("groupby((Customer/Country))", ["Customer={Country=USA}", "Customer={Country=Netherlands}"]),
        (
            "groupby((Customer/Country,Product),aggregate(Amount with sum as Total))",
            [
                "Customer={Country=USA} Product=Paper Total=5", "Customer={Country=USA} Product=Sugar Total=2",
                "Customer={Country=USA} Product=Coffee Total=12",
                "Customer={Country=Netherlands} Product=Paper Total=3",
                "Customer={Country=Netherlands} Product=Sugar Total=2",
            ]
        ),
        (
            "groupby((Customer/Name,Customer/ID),aggregate(Amount with sum as Total))",
            [
                "Customer={Name=Joe ID=C1} Total=7", "Customer={Name=Sue ID=C2} Total=12",
                "Customer={Name=Joe ID=C3} Total=5",
            ]
        ),
        (
            "groupby((Customer),aggregate(Amount with sum as Total))/filter(Customer/Country eq 'USA')",
            ["Total=7", "Total=12"]
        ),
        (
            "groupby((rollup(Customer/Country,Customer/Name)),aggregate(Amount with sum as Total))",
            [
                "Customer={Country=USA Name=Joe} Total=7", "Customer={Country=USA Name=Sue} Total=12",
                "Customer={Country=Netherlands Name=Joe} Total=5", "Customer={Country=USA} Total=19",
                "Customer={Country=Netherlands} Total=5",
            ]
        ),
        ("groupby((Product),topcount(1,Amount))", ["#5", "#2", "#4"]),
        (
            "groupby((Product),aggregate(Amount with sum as Total))/orderby(Total desc)/top(1)",
            ["Product=Coffee Total=12"]
        ),
        (
            "groupby((Product),aggregate(Amount with sum as Total))/concat(identity,aggregate(Total with max as Best))",
            ["Product=Paper Total=8", "Product=Sugar Total=4", "Product=Coffee Total=12", "Best=12"]
        ),
    ])
    func `groupby applies the transformations to each group of instances`(text: String, expected: [String]) throws {
        #expect(try run(text) == expected)
    }

    @Test(arguments: [
        ("filter(Amount ge 4)", ["#3", "#4", "#5"]), ("orderby(Amount desc)/skip(1)/top(2)", ["#3", "#5"]),
        ("search(coffee)", ["#3", "#4"]), ("identity", ["#1", "#2", "#3", "#4", "#5", "#6", "#7", "#8"]),
        ("topcount(2,Amount)", ["#3", "#4"]), ("bottomcount(2,Amount)", ["#1", "#7"]),
        ("topsum(15,Amount)", ["#3", "#4", "#5"]), ("toppercent(50,Amount)", ["#3", "#4"]),
        ("bottompercent(50,Amount)", ["#1", "#2", "#3", "#6", "#7", "#8"]),
        ("bottomsum(7,Amount)", ["#1", "#2", "#6", "#7", "#8"]),
        ("bottomsum(3,Amount)", ["#1", "#2", "#7"]), ("topcount($these/$count div 4,Amount)", ["#3", "#4"]),
        ("compute(Amount mul 10 as Cents)/filter(Cents gt 50)", ["#4 Cents=80"]),
        ("filter(Amount gt 4)/compute(Amount div $these/aggregate(Amount with sum) as Share)", ["#4 Share=1"]),
        ("concat(topcount(1,Amount),bottomcount(1,Amount))", ["#4", "#1"]),
    ])
    func `transformations without grouping keep the identity of instances`(text: String, expected: [String]) throws {
        #expect(try run(text) == expected)
    }

    @Test func `sums of decimals are exact and ignore null`() throws {
        let amounts = ["0.1", "0.2", "12345678901234567890.0000000001", nil]
        let rows = amounts.enumerated().map { index, amount in
            Self.row(
                index, id: Int64(index), customer: nil, product: "",
                amount: amount.flatMap { DecimalValue($0) }.map { .decimal($0) } ?? .null)
        }
        #expect(try run("aggregate(Amount with sum as Total)", rows) == ["Total=12345678901234567890.3000000001"])
        #expect(try run("aggregate(Amount with min as Least,$count as All)", rows) == ["Least=0.1 All=4"])
    }

    @Test func `a sum of integers that exceeds 64 bits becomes a decimal`() throws {
        let rows = (0..<2).map { Self.row($0, id: Int64($0), customer: nil, product: "", amount: .integer(.max)) }
        #expect(try run("aggregate(Amount with sum as Total)", rows) == ["Total=18446744073709551614"])
    }

    @Test func `equal numbers of different types form one group, and so do equal instants`() throws {
        let values: [Value] = [
            .integer(2), .double(2), DecimalValue("2.00").map { .decimal($0) } ?? .null,
            GlobalDateTime("2024-01-01T00:00:00Z").map { .dateTimeOffset($0) } ?? .null,
            GlobalDateTime("2024-01-01T01:00:00+01:00").map { .dateTimeOffset($0) } ?? .null, .null,
        ]
        let rows = values.enumerated().map {
            Self.row($0.offset, id: Int64($0.offset), customer: nil, product: "", amount: $0.element)
        }
        #expect(try run("groupby((Amount),aggregate($count as Count))", rows).map { $0.suffix(1) } == ["3", "2", "1"])
    }

    @Test(arguments: [
        ("groupby((Colour),aggregate($count as Count))", ["Count=3", "Count=1", "Count=1"]),
        ("aggregate(Colour with countdistinct as Kinds)", ["Kinds=2"]),
        ("aggregate(Colour with max as Most)", ["Most=Blue"]),
        ("aggregate(Colour with min as Least)", ["Least=Green,Red"]),
        ("aggregate(Colour with min from Colour with max as Most)", ["Most=Blue"]),
        ("groupby((Colour))/orderby(Colour desc)", ["Blue", "Green,Red", "null"]),
        ("orderby(Colour desc)/top(1)/aggregate(Colour with max as Most)", ["Most=Blue"]),
        ("groupby((Colour))/filter(Colour eq 'Red,Green')/aggregate($count as Count)", ["Count=1"]),
        ("topcount(1,Colour)/aggregate(Colour with max as Most)", ["Most=Blue"]),
        ("filter(Colour ne null)/bottomcount(1,Colour)/aggregate(Colour with min as Least)", ["Least=Green,Red"]),
        ("compute(Colour as C)/orderby(C desc)/top(1)/aggregate(Colour with max as Most)", ["Most=Blue"]),
        ("groupby((Colour),aggregate(Colour with max as M))/orderby(M desc)", ["M=Blue", "M=Green,Red", "M=null"]),
        ("compute(Colour as C)/groupby((C))/orderby(C desc)", ["C=Blue", "C=Green,Red", "C=null"]),
    ])
    func `enumeration members are grouped and ordered by their numbers`(text: String, expected: [String]) throws {
        let (model, type) = Self.colours()
        let values: [Value] = ["Green,Red", "Red, Green", "Blue", "3"].map { .enumeration($0) } + [.null]
        let rows = values.map { ApplyRow(scope: EvaluationScope(["Colour": $0], type: type), source: nil) }
        // The type check permits rankings by numbers, and by values whose type is unknown.
        let isUntyped = text.contains("count(1,")
        let sequence = try QueryOptions.parse(
            "$apply=" + PercentCoding.encode(text, for: .queryValue), version: .v401, type: isUntyped ? nil : type,
            model: isUntyped ? nil : model
        ).apply
        let evaluation = ApplyEvaluation(ExpressionEvaluator(model: model)) { _ in [] }
        let found = try evaluation.apply(sequence, to: rows).map { row -> String in
            if row.values.count == 1, let colour = row.values["Colour"] { return Self.text(colour) }
            let values = row.values.filter { $0.name != "Colour" }
            return values.map { "\($0.name)=\(Self.text($0.value))" }.joined()
        }
        #expect(found == expected)
    }

    @Test func `computed enumeration members are compared and ordered by their numbers`() throws {
        let (model, type) = Self.colours()
        let options = try QueryOptions.parse(
            "$compute=Colour%20as%20C,C%20as%20D&$filter=D%20eq%20'Red,Green'&$orderby=D", version: .v401, type: type,
            model: model)
        let evaluator = ExpressionEvaluator(model: model)
        let entity = EvaluationScope(["Colour": .enumeration("Green,Red")], type: type)
        let (values, scope) = try evaluator.computing(options.compute, for: entity)
        #expect(values == ["C": .enumeration("Green,Red"), "D": .enumeration("Green,Red")])
        let filter = try #require(options.filter)
        #expect(try evaluator.isTrue(filter, for: scope))
        #expect(try evaluator.sortKeys(options.orderBy, for: scope) == [.integer(3)])
    }

    private static func colours() -> (EntityDataModel, StructuredType) {
        let members = [("Red", 1), ("Green", 2), ("Blue", 4)].map {
            EnumerationType.Member(name: $0.0, value: Int64($0.1))
        }
        let colour = TypeReference(.enumeration(name: "S.Colour"))
        let type = StructuredType(
            kind: .entity, name: "S.T", properties: [Property(name: "Colour", type: colour, declaringType: "S.T")])
        let model = EntityDataModel(
            version: .v401, schemas: [], structuredTypes: [type],
            enumerationTypes: [
                EnumerationType(name: "S.Colour", underlyingType: .int32, isFlags: true, members: members)
            ], entitySets: [], singletons: [])
        return (model, type)
    }

    @Test func `grouping by properties of a missing related entity yields null for the whole entity`() throws {
        let rows = [Self.row(0, id: 1, customer: nil, product: "", amount: .integer(1))]
        #expect(try run("groupby((Customer/Name,Customer/ID))", rows) == ["Customer=null"])
    }

    @Test(arguments: [
        "aggregate(Forecast)", "aggregate(Amount with Custom.median as M)",
        "groupby((rollup(CustomerHierarchy)))",
        "nest(identity as All)", "Custom.condense()", "join(Sales as Sale)",
    ])
    func `a transformation that only a service can evaluate is rejected as unsupported`(text: String) throws {
        let error = #expect(throws: EvaluationError.self) { try run(text) }
        #expect(error?.code == .unsupported)
    }

    @Test func `a sequence that is nested too deeply is rejected`() {
        let text = String(repeating: "groupby((A),", count: 200) + "identity" + String(repeating: ")", count: 200)
        #expect(throws: URLSyntaxError.self) { try QueryOptions.parse("$apply=\(text)", version: .v401) }
    }
}
