import EDM
import ODataWire
import Testing

/// Responses of services to calls of functions and actions.
@Suite struct InvocationResultTests {
    private func v2(_ json: String, _ type: TypeReference, name: String = "F") throws -> InvocationPayload {
        try PayloadReader(version: .v2, model: try InvocationModel.v2()).result(
            Array(json.utf8), type: type, name: name)
    }

    private func v4(_ json: String, _ type: TypeReference) throws -> InvocationPayload {
        try PayloadReader(version: .v4, model: try InvocationModel.v4()).result(
            Array(json.utf8), type: type, name: "F")
    }

    private let text = TypeReference(.primitive(.string))
    private let texts = TypeReference(.primitive(.string), isCollection: true)
    private let place = TypeReference(.complex(name: "NS.Place"))
    private let order = TypeReference(.entity(name: "NS.Order"))
    private let orders = TypeReference(.entity(name: "NS.Order"), isCollection: true)

    @Test(arguments: [#"{"d":{"F":"a"}}"#, #"{"F":"a"}"#, #"{"d":{"results":"a"}}"#, #"{"d":"a"}"#])
    func `V2 reads a value with or without the function's name around it`(_ json: String) throws {
        #expect(try v2(json, text) == .value(.string("a")))
    }

    @Test(arguments: [
        #"{"d":{"results":["a","b"]}}"#, #"{"d":["a","b"]}"#, #"{"d":{"F":["a","b"]}}"#,
        #"{"d":{"F":{"results":["a","b"]}}}"#,
    ])
    func `V2 reads a collection of values with or without wrappers`(_ json: String) throws {
        #expect(try v2(json, texts) == .values([.string("a"), .string("b")], nextLink: nil))
    }

    @Test(arguments: [
        #"{"d":{"F":{"__metadata":{"type":"NS.Place"},"City":"Bern"}}}"#, #"{"d":{"City":"Bern"}}"#,
        #"{"d":{"results":{"City":"Bern"}}}"#,
    ])
    func `V2 reads a complex value with or without the function's name around it`(_ json: String) throws {
        #expect(try v2(json, place) == .value(.complex(ComplexValue(properties: ["City": .string("Bern")]))))
    }

    @Test(arguments: [
        #"{"d":{"__metadata":{"uri":"Orders(1)"},"ID":1}}"#, #"{"d":{"results":{"ID":1}}}"#,
        #"{"d":{"results":[{"ID":1}]}}"#, #"{"d":{"F":{"ID":1}}}"#, #"{"d":[{"ID":1}]}"#,
    ])
    func `V2 reads an entity without a wrapper, in results, or below the function's name`(_ json: String) throws {
        guard case .entity(let entity, _) = try v2(json, order) else {
            Issue.record("It is no entity.")
            return
        }
        #expect(entity.values["ID"] == .integer(1))
    }

    @Test(arguments: [
        #"{"d":{"results":[{"ID":1},{"ID":2}],"__next":"more"}}"#,
        #"{"d":{"F":{"results":[{"ID":1},{"ID":2}],"__next":"more"}}}"#,
    ])
    func `V2 reads a page of entities in results`(_ json: String) throws {
        guard case .entities(let feed, _) = try v2(json, orders) else {
            Issue.record("There are no entities.")
            return
        }
        #expect(feed.entities.map { $0.values["ID"] } == [.integer(1), .integer(2)])
        #expect(feed.nextLink == "more")
    }

    @Test(arguments: [#"{"d":null}"#, #"{"d":{"F":null}}"#, #"{"d":{"results":[]}}"#])
    func `V2 reads null or an empty collection as no entity`(_ json: String) throws {
        #expect(try v2(json, order) == .nothing)
    }

    @Test func `V4 reads a primitive value from the member value`() throws {
        #expect(try v4(#"{"@odata.context":"$metadata#Edm.String","value":"a"}"#, text) == .value(.string("a")))
    }

    @Test func `V4 reads a complex value without a wrapper, also if it has a property named value`() throws {
        let type = TypeReference(.complex(name: "Model.Wrapped"))
        let value = Value.complex(ComplexValue(properties: ["value": .integer(1), "x": .integer(2)]))
        #expect(try v4(#"{"@odata.context":"$metadata#Model.Wrapped","value":1,"x":2}"#, type) == .value(value))
    }

    @Test func `V4 reads a page of a collection`() throws {
        #expect(try v4(#"{"value":["a"],"@odata.nextLink":"n"}"#, texts) == .values([.string("a")], nextLink: "n"))
    }

    @Test(arguments: [#"{"@odata.null":true}"#, #"{"value":null}"#, "null"])
    func `V4 reads null as no result`(_ json: String) throws { #expect(try v4(json, text) == .nothing) }

    @Test func `V4 returns the set of an entity`() throws {
        let json = #"{"@odata.context":"http://host/service/$metadata#Customers/$entity","ID":1}"#
        guard case .entity(let entity, let set) = try v4(json, TypeReference(.entity(name: "Model.Customer"))) else {
            Issue.record("It is no entity.")
            return
        }
        #expect(entity.values["ID"] == .integer(1))
        #expect(set == "Customers")
    }

    @Test(arguments: ["", "[", "{}", "3", #"{"value":{}}"#, #"{"value":[1]}"#, #"{"value":true}"#, #"{"d":"x"}"#])
    func `a result of the wrong shape is rejected`(_ json: String) throws {
        for type in [texts, TypeReference(.primitive(.int64), isCollection: false)] where !json.contains("3") {
            #expect(throws: PayloadError.self) { try v4(json, type) }
        }
    }
}
