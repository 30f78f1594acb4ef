import EDM
import ODataSandbox
import ODataQuery
import ODataWire
import OfflineStore
import Testing

import Tidelog

/// The requests of calls, built without a service.
@Suite struct RequestBuildingTests {
    private static func model(_ dialect: Client.Dialect) throws -> EntityDataModel {
        var sandbox = try Sandbox.shop()
        let url = "/\(dialect.rawValue)/$metadata"
        return try CSDLReader.read(sandbox.handle(WireRequest(method: "GET", url: url)).body)
    }

    private func urls(_ dialect: Client.Dialect) throws -> OnlineURLs {
        OnlineURLs(model: try Self.model(dialect), root: "http://shop.test/\(dialect.rawValue)/")
    }

    private func property(_ path: String, _ urls: OnlineURLs) throws -> Property {
        let parts = path.split(separator: "/").map(String.init)
        let set = try #require(urls.model.findEntitySet(parts[0]))
        return try #require(set.entityType.findProperty(parts[1]))
    }

    @Test(arguments: Client.Dialect.allCases)
    func `an entity is addressed by its key or by any of its links`(_ dialect: Client.Dialect) throws {
        let urls = try urls(dialect)
        let key = KeyPredicate([("CustomerID", .integer(1))])
        #expect(try urls.url(of: .key(set: "Customers", key)) == "Customers(1)")
        #expect(try urls.url(of: .link("http://shop.test/\(dialect.rawValue)/Customers(1)")) == "Customers(1)")
        #expect(throws: TidelogError.self) { try urls.url(of: .id(EntityID(rawValue: 7))) }
    }

    @Test(arguments: Client.Dialect.allCases)
    func `the URL of a stream is that of the service, or follows from the entity`(_ dialect: Client.Dialect) throws {
        let urls = try urls(dialect)
        let photo = EntityAddress.link("Photos(1)")
        #expect(try urls.url(of: StreamAddress(photo)) == "Photos(1)/$value")
        #expect(try urls.url(of: StreamAddress(photo, property: "Thumb")) == "Photos(1)/Thumb")
        let links = StreamLinks(readLink: "http://cdn.test/1")
        #expect(try urls.url(of: StreamAddress(photo, links: links)) == "http://cdn.test/1")
    }

