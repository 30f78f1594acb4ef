import ODataSandbox
import ODataWire
import TestSupport
import Testing
import Tidelog

/// Exact requests to services that lack a capability.
///
/// Features: KE-23.
@Suite struct LackingRequestTests {
    private func shop(
        _ client: Client, _ options: ServiceOptions, _ change: (inout Capabilities) -> Void = { _ in }
    ) async throws -> Shop {
        var capabilities = Capabilities()
        change(&capabilities)
        return try await Shop(client, capabilities: capabilities, options: options)
    }

    /// Returns the modifications since the last call, each in the form `POST Orders {…}`. Requests of a batch are
    /// listed separately, change sets between dashes.
    private func modifications(_ shop: Shop) throws -> [String] {
        defer { shop.transport.forgetRequests() }
        return try shop.transport.requests.filter { $0.method != "GET" }.flatMap { request in
            guard request.url.hasSuffix("$batch") else { return [Self.line(request)] }
            let batch = try MultipartBatchReader().readRequest(
                request.body, contentType: request.headers["Content-Type"] ?? "")
            return batch.parts.flatMap { part -> [String] in
                guard case .changeSet(let members) = part else { return [] }
                return ["--"] + members.map { Self.line($0.request) }
            }
        }
    }

    private static func line(_ request: WireRequest) -> String {
        let root = request.url.hasPrefix("/v") ? String(request.url.dropFirst(4)) : request.url
        let method = request.headers["X-HTTP-Method"].map { "POST(\($0))" } ?? request.method
        let etag = request.headers["If-Match"] == nil ? "" : " if-match"
        let body = String(decoding: request.body, as: UTF8.self)
        return "\(method) \(root)\(etag)" + (body.isEmpty ? "" : " " + body)
    }

    private static func of<T>(_ client: Client, _ v2: T, _ v4: T) -> T { client.dialect == .v2 ? v2 : v4 }

    private static func root(_ client: Client) -> String { "http://shop.test/\(client.dialect.rawValue)/" }

    // MARK: Without a batch

