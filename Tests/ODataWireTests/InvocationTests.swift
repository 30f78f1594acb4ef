import EDM
import ODataQuery
import ODataWire
import Testing

/// Requests that call functions and actions.
@Suite struct InvocationTests {
    typealias Argument = OperationInvocation.Argument

    static func request(
        _ model: EntityDataModel, _ name: String, on binding: OperationInvocation.Binding? = nil,
        type: TypeReference? = nil, _ arguments: [Argument] = [], options: ServiceOptions = ServiceOptions()
    ) throws -> WireRequest {
        let operation = try model.invokedOperation(name, on: type, parameters: arguments.map(\.name))
        let invocation = OperationInvocation(operation, on: binding, arguments)
        try invocation.check(in: model)
        return try RequestEncoder(
            version: model.version, model: model, serviceRoot: "http://host/service", options: options
        ).encode(invocation)
    }

    private func url(_ name: String, _ arguments: Argument...) throws -> String {
        try Self.request(try InvocationModel.v4(), name, arguments).url
    }

    private func v2(_ name: String, _ arguments: Argument...) throws -> WireRequest {
        try Self.request(try InvocationModel.v2(), name, arguments)
    }

    @Test func `the body of an action names the type of a value whose parameter is of an abstract type`() throws {
        let model = try InvocationModel.v4()
        let value = try #require(LocalDate("2020-02-29").map(Value.date))
        let body = try Self.request(model, "Marking", [Argument("mark", .value(value))]).body
        #expect(String(decoding: body, as: UTF8.self) == ##"{"mark@odata.type":"#Date","mark":"2020-02-29"}"##)
        let reader = InvocationReader(version: .v4, model: model)
        let operation = try model.invokedOperation("Marking", on: nil, parameters: reader.names(inBody: body))
        #expect(try reader.arguments(inBody: body, of: operation) == ["mark": .value(value)])
    }

    // MARK: V4 functions

    @Test func `a function without parameters is called with empty parentheses`() throws {
        let model = try InvocationModel.v4()
        let set = try #require(model.findEntitySet("Customers"))
        let customer = OperationInvocation.Binding(.entity(.entity(set: set, key: KeyPredicate([("ID", .integer(1))]))))
        let type = TypeReference(.entity(name: "Model.Customer"))
        #expect(try Self.request(model, "Level", on: customer, type: type).url == "Customers(1)/Model.Level()")
    }

    @Test(arguments: [
        (Value.string("red"), "ProductsByColor(color='red')"),
        (.null, "ProductsByColor(color=null)"),
        (.string("O'Neil & co"), "ProductsByColor(color='O''Neil%20%26%20co')"),
        (.string("a/b"), "ProductsByColor(color=@color)?@color='a/b'"),
        (.string("50%"), "ProductsByColor(color=@color)?@color='50%25'"),
        (.string("ü#?+"), "ProductsByColor(color='%C3%BC%23%3F%2B')"),
    ])
    func `a string that the path cannot contain is passed in an alias`(_ value: Value, _ expected: String) throws {
        #expect(try url("ProductsByColor", Argument("color", .value(value))) == expected)
    }

