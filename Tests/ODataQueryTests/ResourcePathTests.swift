import EDM
import ODataQuery
import Testing

struct ResourcePathTests {
    private let model: EntityDataModel
    private let customer: EntityType
    private let item: EntityType

    init() {
        func property(_ name: String, _ type: PrimitiveType, in owner: String) -> Property {
            Property(name: name, type: TypeReference(.primitive(type)), isNullable: false, declaringType: owner)
        }
        let id = property("ID", .int32, in: "S.Customer")
        let orders = Property(
            name: "Items", type: TypeReference(.entity(name: "S.Item"), isCollection: true),
            navigation: Navigation(
                targetType: "S.Item", multiplicity: .many, sourceMultiplicity: .zeroOrOne, partner: nil,
                relationship: Relationship(name: "R", isForward: true)), declaringType: "S.Customer")
        customer = EntityType(
            kind: .entity, name: "S.Customer", properties: [id, property("Name", .string, in: "S.Customer")],
            navigationProperties: [orders], keyProperties: [id])
        let keys = [property("A", .int64, in: "S.Item"), property("B", .string, in: "S.Item")]
        item = EntityType(kind: .entity, name: "S.Item", properties: keys, keyProperties: keys)
        model = EntityDataModel(
            version: .v4, schemas: [], structuredTypes: [customer, item], enumerationTypes: [],
            entitySets: [
                EntitySet(name: "Customers", entityType: customer, bindings: ["Items": "Items"]),
                EntitySet(name: "Items", entityType: item),
            ], singletons: [])
    }

    @Test func `a key of two properties is returned in the order of the type`() throws {
        let key = try KeySelector.parse("(B='O''Neil,=',A=10000L)", of: item, version: .v2)
        #expect(key == .key(KeyPredicate([("A", .integer(10000)), ("B", .string("O'Neil,="))])))
    }

    @Test func `a tilde and a number are parsed as an entity ID of the store`() throws {
        let path = try ResourcePath.parse("Customers(~18446744073709551615)/Items", model: model, version: .v2)
        #expect(path.segments.contains(.key(.entityID(.max))))
        #expect(path.target == .entities(item, in: model.findEntitySet("Items")))
        for text in ["(~)", "(~-1)", "(~1,2)", "(~99999999999999999999)"] {
            #expect(throws: URLSyntaxError.self) { try KeySelector.parse(text, of: customer, version: .v4) }
        }
    }

    @Test(arguments: [
        "(1,2)", "('1')", "(A=1)", "(A=1,A=1)", "(A=1,B='x',C=1)", "()", "(", "(A=,B='x')", "(A=1,B='x)", "(A=1 B='x')",
    ])
    func `a key that does not match its type is rejected`(text: String) {
        #expect(throws: URLSyntaxError.self) { try KeySelector.parse(text, of: item, version: .v4) }
    }

    @Test(arguments: [
        "http://host/svc/Customers(1)/Name?$format=json", "HTTP://HOST/svc/Customers(1)/Name", "Customers(1)/Name",
        "/Customers(1)/Name", "/svc/Customers(1)/Name", "Customers(1)/Name?",
    ])
    func `a URL below the service root is parsed in every notation`(url: String) throws {
        let request = try ServiceRequest.parse(url, serviceRoot: "http://host/svc/", model: model, version: .v4)
        #expect(request.path.target == .value(TypeReference(.primitive(.string))))
    }

    @Test(arguments: ["http://other/svc/Customers", "http://host/service/Customers", "http://host/svcCustomers"])
    func `a URL outside the service root is rejected`(url: String) {
        let error = #expect(throws: URLSyntaxError.self) {
            try ServiceRequest.parse(url, serviceRoot: "http://host/svc", model: model, version: .v4)
        }
        #expect(error?.code == .outsideService)
    }

    @Test(arguments: ["Customers(1)?$top=1", "Customers(1)/Name?$select=ID", "$metadata?$filter=true", "?$skip=1"])
    func `V2 rejects options that do not apply to the target of the path`(url: String) {
        let error = #expect(throws: URLSyntaxError.self) { try ServiceRequest.parse(url, model: model, version: .v2) }
        #expect(error?.code == .unknownOption)
    }

    @Test func `links are addressed by $links in V2 and by $ref in V4`() throws {
        let set = try #require(model.findEntitySet("Customers"))
        let navigation = try #require(customer.findProperty("Items"))
        let old = try ResourcePath.parse("Customers(1)/$links/Items(A=1L,B='x')", model: model, version: .v2)
        let new = try ResourcePath.parse("Customers(1)/Items(A=1,B='x')/$ref", model: model, version: .v4)
        #expect(old.target == .references(navigation, item, isCollection: false))
        #expect(new.target == old.target)
        #expect(old.segments.first == .entitySet(set))
        #expect(throws: URLSyntaxError.self) {
            try ResourcePath.parse("Customers(1)/$links", model: model, version: .v2)
        }
        #expect(throws: URLSyntaxError.self) {
            try ResourcePath.parse("Customers(1)/$links/Items", model: model, version: .v4)
        }
    }

    @Test func `a Content-ID refers to the entity that its request addresses`() throws {
        let known = try ResourcePath.parse(
            "$1/Items", model: model, version: .v2,
            contentIDs: ["1": .entity(customer, in: model.findEntitySet("Customers"))])
        #expect(known.target == .entities(item, in: model.findEntitySet("Items")))
        let unknown = try ResourcePath.parse("$1/Items", model: model, version: .v2)
        #expect(unknown.segments == [.contentID("1"), .unresolved("Items")])
    }

    @Test func `percent-encoding is decoded once, and octets that are not UTF-8 are rejected`() throws {
        #expect(try PercentCoding.decode("a%2Fb%2520%E2%82%AC+") == "a/b%20€+")
        #expect(PercentCoding.encode("a/b €'", for: .pathSegment) == "a%2Fb%20%E2%82%AC'")
        for text in ["%", "%4", "%zz", "%ff", "a%c3"] {
            #expect(throws: URLSyntaxError.self) { try PercentCoding.decode(text) }
        }
    }
}