    @Test(arguments: Client.offline)
    func `no batch: a parent is sent first, and its child in the next round with the real key`(_ client: Client)
        async throws
    {
        let shop = try await shop(client, ServiceOptions(supportsBatch: false)) { $0.batch = false }
        let customer = try shop.new("Customers", ["Name": .string("n")])
        try await shop.service.createEntity(customer)
        try await shop.service.createRelatedEntity(
            try shop.new("Orders", ["Note": .string("o")]), in: customer,
            property: try shop.property("Customers/Orders"))
        shop.transport.forgetRequests()
        try await shop.store?.upload()
        #expect(
            try modifications(shop) == [#"POST Customers {"Name":"n"}"#, #"POST Customers(4)/Orders {"Note":"o"}"#])
        try await shop.synchronize()
    }

    @Test(arguments: Client.offline)
    func `no batch: a 1–1 pair is one deep insert`(_ client: Client) async throws {
        let shop = try await shop(client, ServiceOptions(supportsBatch: false)) { $0.batch = false }
        let owner = try shop.new("Owners", ["Name": .string("o")])
        let car = try shop.new("Cars", ["Model": .string("c")])
        let changes = ChangeSet()
        changes.createEntity(owner)
        changes.createEntity(car)
        changes.createLink(from: owner, property: try shop.property("Owners/Car"), to: car)
        try await shop.service.applyChanges(changes)
        shop.transport.forgetRequests()
        try await shop.store?.upload()
        #expect(try modifications(shop) == [#"POST Cars {"Model":"c","Owner":{"Name":"o"}}"#])
        try await shop.synchronize()
    }

    @Test(arguments: Client.offline)
    func `no batch: operations that must take effect together but need several requests are held back with the reason`(
        _ client: Client
    ) async throws {
        let shop = try await shop(client, ServiceOptions(supportsBatch: false)) { $0.batch = false }
        let changes = ChangeSet()
        changes.deleteEntity(try await shop.one("Cars", 1))
        changes.deleteEntity(try await shop.one("Owners", 1))
        try await shop.service.applyChanges(changes)
        try await shop.service.deleteEntity(try await shop.one("Orders", 4))
        let store = try #require(shop.store)
        shop.transport.forgetRequests()
        let report = try await store.upload()
        #expect(try modifications(shop) == ["DELETE Orders(4) if-match"])
        #expect(report.remaining == 2)
        let why = "held back: it needs 2 requests that must take effect together, and the service has no $batch"
        #expect(try await store.operationStatus().map(\.reason) == [why, why])
    }

    @Test(arguments: Client.offline)
    func `no batch: a rejected request has its own error, and the others are sent`(_ client: Client) async throws {
        let shop = try await shop(client, ServiceOptions(supportsBatch: false)) { $0.batch = false }
        try await shop.service.createEntity(try shop.new("Customers", ["Name": .string("a")]))
        try await shop.service.createEntity(try shop.new("Suppliers", ["Name": .string("b")]))
        shop.transport.add(Fault(.refuse(status: 400), method: "POST", urlPart: "Customers"))
        let report = try #require(try await shop.store?.upload())
        #expect(report.rejected.map(\.refusal.status) == [400])
        #expect(report.rejected.map(\.refusal.url) == ["Customers"])
        #expect(report.confirmed.count == 1)
        try await shop.synchronize()
    }

    @Test(arguments: Client.offline)
    func `no batch: after a cut connection only one request is in doubt, and nothing is sent twice`(_ client: Client)
        async throws
    {
        let shop = try await shop(client, ServiceOptions(supportsBatch: false)) { $0.batch = false }
        let store = try #require(shop.store)
        for name in ["a", "b", "c"] {
            try await shop.service.createEntity(try shop.new("Suppliers", ["Name": .string(name)]))
        }
        shop.transport.add(Fault(.dropAnswer, method: "POST", urlPart: "Suppliers"))
        await #expect(throws: TidelogError.self) { try await store.upload() }
        #expect(try await store.operationStatus().map(\.state) == [.inDoubt, .pending, .pending])
        let report = try await store.upload()
        #expect(report.confirmed.count == 2)
        #expect(shop.serverLinks("Suppliers").split(separator: "\n").filter { $0.hasPrefix("Suppliers") }.count == 5)
    }

    @Test func `no batch: a service that requires other credentials leaves everything pending`() async throws {
        let shop = try await shop(Client.offline[1], ServiceOptions(supportsBatch: false)) { $0.batch = false }
        let store = try #require(shop.store)
        try await shop.service.createEntity(try shop.new("Suppliers", ["Name": .string("a")]))
        shop.transport.add(Fault(.refuse(status: 401), method: "POST"))
        await #expect(throws: TidelogError.self) { try await store.upload(UploadOptions(retry: .impatient)) }
        #expect(try await store.operationStatus().map(\.state) == [.pending])
        try await shop.synchronize()
    }

    @Test(arguments: [429, 503])
    func `no batch: a busy service postpones the rejected request and the rest of the upload`(
        _ status: Int
    ) async throws {
        let shop = try await shop(Client.offline[1], ServiceOptions(supportsBatch: false)) { $0.batch = false }
        let store = try #require(shop.store)
        for name in ["a", "b", "c"] {
            try await shop.service.createEntity(try shop.new("Suppliers", ["Name": .string(name)]))
        }
        shop.transport.add(Fault(.refuse(status: status), skipping: 1, method: "POST"))
        let report = try await store.upload(UploadOptions(retry: .impatient))
        #expect(report.confirmed.count == 1)
        #expect(report.deferred.count == 1)
        #expect(report.postponed != nil)
        #expect(try await store.operationStatus().map(\.state) == [.deferred, .pending])
        #expect(try modifications(shop).count == 2)
        try await shop.synchronize()
    }

    @Test func `a configured but missing $batch leaves everything pending`() async throws {
        let shop = try await shop(Client.offline[1], ServiceOptions()) { $0.batch = false }
        let store = try #require(shop.store)
        try await shop.service.createEntity(try shop.new("Suppliers", ["Name": .string("a")]))
        await #expect(throws: TidelogError.self) { try await store.upload() }
        #expect(try await store.operationStatus().map(\.state) == [.pending])
    }

    // MARK: Without bind

    @Test(arguments: Client.offline)
    func `no bind: links are sent as dependent properties, in the URL or as link requests`(_ client: Client)
        async throws
    {
        let shop = try await shop(client, ServiceOptions(supportsBind: false)) { $0.bind = false }
        let service = shop.service
        let order = try shop.new("Orders", ["Note": .string("dependent")])
        order.bindEntity(try await shop.one("Customers", 1), to: try shop.property("Orders/Customer"))
        try await service.createEntity(order)
        let customer = try shop.new("Customers", ["Name": .string("principal")])
        customer.bindEntity(try await shop.one("Orders", 4), to: try shop.property("Customers/Orders"))
        try await service.createEntity(customer)
        let product = try shop.new("Products", ["Name": .string("many")])
        for key in [1, 2] {
            product.bindEntity(try await shop.one("Suppliers", key), to: try shop.property("Products/Suppliers"))
        }
        try await service.createEntity(product)
        let supplier = try await shop.one("Suppliers", 1)
        supplier.bindEntity(try await shop.one("Products", 3), to: try shop.property("Suppliers/Products"))
        try await service.updateEntity(supplier)
        shop.transport.forgetRequests()
        try await store(shop).upload()
        let root = Self.root(client)
        let reference = Self.of(client, "uri", "@odata.id")
        func links(_ from: String, _ navigation: String) -> String {
            Self.of(client, "\(from)/$links/\(navigation)", "\(from)/\(navigation)/$ref")
        }
        #expect(
            try modifications(shop) == [
                "--", #"POST Orders {"Note":"dependent","CustomerID":1}"#,
                "--", #"POST Customers {"Name":"principal"}"#,
                "POST \(links("$2", "Orders")) {\"\(reference)\":\"\(root)Orders(4)\"}",
                "--", #"POST Suppliers(1)/Products {"Name":"many"}"#,
                "POST \(links("$4", "Suppliers")) {\"\(reference)\":\"\(root)Suppliers(2)\"}",
                "--", "POST \(links("Suppliers(1)", "Products")) {\"\(reference)\":\"\(root)Products(3)\"}",
            ])
        try await shop.synchronize()
    }

