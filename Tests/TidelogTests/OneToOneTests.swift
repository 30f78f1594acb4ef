import Testing
import Tidelog

/// API samples of 1–1 relationships whose ends cannot exist alone.
@Suite struct OneToOneTests {
    @Test(arguments: Client.all)
    func `the 1–1 sample creates a pair by a deep insert`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let car = try shop.new("Cars", ["Model": .string("Deep")])
        let owner = try shop.new("Owners", ["Name": .string("Deep owner")])
        try shop.property("Cars/Owner").setEntityValue(in: car, to: owner)
        try await shop.service.createEntity(car)
        #expect(try await shop.areLinked(car, "Owner", try #require(try await shop.related(car, "Owner").first), "Car"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Owners").hasSuffix("Owners(3)\n  Car: Cars(3)\n"))
    }

    @Test(arguments: Client.all)
    func `the 1–1 sample creates a pair in a change set`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let car = try shop.new("Cars", ["Model": .string("Batch")])
        let owner = try shop.new("Owners", ["Name": .string("Batch owner")])
        let changes = ChangeSet()
        changes.createEntity(owner)
        changes.createEntity(car)
        changes.createLink(from: owner, property: try shop.property("Owners/Car"), to: car)
        try await shop.service.applyChanges(changes)
        #expect(try await shop.areLinked(car, "Owner", owner, "Car"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Owners").hasSuffix("Owners(3)\n  Car: Cars(3)\n"))
    }

    @Test(arguments: Client.all)
    func `the 1–1 sample exchanges the owners of two cars in one batch`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let cars = try await shop.fetch("Cars", matching: DataQuery().top(2))
        let owners = try await shop.fetch("Owners", matching: DataQuery().top(2))
        let owner = try shop.property("Cars/Owner")
        let batch = RequestBatch()
        let changes = ChangeSet()
        changes.updateLink(from: cars[0], property: owner, to: owners[1])
        changes.updateLink(from: cars[1], property: owner, to: owners[0])
        batch.addChanges(changes)
        try await shop.service.processBatch(batch)
        #expect(try await shop.areLinked(cars[0], "Owner", owners[1], "Car"))
        #expect(try await shop.areLinked(cars[1], "Owner", owners[0], "Car"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Cars") == "Cars(1)\n  Owner: Owners(2)\nCars(2)\n  Owner: Owners(1)\n")
    }

    @Test(arguments: Client.all)
    func `both ends of a 1–1 relationship are deleted together`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let car = try await shop.one("Cars", 1)
        let owner = try await shop.one("Owners", 1)
        let changes = ChangeSet()
        changes.deleteEntity(car)
        changes.deleteEntity(owner)
        try await shop.service.applyChanges(changes)
        #expect(try await shop.fetch("Cars").count == 1)
        try await shop.synchronize()
        #expect(shop.serverLinks("Cars", "Owners") == "Cars(2)\n  Owner: Owners(2)\nOwners(2)\n  Car: Cars(2)\n")
    }

    @Test(arguments: Client.offline)
    func `half a swap, half a create and half a delete of a 1–1 relationship are refused`(_ client: Client) async throws
    {
        let shop = try await Shop(client)
        let cars = try await shop.fetch("Cars")
        let owners = try await shop.fetch("Owners")
        let owner = try shop.property("Cars/Owner")
        let mandatory = TidelogError.Code.refused(.mandatoryEnd)
        try await shop.expectRefusal(mandatory) {
            try await shop.service.updateLink(from: cars[0], property: owner, to: owners[1])
        }
        try await shop.expectRefusal(mandatory) {
            try await shop.service.createEntity(try shop.new("Cars", ["Model": .string("Lonely")]))
        }
        try await shop.expectRefusal(mandatory) { try await shop.service.deleteEntity(owners[0]) }
        try await shop.expectRefusal(mandatory) {
            try await shop.service.deleteLink(from: cars[0], property: owner, to: owners[0])
        }
        // The original sample of a 1–1 deletion deletes only links, which its own text forbids.
        try await shop.expectRefusal(mandatory) {
            let changes = ChangeSet()
            for (car, its) in zip(cars, owners) { changes.deleteLink(from: car, property: owner, to: its) }
            try await shop.service.applyChanges(changes)
        }
    }

    @Test(arguments: Client.all)
    func `a mayor is created for a city and moves to a second city`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let ghostTown = try await shop.one("Cities", 3)
        let mayor = try shop.new("Mayors", ["Name": .string("New")])
        mayor.bindEntity(ghostTown, to: try shop.property("Mayors/City"))
        try await shop.service.createEntity(mayor)
        #expect(try await shop.areLinked(ghostTown, "Mayor", mayor, "City"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Mayors").hasSuffix("Mayors(3)\n  City: Cities(3)\n"))
    }

    @Test(arguments: Client.all)
    func `a child changes its father`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let child = try await shop.one("Children", 1)
        let father = try await shop.one("Fathers", 3)
        try await shop.service.updateLink(from: child, property: try shop.property("Children/Father"), to: father)
        #expect(try await shop.areLinked(father, "Children", child, "Father"))
        try await shop.synchronize()
        #expect(shop.serverLinks("Children").hasPrefix("Children(1)\n  Father: Fathers(3)\n"))
    }

    @Test(arguments: Client.all)
    func `a person takes another card, and the previous card becomes free`(_ client: Client) async throws {
        let shop = try await Shop(client)
        let irene = try await shop.one("Persons", 1)
        let cards = try await shop.fetch("IDCards")
        try await shop.service.updateLink(from: irene, property: try shop.property("Persons/IDCard"), to: cards[1])
        #expect(try await shop.areLinked(irene, "IDCard", cards[1], "Person"))
        #expect(try await shop.related(cards[0], "Person").isEmpty)
        try await shop.synchronize()
        #expect(shop.serverLinks("IDCards") == "IDCards(1)\nIDCards(2)\n  Person: Persons(1)\n")
    }
}
