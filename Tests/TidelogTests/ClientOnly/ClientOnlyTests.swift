import EDM
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// MD-18: entity sets, types and properties that exist only in the store.
@Suite struct ClientOnlyTests {
    @Test(arguments: Client.offline)
    func `a client-only entity is created, linked to an entity of the service, queried, undone and never sent`(
        _ client: Client
    ) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let store = try #require(shop.store)
        let customer = try await shop.one("Customers", 1)
        let memo = try shop.new("Memos", ["Text": .string("call back")])
        memo.bindEntity(customer, to: try shop.property("Memos/Customer"))
        try await shop.service.createEntity(memo)
        #expect(try await !store.hasPendingUpload)
        #expect(try await shop.related(customer, "Memos").map { $0["Text"] } == [.string("call back")])
        #expect(try await shop.related(memo, "Customer").map { $0["CustomerID"] } == [.integer(1)])
        let found = try await shop.service.executeQuery(
            DataQuery().withURL("Customers?$filter=Memos/any(m:m/Text eq 'call back')&$expand=Memos")
        ).entityList()
        #expect(found.map { $0["CustomerID"] } == [.integer(1)])
        let report = try await store.upload()
        #expect(report.batches == 0 && report.rejected.isEmpty)
        try await store.download()
        #expect(try await shop.related(customer, "Memos").count == 1)
        _ = try await store.undoAllPendingChanges()
        #expect(try await shop.fetch("Memos").isEmpty)
        #expect(try await shop.related(customer, "Memos").isEmpty)
    }

    @Test(arguments: Client.offline)
    func `an update with a client-only property sends only the properties of the service`(
        _ client: Client
    ) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let store = try #require(shop.store)
        let customer = try await shop.one("Customers", 1)
        customer["Color"] = .string("blue")
        customer["Name"] = .string("Ada L.")
        try await shop.service.updateEntity(customer)
        let batches = try await store.plannedBatches()
        #expect(batches.count == 1)
        for batch in batches { #expect(!"\(batch)".contains("blue")) }
        try await store.upload()
        try await store.download()
        let again = try await shop.one("Customers", 1)
        #expect(again["Color"] == .string("blue") && again["Name"] == .string("Ada L."))
        #expect(
            try await shop.server.executeQuery(DataQuery().withURL("Customers(1)")).requiredEntity()["Name"]
                == .string("Ada L."))
        let found = try await shop.service.executeQuery(DataQuery().withURL("Customers?$filter=Color eq 'blue'"))
        #expect(found.entityList().count == 1)
    }

    @Test(arguments: Client.offline)
    func `an update of a client-only property alone sends nothing, and an undo of a mixed update takes both back`(
        _ client: Client
    ) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let store = try #require(shop.store)
        let customer = try await shop.one("Customers", 1)
        let name = customer["Name"]
        customer["Color"] = .string("blue")
        try await shop.service.updateEntity(customer)
        #expect(try await !store.hasPendingUpload)
        customer["Color"] = .string("red")
        customer["Name"] = .string("other")
        try await shop.service.updateEntity(customer)
        #expect(try await store.hasPendingUpload)
        _ = try await store.undo(.operations([try #require(customer.lastOperation)]))
        let again = try await shop.one("Customers", 1)
        #expect(again["Color"] == .string("blue") && again["Name"] == name)
        #expect(try await !store.hasPendingUpload)
    }

    @Test(arguments: Client.offline)
    func `a new entity of the service with client-only parts is sent without them, and keeps them`(
        _ client: Client
    ) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let store = try #require(shop.store)
        let customer = try shop.new("Customers", ["Name": .string("Grace"), "Color": .string("green")])
        let memo = try shop.new("Memos", ["Text": .string("new customer")])
        try shop.property("Customers/Memos").setEntityList(in: customer, to: [memo])
        try await shop.service.createEntity(customer)
        let report = try await store.upload()
        #expect(report.rejected.isEmpty && report.confirmed.count == 1)
        try await store.download()
        let found = try await shop.first(
            "Customers", matching: DataQuery().filter(try shop.property("Customers/Name").equal("Grace")))
        #expect(found["Color"] == .string("green") && found.key != nil)
        #expect(try await shop.related(found, "Memos").map { $0["Text"] } == [.string("new customer")])
        // Only the service's part of the queue has ended.
        #expect(try await store.operationStatus().count == 2)
        #expect(try await store.keepClientChanges() == 2)
        #expect(try await store.operationStatus().isEmpty)
        #expect(try await shop.related(found, "Memos").count == 1)
    }

    @Test(arguments: Client.offline)
    func `MD-18 a replacing update omits client-only properties, also permanent ones`(_ client: Client) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let store = try #require(shop.store)
        try await store.use(ServiceOptions(supportsPatch: false))
        let customer = try await shop.one("Customers", 1)
        customer["Color"] = .string("blue")
        try await shop.service.updateEntity(customer)
        #expect(try await store.keepClientChanges() == 1)
        customer["Name"] = .string("Ada L.")
        try await shop.service.updateEntity(customer)
        // The service rejects unknown properties.
        let report = try await store.upload()
        #expect(report.rejected.isEmpty && report.confirmed.count == 1, "\(report.rejected)")
        #expect(try await shop.one("Customers", 1)["Color"] == .string("blue"))
    }

    @Test(arguments: Client.offline)
    func `no PATCH: a client-only property without a value is no reason to read the entity before a PUT`(
        _ client: Client
    ) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let store = try #require(shop.store)
        try await store.use(ServiceOptions(supportsPatch: false))
        let customer = try await shop.one("Customers", 1)
        #expect(customer["Color"] == nil)
        customer["Name"] = .string("Ada L.")
        try await shop.service.updateEntity(customer)
        #expect(try await store.operationStatus().map(\.reason) == [nil])
        #expect(try await store.plannedBatches().count == 1)
    }

    @Test(arguments: Client.offline)
    func `kept client-only changes survive the upload, full downloads, new metadata and a rebuild of the views`(
        _ client: Client
    ) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let store = try #require(shop.store)
        let customer = try await shop.one("Customers", 1)
        customer["Color"] = .string("blue")
        try await shop.service.updateEntity(customer)
        let memo = try shop.new("Memos", ["Text": .string("note")])
        try await shop.service.createRelatedEntity(memo, in: customer, property: try shop.property("Customers/Memos"))
        #expect(try await store.keepClientChanges() == 2)
        #expect(try await store.operationStatus().isEmpty)
        #expect(try await shop.service.refreshMetadata().difference.changes.isEmpty)
        try await store.download()
        customer["Name"] = .string("Ada L.")
        try await shop.service.updateEntity(customer)
        try await store.upload()
        try await store.download()
        let digest = try await store.stateDigest()
        try await store.compact(keeping: .everything)
        await store.close()
        try await store.open()
        #expect(try await store.stateDigest() == digest)
        #expect(try await shop.one("Customers", 1)["Color"] == .string("blue"))
        #expect(try await shop.related(customer, "Memos").count == 1)
        // A client-only entity is changed and deleted like any other.
        let again = try await shop.first("Memos")
        again["Text"] = .string("done")
        try await shop.service.updateEntity(again)
        #expect(try await shop.first("Memos")["Text"] == .string("done"))
        try await shop.service.deleteEntity(again)
        #expect(try await shop.fetch("Memos").isEmpty)
        #expect(try await store.plannedBatches().isEmpty)
    }

    @Test(arguments: Client.offline)
    func `the oldest client-only changes become permanent beyond the limit`(_ client: Client) async throws {
        let shop = try await ClientOnlyShop.shop(client) { $0.undoableClientChanges = 10 }
        let store = try #require(shop.store)
        for number in 1...40 {
            try await shop.service.createEntity(try shop.new("Memos", ["Text": .string("\(number)")]))
            #expect(try await store.operationStatus().count <= 16, "after \(number)")
        }
        #expect(try await shop.fetch("Memos").count == 40)
        _ = try await store.undoAllPendingChanges()
        let left = try await shop.fetch("Memos").count
        #expect(left >= 24 && left < 40)
    }

    @Test(arguments: Client.offline)
    func `an entity of the service cannot refer to a client-only entity in an operation that is sent`(
        _ client: Client
    ) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let draft = try shop.new("CustomerDrafts", ["CustomerID": .integer(77), "Name": .string("draft")])
        draft.entitySet = try shop.set("CustomerDrafts")
        try await shop.service.createEntity(draft)
        let order = try await shop.one("Orders", 1)
        let error = await #expect(throws: TidelogError.self) {
            try await shop.service.updateLink(from: order, property: try shop.property("Orders/Customer"), to: draft)
        }
        #expect(error?.message.contains("exists only in this store") == true, "\(error?.message ?? "")")
    }

    @Test(arguments: Client.offline)
    func `a defining query cannot read elements that exist only in the store`(_ client: Client) async throws {
        let shop = try await ClientOnlyShop.shop(client)
        let store = try #require(shop.store)
        for query in ["/Memos", "/Customers?$expand=Memos", "/Customers?$filter=Color eq 'blue'"] {
            let error = await #expect(throws: TidelogError.self) {
                try await store.add(definingQuery: OfflineODataDefiningQuery(name: "wrong", query: query))
            }
            #expect(error?.message.contains("exists only in the store") == true, "\(error?.message ?? "")")
        }
        let queries = OfflineODataDefiningQuery.all(of: try shop.service.metadata)
        #expect(!queries.contains { $0.query.contains("Memos") || $0.query.contains("Draft") })
    }

    @Test(
        arguments: [
            (#"<EntityType Name="Customer"><Property Name="Name" Type="Edm.String"/></EntityType>"#, "\"Name\""),
            (
                #"<EntityContainer Name="C"><EntitySet Name="Orders" EntityType="Shop.Order"/></EntityContainer>"#,
                "\"Orders\""
            ),
            (#"<ComplexType Name="Address"><Property Name="Floor" Type="Edm.Int32"/></ComplexType>"#, "\"Address\""),
            (
                #"<EntityType Name="Customer"><Property Name="Size" Type="Edm.Int32" Nullable="false"/></EntityType>"#,
                "nullable"
            ),
            (#"<Action Name="Reset"/>"#, "Action"),
            (#"<EntityType Name="Memo"><Property Name="Text" Type="Shop.Nothing"/></EntityType>"#, "Shop.Nothing"),
            (
                #"<EntityContainer Name="C"><EntitySet Name="D" EntityType="Shop.Order"><Annotation Term="com.sap.vocabularies.Offline.v1.LocalDraft" String="Nowhere"/></EntitySet></EntityContainer>"#,
                "Nowhere"
            ),
        ])
    func `additions that contradict the service's metadata are refused with the name`(
        _ content: String, _ name: String
    ) async throws {
        for client in Client.offline {
            let error = await #expect(throws: TidelogError.self) {
                _ = try await ClientOnlyShop.shop(client, ClientOnlyShop.document(content))
            }
            #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
        }
    }

    @Test func `a service that later has an element of the same name is an error, and the store keeps its metadata`()
        async throws
    {
        let metadata = { (extra: String) in
            Array(
                """
                <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
                <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="S">
                <EntityType Name="T"><Key><PropertyRef Name="ID"/></Key>
                <Property Name="ID" Type="Edm.Int32" Nullable="false"/>\(extra)</EntityType>
                <EntityContainer Name="C"><EntitySet Name="Ts" EntityType="S.T"/></EntityContainer>
                </Schema></edmx:DataServices></edmx:Edmx>
                """.utf8)
        }
        let additions = Array(
            """
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="S">
            <EntityType Name="T"><Property Name="Color" Type="Edm.String"/></EntityType></Schema>
            """.utf8)
        let joined = try ClientOnlyMetadata.joined(service: metadata(""), additions: additions)
        let model = try CSDLReader.read(joined)
        #expect(model.hasClientOnly)
        #expect(model.findEntityType("S.T")?.findProperty("Color")?.isClientOnly == true)
        #expect(model.findEntityType("S.T")?.findProperty("ID")?.isClientOnly == false)
        let error = #expect(throws: CSDLError.self) {
            _ = try ClientOnlyMetadata.joined(
                service: metadata(#"<Property Name="Color" Type="Edm.Int32"/>"#), additions: additions)
        }
        #expect(
            error?.message
                == "The service's metadata declares the property \"Color\" of \"T\" too. A client-only element needs a name of its own."
        )
    }

    @Test(arguments: Client.offline)
    func `a store receives changed additions when it is opened, and keeps its own without them`(
        _ client: Client
    ) async throws {
        let directory = try TemporaryDirectory()
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        let root = "http://shop.test/\(client.dialect.rawValue)/"
        var parameters = OfflineODataParameters(storePath: directory.path, transport: SandboxTransport(sandbox))
        let first = OfflineODataProvider(serviceRoot: root, parameters: parameters)
        try await first.open()
        await first.close()
        parameters.clientOnlyMetadata = ClientOnlyShop.additions
        let second = OfflineODataProvider(parameters: parameters)
        try await second.open()
        let service = DataService(provider: second)
        let memo = EntityValue(try service.entitySet(withName: "Memos").entityType)
        memo["Text"] = .string("note")
        try await service.createEntity(memo)
        await second.close()
        parameters.clientOnlyMetadata = nil
        let third = OfflineODataProvider(parameters: parameters)
        try await third.open()
        let memos = DataQuery().withURL("Memos")
        #expect(try await DataService(provider: third).executeQuery(memos).entityList().count == 1)
        await third.close()
        // A removal has to be approved.
        parameters.clientOnlyMetadata = ClientOnlyShop.document("")
        let fourth = OfflineODataProvider(parameters: parameters)
        let error = await #expect(throws: TidelogError.self) { try await fourth.open() }
        #expect(error?.code == .incompatibleMetadata)
        parameters.clientOnlyPolicy.canRemoveAnything = true
        let fifth = OfflineODataProvider(parameters: parameters)
        try await fifth.open()
        #expect(DataService(provider: fifth).provider.loadedModel?.hasClientOnly == false)
        await fifth.close()
    }

    @Test(arguments: Client.offline)
    func `DQ-02: a new store downloads its defining queries when it is opened, if it is to`(
        _ client: Client
    ) async throws {
        let directory = try TemporaryDirectory()
        var sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        var parameters = OfflineODataParameters(storePath: directory.path, transport: SandboxTransport(sandbox))
        parameters.downloadsWhenCreated = true
        let provider = OfflineODataProvider(
            serviceRoot: "http://shop.test/\(client.dialect.rawValue)/", parameters: parameters)
        try await provider.add(definingQuery: OfflineODataDefiningQuery(name: "Orders", query: "/Orders"))
        try await provider.open()
        let orders = DataQuery().withURL("Orders")
        #expect(try await DataService(provider: provider).executeQuery(orders).entityList().count > 1)
        await provider.close()
    }
}