    private func store(_ shop: Shop) throws -> OfflineODataProvider { try #require(shop.store) }

    // MARK: Without PATCH

    @Test(arguments: Client.offline)
    func `no PATCH: each PUT contains the earlier changes and none of the later ones`(_ client: Client) async throws {
        let shop = try await shop(client, ServiceOptions(supportsPatch: false)) { $0.patch = false }
        let supplier = try await shop.one("Suppliers", 1)
        supplier["Name"] = .string("one")
        try await shop.service.updateEntity(supplier)
        supplier["Name"] = .string("two")
        try await shop.service.updateEntity(supplier)
        let order = try await shop.one("Orders", 1)
        order["Quantity"] = .integer(9)
        try await shop.service.updateEntity(order)
        order["Note"] = .string("later")
        try await shop.service.updateEntity(order)
        shop.transport.forgetRequests()
        try await store(shop).upload()
        let sent = try modifications(shop)
        #expect(sent.prefix(2) == ["--", #"PUT Suppliers(1) {"SupplierID":1,"Name":"one"}"#])
        let puts = sent.filter { $0.hasPrefix("PUT Orders(1) if-match") }
        #expect(puts.count == 2)
        #expect(puts[0].contains(#""Note":"engine parts""#))
        #expect(puts[0].contains(#""Quantity":9"#))
        #expect(puts[0].contains(#""CustomerID":1"#))
        #expect(puts[1].contains(#""Note":"later""#))
        #expect(puts[1].contains(#""Quantity":9"#))
        try await shop.synchronize()
    }

    @Test(arguments: Client.offline)
    func `no PATCH: a rejected change is not part of the next PUT`(_ client: Client) async throws {
        let shop = try await shop(client, ServiceOptions(supportsBatch: false, supportsPatch: false)) {
            $0.batch = false
            $0.patch = false
        }
        let supplier = try await shop.one("Suppliers", 1)
        supplier["Name"] = .string("refused")
        try await shop.service.updateEntity(supplier)
        let product = try await shop.one("Products", 1)
        product["Name"] = .string("kept")
        try await shop.service.updateEntity(product)
        shop.transport.add(Fault(.refuse(status: 400), method: "PUT", urlPart: "Suppliers"))
        try await store(shop).upload()
        #expect(shop.transport.sandbox.stateText(of: ["Products"]).contains("kept"))
        #expect(!shop.transport.sandbox.stateText(of: ["Suppliers"]).contains("refused"))
        try await shop.synchronize()
    }

    @Test(arguments: Client.offline)
    func `no PATCH: properties that a query omitted are read before a PUT could reset them`(_ client: Client)
        async throws
    {
        var capabilities = Capabilities()
        capabilities.patch = false
        let shop = try await Shop(
            client, queries: [.init(name: "Orders", query: "/Orders?$select=OrderID,Note")], capabilities: capabilities,
            options: ServiceOptions(supportsPatch: false))
        let order = try await shop.one("Orders", 1)
        order["Note"] = .string("short")
        try await shop.service.updateEntity(order)
        let status = try await store(shop).operationStatus()
        #expect(
            status.map(\.reason)
                == ["waits until all properties of the entity have been read, because the service has no PATCH"])
        try await store(shop).upload()
        let text = shop.transport.sandbox.stateText(of: ["Orders"])
        #expect(text.contains("short"))
        #expect(text.contains("1200.5000"))
        #expect(shop.serverLinks("Orders").hasPrefix("Orders(1)\n  Customer: Customers(1)\n"))
    }

