import Testing
import Tidelog

/// API samples of the dynamic API and of the life cycle of an entity.
@Suite struct DynamicSampleTests {
    @Test(arguments: Client.all)
    func `the samples of the dynamic API create, update and delete entities`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let service = shop.service
        let visits = try service.entitySet(withName: "Visits")
        let type = visits.entityType
        let visitID = try type.property(withName: "VisitID")
        let subject = try type.property(withName: "Subject")

        let visit = EntityValue.ofType(type)
        visitID.setStringValue(in: visit, to: GuidValue.random().toString())
        subject.setStringValue(in: visit, to: "Jean-Luc Picard")
        try await service.createEntity(visit)

        let query = DataQuery().top(1).from(visits).filter(subject.equal("Jean-Luc Picard"))
        let found = try await service.executeQuery(query).requiredEntity()
        subject.setStringValue(in: found, to: "Beverly Crusher")
        try await service.updateEntity(found)
        try await shop.synchronize()

        let keyOnly = DataQuery().top(1).selectKey().from(visits).filter(subject.equal("Beverly Crusher"))
        let toDelete = try await service.executeQuery(keyOnly).requiredEntity()
        #expect(toDelete.properties.map(\.name) == ["VisitID"])
        try await service.deleteEntity(toDelete)
        #expect(try await service.executeQuery(keyOnly).entityList().isEmpty)
        try await shop.synchronize()
        #expect(try await shop.fetch("Visits").count == 1)
    }

    @Test(arguments: Client.all)
    func `the online sample loads, creates, updates and removes an entity`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let service = shop.service
        let category = try shop.new("Suppliers", ["Name": .string("new")])
        try await service.createEntity(category)
        category["Name"] = .string("updated name")
        try await service.updateEntity(category)
        let again = EntityValue(category.entityType)
        again.readLink = category.readLink
        try await service.loadEntity(again)
        #expect(again["Name"] == .string("updated name"))
        try await service.deleteEntity(category)
        #expect(try await shop.fetch("Suppliers").count == 2)
        try await shop.synchronize()
    }

    @Test(arguments: Client.all)
    func `values of every type are returned as they were set`(_ client: Client) async throws {
        let shop = try await Shop(client)
        var values: [String: Value] = [
            "Note": .string("\"quoted\" \\ – ünï 😀\n\u{1}"), "Amount": .decimal(try #require(DecimalValue("0.1000"))),
            "Quantity": .integer(-32768), "Total": .integer(.max),
            "PlacedAt": .dateTimeOffset(try #require(GlobalDateTime("1969-12-31T23:59:59.999Z"))),
        ]
        let order = try shop.new("Orders", values)
        try await shop.service.createEntity(order)
        try await shop.synchronize()
        try await shop.service.loadEntity(order)
        for (name, value) in values { #expect(order[name] == value, "\(name)") }

        let address = ComplexValue(properties: [
            "Street": .string("Straße 1"), "City": .null, "Zip": .string("0"),
        ])
        values = ["Name": .string("complex"), "Address": .complex(address)]
        if client.dialect == .v4 { values["Tags"] = .collection([.string("a"), .string("")]) }
        let customer = try shop.new("Customers", values)
        try await shop.service.createEntity(customer)
        try await shop.synchronize()
        try await shop.service.loadEntity(customer)
        for (name, value) in values { #expect(customer[name] == value, "\(name)") }

        let duration = try #require(DayTimeDuration("PT1H30M"))
        let visit = try shop.new("Visits", ["VisitID": .guid(.random()), "Duration": .duration(duration)])
        try await shop.service.createEntity(visit)
        try await shop.synchronize()
        try await shop.service.loadEntity(visit)
        #expect(visit["Duration"] == .duration(duration))
    }

    @Test(arguments: Client.all)
    func `composite keys identify entities in links and queries`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let price = try shop.new(
            "Prices", ["Currency": .string("A'B"), "Day": .integer(-3), "Amount": .decimal(DecimalValue(2))])
        try await shop.service.createEntity(price)
        try await shop.synchronize()
        price["Amount"] = .decimal(DecimalValue(3))
        try await shop.service.updateEntity(price)
        try await shop.synchronize()
        let again = try shop.new("Prices", ["Currency": .string("A'B"), "Day": .integer(-3)])
        try await shop.service.loadEntity(again)
        #expect(again["Amount"] == .decimal(DecimalValue(3)))
        try await shop.service.deleteEntity(again)
        try await shop.synchronize()
        #expect(try await shop.fetch("Prices").count == 3)
    }
}