    @Test func `a long string is passed in an alias`() throws {
        let text = String(repeating: "x", count: 300)
        #expect(
            try url("ProductsByColor", Argument("color", .value(.string(text))))
                == "ProductsByColor(color=@color)?@color='\(text)'")
    }

    @Test func `primitive values are written as literals of their types`() throws {
        let values: [(String, Value?)] = [
            ("date", LocalDate("2026-11-23").map { .date($0) }),
            ("guid", .guid(GuidValue(high: 1, low: 2))),
            ("span", DayTimeDuration("PT1H").map { .duration($0) }),
            ("amount", DecimalValue("1.50").map { .decimal($0) }), ("big", .integer(.max)),
            ("at", GlobalDateTime("2026-11-23T08:00:00+01:00").map { .dateTimeOffset($0) }),
        ]
        let arguments = try values.map { Argument($0.0, .value(try #require($0.1))) }
        let url = try Self.request(try InvocationModel.v4(), "All", arguments).url
        #expect(
            url == "All(date=2026-11-23,guid=00000000-0000-0001-0000-000000000002,span=duration'PT1H',amount=1.50,"
                + "big=9223372036854775807,at=2026-11-23T08:00:00%2B01:00)")
    }

    @Test func `an enumeration value names its type, except in a collection`() throws {
        #expect(
            try url(
                "ByPattern", Argument("pattern", .value(.enumeration("Red,Yellow"))),
                Argument("patterns", .value(.collection([.enumeration("Red")]))))
                == "ByPattern(pattern=Model.Pattern'Red,Yellow',patterns=@patterns)?@patterns=%5B%22Red%22%5D")
    }

    @Test func `a nullable parameter without an argument is null, and an optional one is omitted`() throws {
        #expect(try url("ProductsByComplex") == "ProductsByComplex(complex=null)")
        #expect(try url("Optional", Argument("a", .value(.integer(1)))) == "Optional(a=1)")
        let both = [Argument("b", .value(.integer(2))), Argument("a", .value(.integer(1)))]
        #expect(try Self.request(try InvocationModel.v4(), "Optional", both).url == "Optional(a=1,b=2)")
    }

    @Test func `an entity argument is passed as a reference in an alias`() throws {
        let model = try InvocationModel.v4()
        let set = try #require(model.findEntitySet("Customers"))
        let reference = Argument.Entity.reference(
            .entity(set: set, key: KeyPredicate([("ID", .integer(1))])), set.entityType)
        let url = try Self.request(model, "ProductsOrderedBy", [Argument("Customers", .entities([reference]))]).url
        let alias = try PercentCoding.decode(url.dropFirst("ProductsOrderedBy(Customers=@Customers)?".count))
        #expect(alias == #"@Customers=[{"@odata.id":"http://host/service/Customers(1)"}]"#)
    }

    @Test func `the overload of the nearest base type is called`() throws {
        let model = try InvocationModel.v4()
        func result(_ type: String) throws -> String? {
            try model.invokedOperation(
                "Model.Level", on: TypeReference(.entity(name: type)), parameters: []
            ).returnType?.type.name
        }
        #expect(try result("Model.VipCustomer") == "Edm.Int64")
        #expect(try result("Model.Customer") == "Edm.Int32")
    }

    // MARK: V4 actions

    @Test func `an action without parameters has no body`() throws {
        let request = try Self.request(try InvocationModel.v4(), "Activation")
        #expect(request.method == "POST" && request.url == "Activation")
        #expect(request.body.isEmpty && request.headers["Content-Type"] == nil)
    }

    @Test func `an action of a derived type is called after a type cast`() throws {
        let model = try InvocationModel.v4()
        let binding = OperationInvocation.Binding(.entity(.url("Customers(4)")), cast: "Model.VipCustomer")
        let request = try Self.request(
            model, "Rejection", on: binding, type: TypeReference(.entity(name: "Model.VipCustomer")),
            [
                Argument("amount", .value(.decimal(3))), Argument("reason", .value(.string("no \"more\""))),
            ], options: ServiceOptions(isIEEE754Compatible: true))
        #expect(request.url == "Customers(4)/Model.VipCustomer/Model.Rejection")
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"reason":"no \"more\"","amount":"3"}"#)
        #expect(request.headers["Content-Type"] == "application/json;IEEE754Compatible=true")
    }

    @Test func `a URL that ends in the type cast gets no second cast`() throws {
        let binding = OperationInvocation.Binding(
            .entity(.url("http://host/service/Customers(4)/Model.VipCustomer")), cast: "Model.VipCustomer")
        let request = try Self.request(
            try InvocationModel.v4(), "Rejection", on: binding,
            type: TypeReference(.entity(name: "Model.VipCustomer")))
        #expect(request.url == "Customers(4)/Model.VipCustomer/Model.Rejection")
    }

    @Test func `a new entity is passed with its type and all values`() throws {
        let model = try InvocationModel.v4()
        let type = try #require(model.findEntityType("Model.VipCustomer"))
        let body = EntityBody(type: type, values: ["ID": .integer(1), "Rank": .integer(2)])
        let request = try Self.request(model, "Invite", [Argument("guest", .entity(.body(body)))])
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == ##"{"guest":{"@odata.type":"#Model.VipCustomer","ID":1,"Rank":2}}"##)
    }

    // MARK: V2

    @Test func `V2 calls use V2 literals and omit null parameters`() throws {
        let request = try v2(
            "All", Argument("at", .value(.dateTime(try #require(LocalDateTime("2026-11-23T08:00:00"))))),
            Argument("id", .value(.guid(GuidValue(high: 1, low: 2)))), Argument("big", .value(.integer(7))),
            Argument("amount", .value(.decimal(3))), Argument("text", .value(.null)),
            Argument("bytes", .value(.binary([0xAB]))))
        #expect(request.method == "GET")
        #expect(
            request.url
                == "All?at=datetime'2026-11-23T08:00:00'&id=guid'00000000-0000-0001-0000-000000000002'&big=7L&amount=3M&bytes=binary'AB'"
        )
    }

    @Test func `V2 calls use the HTTP method that the metadata declares`() throws {
        #expect(try v2("Remove").method == "DELETE")
    }

    @Test func `a tunneled method is named in a header`() throws {
        let request = try Self.request(
            try InvocationModel.v2(), "Remove", options: ServiceOptions(tunnelsMethods: true))
        #expect(request.method == "POST" && request.headers["X-HTTP-Method"] == "DELETE")
    }

    @Test func `V2 calls reject complex parameters`() throws {
        let place = Argument("p", .value(.complex(ComplexValue(properties: ["City": .string("a")]))))
        let error = #expect(throws: InvocationError.self) { try v2("Place", place) }
        #expect(error?.code == .unsupported)
    }
}