    // MARK: Content-ID references

    @Test(arguments: Client.offline)
    func `references in URLs: an order is created in the collection of its new customer`(_ client: Client) async throws
    {
        let shop = try await shop(client, ServiceOptions(contentIDReferences: .urlsOnly)) {
            $0.contentIDReferences = .urlsOnly
        }
        let customer = try shop.new("Customers", ["Name": .string("n")])
        try await shop.service.createEntity(customer)
        let order = try shop.new("Orders", ["Note": .string("o")])
        order.bindEntity(customer, to: try shop.property("Orders/Customer"))
        try await shop.service.createEntity(order)
        try await shop.service.createLink(
            from: try await shop.one("Orders", 4), property: try shop.property("Orders/Customer"), to: customer)
        shop.transport.forgetRequests()
        try await store(shop).upload()
        let link = Self.of(client, #"$links/Orders {"uri""#, #"Orders/$ref {"@odata.id""#)
        #expect(
            try modifications(shop) == [
                "--", #"POST Customers {"Name":"n"}"#, #"POST $1/Orders {"Note":"o"}"#,
                "POST $1/\(link):\"\(Self.root(client))Orders(4)\"}",
            ])
        try await shop.synchronize()
    }

    @Test(arguments: Client.offline, [ServiceOptions.ContentIDReferences.urlsOnly, .none])
    func `references in URLs or none: a pair is a deep insert, and two interdependent pairs are held back`(
        _ client: Client, _ references: ServiceOptions.ContentIDReferences
    ) async throws {
        let shop = try await shop(client, ServiceOptions(contentIDReferences: references)) {
            $0.contentIDReferences = references
        }
        let service = shop.service
        let changes = ChangeSet()
        let owner = try shop.new("Owners", ["Name": .string("o")])
        let car = try shop.new("Cars", ["Model": .string("c")])
        changes.createEntity(car)
        changes.createEntity(owner)
        changes.createLink(from: car, property: try shop.property("Cars/Owner"), to: owner)
        try await service.applyChanges(changes)
        shop.transport.forgetRequests()
        try await store(shop).upload()
        #expect(try modifications(shop) == ["--", #"POST Owners {"Name":"o","Car":{"Model":"c"}}"#])
        // A new owner for an existing car, and a new car for its previous owner: each request contains one of the
        // links.
        let swap = ChangeSet()
        let second = try shop.new("Owners", ["Name": .string("second")])
        swap.createEntity(second)
        swap.updateLink(
            from: try await shop.one("Cars", 1), property: try shop.property("Cars/Owner"), to: second)
        let third = try shop.new("Cars", ["Model": .string("third")])
        swap.createEntity(third)
        swap.updateLink(
            from: third, property: try shop.property("Cars/Owner"), to: try await shop.one("Owners", 1))
        try await service.applyChanges(swap)
        try await shop.synchronize()
        #expect(shop.serverLinks("Cars").hasPrefix("Cars(1)\n  Owner: Owners(4)\n"))
        #expect(shop.serverLinks("Cars").hasSuffix("Cars(4)\n  Owner: Owners(1)\n"))
    }