    @Test(arguments: ["Items(1)", "http://shop.test/v4/Items(1)", "Items(1)/M.Flight"])
    func `a property of a derived type is addressed below a cast`(link: String) throws {
        let text = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="M" xmlns="http://docs.oasis-open.org/odata/ns/edm">
            <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Icon" Type="Edm.Stream"/>
            <NavigationProperty Name="Owner" Type="M.Item"/></EntityType>
            <EntityType Name="Flight" BaseType="M.Item"><Property Name="Photo" Type="Edm.Stream"/>
            <NavigationProperty Name="Next" Type="M.Item"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Items" EntityType="M.Item"/></EntityContainer>
            </Schema></edmx:DataServices></edmx:Edmx>
            """
        let urls = OnlineURLs(model: try CSDLReader.read(Array(text.utf8)), root: "http://shop.test/v4/")
        let item = EntityAddress.link(link)
        let flight = try #require(urls.model.findEntityType("M.Flight"))
        let next = try #require(flight.findProperty("Next"))
        let owner = try #require(flight.findProperty("Owner"))
        let plain = link.hasSuffix("Flight") ? link : "Items(1)"
        #expect(try urls.urls(of: .related(item, next, QueryOptions())) == ["Items(1)/M.Flight/Next"])
        #expect(try urls.urls(of: .related(item, owner, QueryOptions())) == ["\(plain)/Owner"])
        #expect(try urls.url(of: StreamAddress(item, property: "Photo")) == "Items(1)/M.Flight/Photo")
        #expect(try urls.url(of: StreamAddress(item, property: "Icon")) == "\(plain)/Icon")
    }

    @Test(arguments: Client.Dialect.allCases)
    func `an edit link of another origin is replaced by the URL that follows from the key`(
        _ dialect: Client.Dialect
    ) throws {
        let model = try Self.model(dialect)
        let set = try #require(model.findEntitySet("Customers"))
        let root = "http://shop.test/\(dialect.rawValue)/"
        let snapshots = OnlineSnapshots(model: model, root: root)
        func editLink(_ link: String) -> String {
            var payload = EntityPayload(values: ["CustomerID": .integer(1)])
            payload.editLink = link
            return snapshots.snapshot(payload, set.entityType, set).editLink
        }
        #expect(editLink("http://internal.test/x/Customers(1)") == "Customers(1)")
        #expect(editLink(root + "Customers(1)") == root + "Customers(1)")
        #expect(editLink("/\(dialect.rawValue)/Customers(1)") == "/\(dialect.rawValue)/Customers(1)")
    }

    @Test(arguments: Client.Dialect.allCases)
    func `the sources of a relation are read through its partner`(_ dialect: Client.Dialect) throws {
        let urls = try urls(dialect)
        let request = QueryRequest.sources(
            .link("Customers(1)"), try property("Orders/Customer", urls), QueryOptions())
        #expect(try urls.urls(of: request) == ["Customers(1)/Orders"])
    }

    // MARK: Change sets

    private func steps(
        _ intents: [Intent], _ dialect: Client.Dialect, _ options: ServiceOptions
    ) throws -> [String] {
        let model = try Self.model(dialect)
        var writer = OnlineStepWriter(model: model, service: options)
        let encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: "http://shop.test/", options: options)
        return try writer.steps(intents.map { ($0, IntentOptions()) }).map { step in
            let request = encoder.encode(step.modification)
            let body = String(decoding: request.body, as: UTF8.self)
            return "\(step.contentID) \(request.method) \(request.url) \(body)"
        }
    }

    private func draft(
        _ number: Int, _ set: String, _ type: String, _ values: PropertyValues, bindings: [BindingDraft] = [],
        inline: [InlineDraft] = []
    ) -> EntityDraft {
        EntityDraft(number: number, set: set, type: type, values: values, bindings: bindings, inline: inline)
    }

    private func customer(_ number: Int, inline: [InlineDraft] = []) -> EntityDraft {
        draft(number, "Customers", "Shop.Customer", ["Name": .string("n")], inline: inline)
    }

    private func order(_ number: Int, bindings: [BindingDraft] = [], inline: [InlineDraft] = []) -> EntityDraft {
        draft(number, "Orders", "Shop.Order", ["Note": .string("o")], bindings: bindings, inline: inline)
    }

    @Test func `a binding to a new entity is a reference in the body if the service supports it`() throws {
        let bound = BindingDraft(navigation: "Customer", targets: [.draft(1)])
        let requests = try steps(
            [.create(customer(1), in: nil), .create(order(2, bindings: [bound]), in: nil)], .v4, ServiceOptions())
        #expect(
            requests == [
                #"1 POST Customers {"Name":"n"}"#, #"2 POST Orders {"Note":"o","Customer@odata.bind":"$1"}"#,
            ])
    }

    @Test(arguments: Client.Dialect.allCases)
    func `otherwise the entity is created in the collection of the other one`(_ dialect: Client.Dialect) throws {
        let bound = BindingDraft(navigation: "Customer", targets: [.draft(1)])
        let requests = try steps(
            [.create(customer(1), in: nil), .create(order(2, bindings: [bound]), in: nil)], dialect,
            ServiceOptions(contentIDReferences: .urlsOnly))
        #expect(requests == [#"1 POST Customers {"Name":"n"}"#, #"2 POST $1/Orders {"Note":"o"}"#])
    }

    @Test(arguments: Client.Dialect.allCases)
    func `without references it is created in the body of the other one`(_ dialect: Client.Dialect) throws {
        let bound = BindingDraft(navigation: "Customer", targets: [.draft(1)])
        let requests = try steps(
            [.create(customer(1), in: nil), .create(order(2, bindings: [bound]), in: nil)], dialect,
            ServiceOptions(contentIDReferences: .none))
        #expect(requests == [#"1 POST Customers {"Name":"n","Orders":[{"Note":"o"}]}"#])
    }

    @Test func `V2 names an existing source of a link to a new entity in the body, not the new one`() throws {
        let requests = try steps(
            [
                .create(customer(1), in: nil),
                .updateLink(from: .link("Orders(4)"), navigation: "Customer", to: .draft(1)),
            ], .v2, ServiceOptions())
        #expect(
            requests == [
                #"1 POST Customers {"Name":"n"}"#, #"2 POST $1/$links/Orders {"uri":"http://shop.test/Orders(4)"}"#,
            ])
    }

    @Test func `new entities of a collection follow their owner, each in a request`() throws {
        let inline = [InlineDraft(navigation: "Orders", entities: [order(2), order(3)])]
        let requests = try steps([.create(customer(1, inline: inline), in: nil)], .v4, ServiceOptions())
        #expect(
            requests == [
                #"1 POST Customers {"Name":"n"}"#, #"2 POST $1/Orders {"Note":"o"}"#,
                #"3 POST $1/Orders {"Note":"o"}"#,
            ])
    }

    @Test func `a new target with collections of its own is created before its source`() throws {
        let inline = [InlineDraft(navigation: "Orders", entities: [order(3)])]
        let target = [InlineDraft(navigation: "Customer", entities: [customer(2, inline: inline)])]
        let requests = try steps([.create(order(1, inline: target), in: nil)], .v4, ServiceOptions())
        #expect(
            requests == [
                #"1 POST Customers {"Name":"n"}"#, #"2 POST $1/Orders {"Note":"o"}"#,
                #"3 POST Orders {"Note":"o","Customer@odata.bind":"$1"}"#,
            ])
    }

    @Test func `without batches a deep insert is one request`() throws {
        let inline = [InlineDraft(navigation: "Orders", entities: [order(2), order(3)])]
        let requests = try steps(
            [.create(customer(1, inline: inline), in: nil)], .v4, ServiceOptions(supportsBatch: false))
        #expect(requests == [#"1 POST Customers {"Name":"n","Orders":[{"Note":"o"},{"Note":"o"}]}"#])
    }

    // MARK: Responses

    private func pages(_ url: String, _ dialect: Client.Dialect = .v4) throws -> OnlinePageReader {
        let model = try Self.model(dialect)
        let request = try ServiceRequest.parse(url, model: model, version: model.version)
        return OnlinePageReader(request, model: model)
    }

    private func response(_ text: String) -> WireResponse {
        WireResponse(status: 200, headers: .empty, body: Array(text.utf8))
    }

    @Test func `a count may have white space and a byte order mark`() throws {
        guard case .count(let count) = try pages("Customers/$count").page(response("\u{FEFF} 12\n")).content else {
            Issue.record("There is no count.")
            return
        }
        #expect(count == 12)
    }

    @Test func `a response of another kind is an error`() throws {
        #expect(throws: PayloadError.self) { try pages("Customers/$count").page(response("many")) }
        #expect(throws: PayloadError.self) { try pages("Customers(1)/Orders/$ref").page(response(#"{"a":1}"#)) }
        #expect(throws: PayloadError.self) { try pages("$all").page(response(#"{"value":[{"Name":"x"}]}"#)) }
        #expect(throws: PayloadError.self) { try pages("Customers(1)/Name").page(response(#"{"value":7}"#)) }
    }

    @Test func `the members of $all may state their type or only their entity-id`() throws {
        let text = """
            {"value":[{"@odata.type":"#Shop.Customer","CustomerID":1},
              {"@odata.id":"http://shop.test/v4/Orders(4)","OrderID":4},
              {"@odata.context":"http://shop.test/v4/$metadata#Owners/$entity","OwnerID":2}]}
            """
        guard case .mixed(let entities) = try pages("$all").page(response(text)).content else {
            Issue.record("There are no entities.")
            return
        }
        #expect(entities.map(\.type) == ["Shop.Customer", "Shop.Order", "Shop.Owner"])
    }

    @Test func `the accepted media type depends on the target`() throws {
        #expect(try pages("Customers").accept == nil)
        #expect(try pages("Customers/$count").accept?.hasPrefix("text/plain") == true)
        #expect(try pages("Photos(1)/$value").accept == "*/*")
    }
}
