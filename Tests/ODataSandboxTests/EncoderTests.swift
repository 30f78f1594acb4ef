import EDM
import ODataSandbox
import ODataQuery
import ODataWire
import Testing

/// The service interprets the requests of the encoder as intended.
@Suite struct EncoderTests {
    private struct Client {
        var shop: Shop
        let model: EntityDataModel
        let encoder: RequestEncoder

        init(_ dialect: Dialect) throws {
            shop = try Shop(dialect)
            model = try CSDLReader.read(shop.get("$metadata").body)
            encoder = RequestEncoder(version: dialect == .v2 ? .v2 : .v4, model: model, serviceRoot: shop.root)
        }

        func set(_ name: String) throws -> EntitySet { try #require(model.findEntitySet(name)) }

        func entity(_ set: String, _ key: Int64) throws -> ResourceReference {
            let set = try self.set(set)
            return .entity(set: set, key: KeyPredicate([(set.entityType.keyProperties[0].name, .integer(key))]))
        }

        func navigation(_ set: String, _ name: String) throws -> Property {
            try #require(try self.set(set).entityType.findProperty(name))
        }

        func body(_ set: String, _ values: PropertyValues, bind: (String, ResourceReference)? = nil) throws
            -> EntityBody
        {
            let type = try self.set(set).entityType
            return EntityBody(
                type: type, values: values,
                bindings: try bind.map { [.init(navigation: try navigation(set, $0.0), targets: [$0.1])] } ?? [])
        }

        mutating func perform(_ action: DataModification.Action) -> WireResponse {
            var request = encoder.encode(DataModification(action, ifMatch: "*"))
            request.url = shop.root + request.url
            return shop.sandbox.handle(request)
        }
    }

    @Test(arguments: Dialect.allCases)
    func `the service executes every encoded modification`(_ dialect: Dialect) throws {
        var client = try Client(dialect)
        let (orders, ada, grace) = (
            try client.set("Orders"), try client.entity("Customers", 1), try client.entity("Customers", 2)
        )
        let (customer, many) = (
            try client.navigation("Orders", "Customer"), try client.navigation("Customers", "Orders")
        )
        let values: PropertyValues = [
            "Note": .string("O'Neil ü\n"), "Amount": .decimal(try #require(DecimalValue("0.1000"))),
            "Quantity": .integer(-3), "Total": .integer(.max),
            "PlacedAt": .dateTimeOffset(try #require(GlobalDateTime("2024-03-10T08:00:00.123+02:00"))),
        ]
        let steps: [(DataModification.Action, Int)] = [
            (.create(in: orders, try client.body("Orders", values, bind: ("Customer", ada))), 201),
            (.createRelated(in: grace, navigation: many, try client.body("Orders", ["Note": .string("6")])), 201),
            (
                .update(
                    try client.entity("Orders", 5), try client.body("Orders", [:], bind: ("Customer", grace)),
                    replaces: false), 204
            ),
            (
                .update(
                    try client.entity("Orders", 6), try client.body("Orders", ["CustomerID": .null]), replaces: false),
                204
            ),
            (.link(from: try client.entity("Orders", 4), navigation: customer, to: ada), 204),
            (.link(from: ada, navigation: many, to: try client.entity("Orders", 6)), 204),
            (.unlink(from: ada, navigation: many, to: try client.entity("Orders", 1)), 204),
            (.unlink(from: try client.entity("Orders", 2), navigation: customer, to: nil), 204),
            (.delete(try client.entity("Orders", 3)), 204),
        ]
        for (index, step) in steps.enumerated() {
            let response = client.perform(step.0)
            #expect(response.status == step.1, "step \(index): \(response.text)")
        }
        #expect(
            client.shop.links("Customers")
                == "Customers(1)\n  Orders: Orders(4), Orders(6)\nCustomers(2)\n  Orders: Orders(5)\nCustomers(3)\n")
        #expect(
            client.shop.state("Orders").contains(
                "Orders(5) {OrderID: 5, CustomerID: 2, Note: 'O'Neil ü\n', Amount: 0.1000, Quantity: -3, "
                    + "Total: 9223372036854775807, PlacedAt: 2024-03-10T08:00:00.123+02:00}"))
    }

    @Test(arguments: Dialect.allCases)
    func `the service executes an encoded deep insert and references by Content-ID`(_ dialect: Dialect) throws {
        var client = try Client(dialect)
        var deep = try client.body("Owners", ["Name": .string("deep")])
        deep.inline = [
            .init(
                navigation: try client.navigation("Owners", "Car"),
                entities: [try client.body("Cars", ["Model": .string("inline")])])
        ]
        #expect(client.perform(.create(in: try client.set("Owners"), deep)).status == 201)
        let actions: [DataModification.Action] = [
            .create(in: try client.set("Owners"), try client.body("Owners", ["Name": .string("by reference")])),
            .create(in: try client.set("Cars"), try client.body("Cars", [:], bind: ("Owner", .contentID("1")))),
            .create(in: try client.set("Customers"), try client.body("Customers", ["Name": .string("c")])),
            .createRelated(
                in: .contentID("3"), navigation: try client.navigation("Customers", "Orders"),
                try client.body("Orders", ["Note": .string("o")])),
            .link(
                from: .contentID("3"), navigation: try client.navigation("Customers", "Orders"),
                to: try client.entity("Orders", 4)),
        ]
        let members = actions.enumerated().map { index, action in
            BatchPart.Member(contentID: String(index + 1), request: client.encoder.encode(DataModification(action)))
        }
        #expect(try client.shop.batch([.changeSet(members)]).statuses == "[201, 201, 201, 201, 204]")
        #expect(client.shop.links("Owners").hasSuffix("Owners(3)\n  Car: Cars(3)\nOwners(4)\n  Car: Cars(4)\n"))
        #expect(client.shop.links("Customers").hasSuffix("Customers(4)\n  Orders: Orders(4), Orders(5)\n"))
    }

    @Test(arguments: Dialect.allCases)
    func `the client reads the stored values from the service's response`(_ dialect: Dialect) throws {
        var client = try Client(dialect)
        let reader = PayloadReader(version: dialect == .v2 ? .v2 : .v4, model: client.model)
        let type = try client.set("Orders").entityType
        let feed = try reader.feed(client.shop.get("Orders?$expand=Customer").body, type: type)
        #expect(feed.entities.count == 4)
        let third = feed.entities[2]
        #expect(third.values["Total"] == .integer(9_007_199_254_740_993))
        #expect(third.values["Amount"] == .decimal(try #require(DecimalValue("11.8"))))
        #expect(third.etag == "W/\"1\"")
        #expect(third.expanded.first?.entities.first?.values["Name"] == .string("Grace Hopper"))
        #expect(feed.entities[3].expanded.first?.entities.isEmpty == true)
    }
}