    @Test(arguments: Client.offline)
    func `no references: a parent with its children is held back, or is one deep insert of a collection`(
        _ client: Client
    ) async throws {
        for deep in [ServiceOptions.DeepInsertToMany.split, .inOrder] {
            let shop = try await shop(
                client, ServiceOptions(contentIDReferences: .none, deepInsertToMany: deep)
            ) { $0.contentIDReferences = .none }
            let changes = ChangeSet()
            let father = try shop.new("Fathers", ["Name": .string("f")])
            changes.createEntity(father)
            for name in ["a", "b"] {
                changes.createRelatedEntity(
                    try shop.new("Children", ["Name": .string(name)]), in: father,
                    property: try shop.property("Fathers/Children"))
            }
            try await shop.service.applyChanges(changes)
            shop.transport.forgetRequests()
            try await store(shop).upload()
            if deep == .split {
                let reasons = try await store(shop).operationStatus().compactMap(\.reason)
                #expect(reasons.count == 3)
                #expect(
                    reasons.allSatisfy {
                        $0.hasPrefix("held back: a request refers to an entity that another request creates")
                    })
                #expect(try modifications(shop).isEmpty)
            } else {
                #expect(
                    try modifications(shop) == [
                        "--", #"POST Fathers {"Name":"f","Children":[{"Name":"a"},{"Name":"b"}]}"#,
                    ])
                try await shop.synchronize()
            }
        }
    }

    // MARK: Tunnel

    @Test(arguments: Client.offline, [true, false])
    func `tunneled methods: only GET and POST are sent, with and without batches`(
        _ client: Client, _ hasBatch: Bool
    ) async throws {
        let shop = try await shop(client, ServiceOptions(supportsBatch: hasBatch, tunnelsMethods: true)) {
            $0.batch = hasBatch
            $0.methods = false
        }
        let order = try await shop.one("Orders", 1)
        order["Note"] = .string("n")
        try await shop.service.updateEntity(order)
        try await shop.service.deleteEntity(try await shop.one("Orders", 4))
        shop.transport.forgetRequests()
        try await store(shop).upload()
        let merge = Self.of(client, "MERGE", "PATCH")
        #expect(
            try modifications(shop).filter { $0 != "--" } == [
                "POST(\(merge)) Orders(1) if-match {\"Note\":\"n\"}", "POST(DELETE) Orders(4) if-match",
            ])
        try await shop.synchronize()
    }

    // MARK: Entities deleted on both sides

    @Test(arguments: Client.offline)
    func `an entity that was deleted on both sides stays deleted, and its delete is confirmed`(
        _ client: Client
    ) async throws {
        for isDone in [true, false] {
            let shop = try await shop(client, ServiceOptions(deletedOnServiceIsDone: isDone))
            try await shop.service.deleteEntity(try await shop.one("Suppliers", 1))
            try await shop.server.deleteEntity(
                try await shop.server.executeQuery(
                    DataQuery().from(try shop.set("Suppliers")).filter(
                        try shop.property("Suppliers/SupplierID").equal(1))
                ).requiredEntity())
            try await store(shop).download()
            #expect(try await shop.fetch("Suppliers").count == 1)
            let report = try await store(shop).upload()
            if !isDone {
                #expect(report.rejected.map(\.refusal.status) == [404])
                #expect(try await shop.fetch("Suppliers").count == 1)
                #expect(try await store(shop).upload().rejected.isEmpty)
            }
            try await shop.synchronize()
        }
    }
}
