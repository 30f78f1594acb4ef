import EDM
import ODataQuery
import Operations
import SeededRandom
import SyncCore
import Testing

@testable import Views

/// Queries over the views: SQL and the evaluator return the same results, and the pages together are the whole result.
struct RowQueryTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        <Property Name="Address" Type="S.Address"/><Property Name="Favourite" Type="S.Mood"/>
        <NavigationProperty Name="Orders" Type="Collection(S.Order)" Partner="Customer"/></EntityType>
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Number" Type="Edm.Int64"/>
        <Property Name="Text" Type="Edm.String"/><Property Name="Weight" Type="Edm.Double"/>
        <Property Name="Mood" Type="S.Mood"/><Property Name="Before" Type="S.Mood"/><Property Name="Colours" Type="S.Colour"/>
        <Property Name="Price" Type="Edm.Decimal" Scale="variable"/>
        <Property Name="Placed" Type="Edm.DateTimeOffset" Precision="12"/>
        <NavigationProperty Name="Customer" Type="S.Customer" Partner="Orders"/></EntityType>
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/></ComplexType>
        <EnumType Name="Mood"><Member Name="Bad" Value="0"/><Member Name="Awful" Value="1"/></EnumType>
        <EnumType Name="Colour" IsFlags="true"><Member Name="Red" Value="1"/><Member Name="Blue" Value="2"/></EnumType>
        <EntityContainer Name="C"><EntitySet Name="Customers" EntityType="S.Customer"/>
        <EntitySet Name="Orders" EntityType="S.Order"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    /// A store with customers with entity IDs from 1, and orders with IDs from 1001.
    final class Store {
        let state: SQLiteState
        let model: EntityDataModel
        var query: RowQuery { RowQuery(state: state, model: model, now: GlobalDateTime("2024-03-01T00:00:00Z")) }

        init() throws {
            state = try SQLiteState(path: nil, store: "test")
            model = try CSDLReader.read(Array(RowQueryTests.metadata.utf8))
            try state.install(model)
        }

        func put(_ set: String, _ id: UInt64, _ values: PropertyValues, origin: EntityRow.Origin = .service) throws {
            let type = try #require(model.findEntitySet(set)).entityType.name
            try state.register(EntityID(rawValue: id), set: set)
            try state.putRow(
                EntityRow(id: EntityID(rawValue: id), set: set, type: type, values: values, origin: origin))
        }

        func link(_ order: UInt64, to customer: UInt64, isLocal: Bool = false) throws {
            let end = try #require(model.findEntityType("S.Order")?.findProperty("Customer")?.navigation)
            let (order, customer) = (EntityID(rawValue: order), EntityID(rawValue: customer))
            let isForward = end.relationship.isForward
            try state.putLink(
                LinkRow(
                    relationship: end.relationship.name, first: isForward ? order : customer,
                    second: isForward ? customer : order, inBase: !isLocal, inLocal: true))
        }

        func request(_ url: String) throws -> ServiceRequest {
            try ServiceRequest.parse(url.replacing(" ", with: "%20"), model: model, version: .v401)
        }

        func ids(_ answer: RowQuery.Answer) throws -> [UInt64] {
            guard case .entities(let rows) = answer.content else {
                Issue.record("These are no entities.")
                return []
            }
            return rows.map(\.id.rawValue)
        }

        func find(_ url: String) throws -> [UInt64] { try ids(query.answer(try request(url))) }
    }

    private struct Dice {
        var state: UInt64

        mutating func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }

        mutating func pick<T>(_ items: [T]) -> T { items[next(items.count)] }
    }

    private static let words = ["red apple", "Red", "blue", "a red-blue thing", "", "Äpfel"]

    private func values(_ id: UInt64, _ dice: inout Dice) -> PropertyValues {
        [
            "ID": .integer(Int64(id)), "Number": dice.next(4) == 0 ? .null : .integer(Int64(dice.next(5))),
            "Text": dice.next(5) == 0 ? .null : .string(dice.pick(Self.words)),
            "Price": dice.next(5) == 0
                ? .null : DecimalValue(dice.pick(["1.5", "1.50", "-2", "10", "9.99"])).map { .decimal($0) } ?? .null,
            "Placed": GlobalDateTime(
                dice.pick(["2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00", "2023-05-05T05:05:05Z"])
            )
            .map { .dateTimeOffset($0) } ?? .null,
        ]
    }

    private func store(_ dice: inout Dice) throws -> Store {
        let store = try Store()
        for id in 1...5 as ClosedRange<UInt64> {
            let city = ComplexValue(properties: ["City": .string(dice.pick(Self.words))])
            try store.put(
                "Customers", id,
                ["ID": .integer(Int64(id)), "Name": .string(dice.pick(Self.words)), "Address": .complex(city)])
        }
        for id in 1001...1040 as ClosedRange<UInt64> {
            try store.put("Orders", id, values(id, &dice), origin: dice.next(4) == 0 ? .local : .service)
            if dice.next(3) > 0 { try store.link(id, to: UInt64(dice.next(5) + 1)) }
        }
        return store
    }

    private func randomQuery(_ dice: inout Dice) -> String {
        var options: [String] = []
        let terms = ["Number", "Price", "Text", "Placed", "Customer/Name", "Total", "length(Text)"]
        if dice.next(2) == 0 {
            options.append(
                "$filter="
                    + dice.pick([
                        "Number gt 1", "Total gt 3", "Total eq null", "not (Length lt 4)", "sap.islocal()",
                        "not sap.islocal() and Number ne null", "Customer/Name eq 'blue' or Total lt 0", "Price eq 1.5",
                        "sap.haspendingchanges()", "Customer/Orders/any(o:o/Number gt Total)",
                    ]))
        }
        options.append("$compute=Number add Price as Total,length(Text) as Length")
        if dice.next(3) == 0 {
            options.append(
                "$search=" + dice.pick(["red", "RED AND blue", "NOT red", "appl*", "pple*", "\"red-blue\"", "äpfel"]))
        }
        if dice.next(3) > 0 {
            options.append(
                "$orderby="
                    + (0...dice.next(2)).map { _ in dice.pick(terms) + dice.pick(["", " desc"]) }.joined(separator: ",")
            )
        }
        if dice.next(4) == 0 { options.append("$skip=\(dice.next(8))") }
        if dice.next(3) == 0 { options.append("$top=\(dice.next(30))") }
        return "Orders?" + options.joined(separator: "&")
    }

    @Test func `SQL and the evaluator return the same results for complete queries`() throws {
        let seed = UInt64.testSeed()
        var dice = Dice(state: seed)
        let store = try store(&dice)
        var compared = 0
        for _ in 0..<300 {
            let url = randomQuery(&dice)
            let request = try store.request(url)
            guard let answer = try store.query.answerInSQL(request, wantsCount: true) else {
                Issue.record("Not answered in SQL: \(url)")
                continue
            }
            var counting = request.options
            counting.count = true
            let expected = try store.query.answerInMemory(ServiceRequest(path: request.path, options: counting))
            #expect(try store.ids(answer) == store.ids(expected), "seed \(seed): \(url)")
            #expect(answer.count == expected.count, "seed \(seed): \(url)")
            compared += 1
        }
        #expect(compared == 300)
    }

    /// Returns a random `$apply` that ends in rows of values, over columns.
    private func randomApply(_ dice: inout Dice) -> String {
        let keys = ["Number", "Text", "Price", "Placed", "Customer/Name", "Customer/Address/City", "Customer/ID"]
        let aggregates = [
            "Price with sum as A", "Price with average as B", "Number with min as C", "Text with max as D",
            "Placed with countdistinct as E", "$count as F", "Number mul Price with sum as G",
            "Number with sum from Text with average as H", "Customer/Name with countdistinct as I",
        ]
        let aggregate =
            "aggregate(" + Set((0...dice.next(3)).map { _ in dice.pick(aggregates) }).sorted().joined(separator: ",")
            + ")"
        var steps: [String] = []
        if dice.next(2) == 0 {
            steps.append("filter(" + dice.pick(["Number gt 1", "not sap.islocal()", "Customer/Name ne null"]) + ")")
        }
        if dice.next(3) == 0 { steps.append("compute(Number add 1 as More)/filter(More gt 1)") }
        if dice.next(4) == 0 {
            steps.append(dice.pick(["topcount(9,Number)", "bottomsum(5,Number)", "toppercent(50,Number)"]))
        }
        let key = Set((0...dice.next(2)).map { _ in dice.pick(keys) }).sorted().joined(separator: ",")
        steps.append(dice.pick([aggregate, "groupby((\(key)),\(aggregate))", "groupby((\(key)))"]))
        if dice.next(4) == 0 { steps.append("concat(identity,aggregate($count as Groups))") }
        return "Orders?$apply=" + steps.joined(separator: "/") + "&$count=true"
            + dice.pick(["", "&$top=3", "&$skip=1"])
    }

    @Test func `aggregates over columns equal aggregates over entities`() throws {
        let seed = UInt64.testSeed()
        var dice = Dice(state: seed)
        let store = try store(&dice)
        func values(_ answer: RowQuery.Answer) -> [PropertyValues] {
            guard case .applied(let rows) = answer.content else { return [] }
            return rows.map(\.values)
        }
        for _ in 0..<200 {
            let url = randomApply(&dice)
            let request = try store.request(url)
            let expected = try store.query.answerInMemory(request)
            let answer = try #require(try store.query.appliedInSQL(request), "Not answered in SQL: \(url)")
            #expect(values(answer) == values(expected), "seed \(seed): \(url)")
            #expect(answer.count == expected.count, "seed \(seed): \(url)")
        }
    }

    @Test func `the pages of a query together equal its whole result, in SQL and in memory`() throws {
        let seed = UInt64.testSeed()
        var dice = Dice(state: seed)
        let store = try store(&dice)
        for _ in 0..<60 {
            let url = randomQuery(&dice)
            let request = try store.request(url)
            let whole = try store.find(url)
            var collected: [UInt64] = []
            var next: QueryOptions? = request.options
            var isFirst = true
            while let options = next {
                let page = ServiceRequest(path: request.path, options: options)
                let answer = try store.query.answer(page, pageSize: isFirst ? 3 : nil)
                let ids = try store.ids(answer)
                #expect(ids.count <= 3)
                if options.skipToken != nil {
                    let memory = try store.query.answerInMemory(page)
                    #expect(try store.ids(memory).starts(with: ids), "seed \(seed): \(url)")
                }
                collected += ids
                next = answer.next
                isFirst = false
                guard collected.count <= whole.count else { break }
            }
            #expect(collected == whole, "seed \(seed): \(url)")
        }
    }

    @Test func `a page continues after the last entity regardless of changes before it`() throws {
        var dice = Dice(state: 1)
        let store = try store(&dice)
        let request = try store.request("Orders?$orderby=ID")
        let first = try store.query.answer(request, pageSize: 10)
        #expect(try store.ids(first) == Array(1001...1010))
        try store.state.removeRow(EntityID(rawValue: 1010))
        try store.state.removeRow(EntityID(rawValue: 1003))
        try store.put("Orders", 1050, ["ID": .integer(5)])
        let next = ServiceRequest(path: request.path, options: try #require(first.next))
        #expect(try store.ids(store.query.answer(next)) == Array(1011...1020))
    }

    @Test func `a skip token of another query is refused`() throws {
        var dice = Dice(state: 1)
        let store = try store(&dice)
        let next = try #require(try store.query.answer(try store.request("Orders?$orderby=ID"), pageSize: 2).next)
        var other = next
        other.orderBy = []
        for options in [other, try QueryOptions.parse("$skiptoken=x", version: .v4)] {
            let error = #expect(throws: EvaluationError.self) {
                try store.query.answer(ServiceRequest(path: try store.request("Orders").path, options: options))
            }
            #expect(error?.code == .wrongOperand)
        }
    }

    @Test func `a search covers only the selected properties, and matches everything without searchable ones`() throws {
        let store = try Store()
        let city = ComplexValue(properties: ["City": .string("Bern")])
        try store.put("Customers", 1, ["ID": .integer(1), "Name": .string("Ada"), "Address": .complex(city)])
        for (url, found) in [
            ("Customers?$search=bern", [1]), ("Customers?$search=bern&$select=Name", []),
            ("Customers?$search=bern&$select=Address", [1]), ("Customers?$search=bern&$select=ID", [1]),
            ("Customers?$search=bern&$select=Address,Name", [1]), ("Customers?$search=be*", [1]),
            ("Customers?$search=er*", []), ("Customers?$search=ada&$select=*", [1]),
        ] as [(String, [UInt64])] {
            #expect(try store.find(url) == found, "\(url)")
            #expect(try store.ids(store.query.answerInMemory(store.request(url))) == found, "\(url) in memory")
        }
    }

    @Test func `local functions in a query of links apply to the link`() throws {
        let store = try Store()
        try store.put("Customers", 1, ["ID": .integer(1)])
        for id in [1001, 1002, 1003] as [UInt64] { try store.put("Orders", id, ["ID": .integer(Int64(id))]) }
        try store.link(1001, to: 1)
        try store.link(1002, to: 1, isLocal: true)
        #expect(try store.find("Customers(1)/Orders/$ref?$filter=sap.islocal()") == [1002])
        #expect(try store.find("Customers(1)/Orders/$ref?$filter=not sap.islocal()") == [1001])
        #expect(try store.find("Customers(1)/Orders?$filter=sap.islocal()") == [])
    }

    @Test func `the target of a path is the same in SQL and in memory`() throws {
        let seed = UInt64.testSeed()
        var dice = Dice(state: seed)
        let store = try store(&dice)
        for _ in 0..<120 {
            let url = randomQuery(&dice).replacing("Orders?", with: "Customers(\(dice.next(5) + 1))/Orders?")
            let request = try store.request(url + "&$count=true")
            let expected = try store.query.answerInMemory(request)
            let answer = try #require(try store.query.reachedInSQL(request), "Not answered in SQL: \(url)")
            #expect(try store.ids(answer) == store.ids(expected), "seed \(seed): \(url)")
            #expect(answer.count == expected.count, "seed \(seed): \(url)")
        }
    }

    @Test func `the maximum page size is accepted`() throws {
        let store = try Store()
        for id in 1001...1003 as ClosedRange<UInt64> { try store.put("Orders", id, ["ID": .integer(Int64(id))]) }
        for url in ["Orders", "Orders/$filter(ID gt 1)"] {
            let request = try store.request(url)
            #expect(try store.ids(store.query.answer(request, pageSize: .max)) == [1001, 1002, 1003], "\(url)")
            var options = request.options
            options.skipToken = PagePosition(keys: [], entity: EntityID(rawValue: 1001), pageSize: .max).token
            let next = ServiceRequest(path: request.path, options: options)
            #expect(try store.ids(store.query.answer(next)) == [1002, 1003], "\(url)")
        }
    }

    @Test func `pages continue after an entity with the value NaN`() throws {
        let store = try Store()
        for (id, weight) in [(1001, 1), (1002, .nan), (1003, .nan), (1004, 2)] as [(UInt64, Double)] {
            try store.put("Orders", id, ["ID": .integer(Int64(id)), "Weight": .double(weight)])
        }
        for order in ["Weight", "Weight desc", "Weight add 1"] {
            let request = try store.request("Orders?$orderby=" + order)
            var collected: [UInt64] = []
            var next: QueryOptions? = request.options
            while let options = next, collected.count < 9 {
                let page = ServiceRequest(path: request.path, options: options)
                let answer = try store.query.answer(page, pageSize: options.skipToken == nil ? 1 : nil)
                collected += try store.ids(answer)
                next = answer.next
            }
            #expect(collected.sorted() == [1001, 1002, 1003, 1004], "\(order)")
        }
    }

    @Test(arguments: [
        ("Orders?$apply=aggregate(ID with sum as Sum)", "$apply is evaluated in memory."),
        ("Customers(1)/Orders?$filter=isdefined(Number)", "isdefined cannot be evaluated in SQL."),
    ])
    func `an explanation states the parts that are evaluated in memory`(_ url: String, _ reason: String) throws {
        let store = try Store()
        try store.put("Customers", 1, ["ID": .integer(1)])
        let found = try store.state.explaining {
            _ = try store.query.answer(store.request(url))
            return 0
        }
        #expect(found.inMemory.contains(reason), "\(found.inMemory)")
    }

    @Test(
        arguments: [
            ("Mood eq S.Mood'1'", [1002]), ("Mood eq S.Mood'Awful'", [1002]), ("Mood gt S.Mood'Bad'", [1002]),
            ("Mood ne S.Mood'Awful'", [1001, 1003]), ("not (Mood eq S.Mood'1')", [1001, 1003]),
            ("Mood in (S.Mood'0',S.Mood'Awful')", [1001, 1002]), ("Mood le S.Mood'1'", [1001, 1002]),
            ("Colours eq S.Colour'Red,Blue'", [1001, 1002]), ("Colours eq S.Colour'3'", [1001, 1002]),
        ] as [(String, [UInt64])])
    func `enumeration members are compared by their numbers in any form`(
        _ filter: String, _ found: [UInt64]
    ) throws {
        let store = try Store()
        try store.put(
            "Orders", 1001, ["ID": .integer(1), "Mood": .enumeration("Bad"), "Colours": .enumeration("Red,Blue")])
        try store.put(
            "Orders", 1002, ["ID": .integer(2), "Mood": .enumeration("Awful"), "Colours": .enumeration("Blue,Red")])
        try store.put("Orders", 1003, ["ID": .integer(3), "Mood": .null, "Colours": .enumeration("Red")])
        let request = try store.request("Orders?$filter=" + filter)
        let answer = try #require(try store.query.answerInSQL(request, wantsCount: false))
        #expect(try store.ids(answer) == found)
        #expect(try store.ids(store.query.answerInMemory(request)) == found)
    }

    @Test(
        arguments: [
            ("$filter=Mood gt Before", [1002]), ("$filter=Mood eq Before", [1003, 1004]),
            ("$filter=Before le Mood", [1002, 1003, 1004]), ("$filter=Mood gt 'Bad'", [1002]),
            ("$filter=Mood in ('0','Awful')", [1001, 1002, 1003]), ("$orderby=Mood", [1004, 1001, 1003, 1002]),
            ("$orderby=Mood desc", [1002, 1003, 1001, 1004]), ("$orderby=Before,ID desc", [1004, 1003, 1002, 1001]),
            ("$filter=Customer/Orders/any(o:o/Mood gt $it/Before)", [1002]),
            ("$orderby=Customer/Favourite,ID", [1003, 1004, 1001, 1002]),
        ] as [(String, [UInt64])])
    func `enumeration members are ordered by their numbers`(_ options: String, _ found: [UInt64]) throws {
        let store = try Store()
        let moods: [(Value, Value)] = [
            (.enumeration("Bad"), .enumeration("Awful")), (.enumeration("Awful"), .enumeration("0")),
            (.enumeration("0"), .enumeration("Bad")), (.null, .null),
        ]
        try store.put("Customers", 1, ["ID": .integer(1), "Favourite": .enumeration("Bad")])
        for (id, (mood, before)) in zip((1001 as UInt64)..., moods) {
            try store.put("Orders", id, ["ID": .integer(Int64(id)), "Mood": mood, "Before": before])
            if id < 1003 { try store.link(id, to: 1) }
        }
        let request = try store.request("Orders?" + options)
        let answer = try #require(try store.query.answerInSQL(request, wantsCount: false))
        #expect(try store.ids(answer) == found)
        #expect(try store.ids(store.query.answerInMemory(request)) == found)
        // The same result in pages.
        var collected: [UInt64] = []
        var next: QueryOptions? = request.options
        while let options = next, collected.count < 9 {
            let page = ServiceRequest(path: request.path, options: options)
            let answer = try store.query.answer(page, pageSize: options.skipToken == nil ? 1 : nil)
            collected += try store.ids(answer)
            next = answer.next
        }
        #expect(collected == found)
    }

    @Test func `a long chain of computed values is evaluated in SQL`() throws {
        let store = try Store()
        try store.put("Orders", 1001, ["ID": .integer(1), "Number": .integer(1)])
        let chain = (1...60).map { "x\($0 - 1) add 1 as x\($0)" }.joined(separator: ",")
        let request = try store.request("Orders?$compute=Number as x0,\(chain)&$filter=x60 eq 61")
        #expect(try store.query.answerInSQL(request, wantsCount: false).map(store.ids) == [1001])
    }

    @Test func `conditions beyond the limits of SQLite are evaluated in memory`() throws {
        let store = try Store()
        for id in 1001...1003 as ClosedRange<UInt64> { try store.put("Orders", id, ["ID": .integer(Int64(id))]) }
        let alternatives = (1002..<5000).map { "ID eq \($0)" }.joined(separator: " or ")
        #expect(try store.find("Orders?$filter=" + alternatives) == [1002, 1003])
        let conditions = (1..<1300).map { "ID gt \($0 % 1000)" }.joined(separator: " and ")
        #expect(try store.find("Orders?$filter=" + conditions) == [1001, 1002, 1003])
        let terms = (1..<130).map { "ID add \($0)" }.joined(separator: ",")
        #expect(try store.find("Orders?$filter=1003 in [\(terms)]") == [1001, 1002])
        store.state.connection.limitParameters(to: 400)
        let values = (0..<600).map { "ID ne \($0)" }.joined(separator: " and ")
        #expect(try store.find("Orders?$filter=" + values) == [1001, 1002, 1003])
    }

    @Test func `computed values that double repeatedly are evaluated in memory instead of SQL`() throws {
        let store = try Store()
        try store.put("Orders", 1001, ["ID": .integer(1), "Number": .integer(1)])
        let doubled = (1...40).map { "x\($0 - 1) add x\($0 - 1) as x\($0)" }.joined(separator: ",")
        let request = try store.request("Orders?$compute=Number as x0,\(doubled)&$filter=x40 gt 1")
        #expect(try store.query.answerInSQL(request, wantsCount: false).map(store.ids) == nil)
        #expect(try store.ids(store.query.answer(request)) == [1001])
    }
}
