import EDM
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// Each technique for changing entities and links, in V2 and V4: local effect, upload, and comparison of the store with
/// the service.
struct RoundTripTests {
    /// Uploads, and expects that no operation remains, that the store and the service have the same state, and that a
    /// download does not change it.
    private func expectAgreement(_ shop: Shop, _ comment: Comment? = nil) async throws {
        let report = try await shop.push()
        #expect(report.rejected.map(\.refusal.message) == [], comment)
        #expect(report.inDoubt == [])
        #expect(report.remaining == 0, comment)
        let service = try await shop.serviceState()
        let afterUpload = try await shop.localState()
        #expect(difference(afterUpload, service) == [], "after the upload")
        try await shop.pull()
        let afterDownload = try await shop.localState()
        #expect(difference(afterDownload, service) == [], "after the download")
    }

    private func difference(_ local: [String], _ service: [String]) -> [String] {
        let (a, b) = (Set(local), Set(service))
        return a.subtracting(b).sorted().map { "local: \($0)" } + b.subtracting(a).sorted().map { "service: \($0)" }
    }

    @Test(arguments: Dialect.allCases)
    func `a download delivers the entities of the service`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        #expect(difference(try await shop.localState(), try await shop.serviceState()) == [])
    }

    @Test(arguments: Dialect.allCases)
    func `a download in small pages delivers the same entities`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect, pageSize: 1)
        #expect(difference(try await shop.localState(), try await shop.serviceState()) == [])
    }

    @Test(arguments: Dialect.allCases)
    func `the service assigns the key of a new entity, and the first readLink still resolves to it`(_ dialect: Dialect)
        async throws
    {
        let shop = try await Shop(dialect)
        let link = try await shop.create("Customers", ["Name": .string("New")])
        #expect(link.hasPrefix("Customers(~"))
        #expect(try await shop.value(link, "CustomerID") == nil)
        try await expectAgreement(shop)
        #expect(try await shop.value(link, "CustomerID") == .integer(4))
        #expect(try await shop.load(link).readLink == "Customers(4)")
        #expect(try await shop.load("Customers(4)").entityID == shop.load(link).entityID)
    }

    @Test(arguments: Dialect.allCases)
    func `a new entity is bound to an existing one`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let order = try await shop.create(
            "Orders", ["Note": .string("bound")], bind: [bind("Customer", "Customers(1)")])
        #expect(try await shop.targets("Customers(1)", "Orders").contains(order))
        try await expectAgreement(shop)
        #expect(try await shop.targets(order, "Customer") == ["Customers(1)"])
    }

    @Test(arguments: Dialect.allCases)
    func `a new entity is sent together with the new entity that it is bound to`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        let order = try await shop.create("Orders", ["Note": .string("bound")], bind: [bind("Customer", customer)])
        #expect(try await shop.store.uploads.plan().changeSets.map(\.requests.count) == [2])
        try await expectAgreement(shop)
        #expect(try await shop.targets(order, "Customer") == ["Customers(4)"])
    }

    @Test(arguments: Dialect.allCases)
    func `createLink links two new entities from either end`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let customer = try await shop.create("Customers", ["Name": .string("New")])
        let first = try await shop.create("Orders", ["Note": .string("1")])
        let second = try await shop.create("Orders", ["Note": .string("2")])
        try await shop.perform(
            .createLink(from: .link(customer), navigation: "Orders", to: .link(first)),
            .createLink(from: .link(second), navigation: "Customer", to: .link(customer)))
        #expect(try await shop.targets(customer, "Orders").count == 2)
        try await expectAgreement(shop)
        #expect(try await shop.targets(customer, "Orders") == ["Orders(5)", "Orders(6)"])
    }

    @Test(arguments: Dialect.allCases)
    func `links between existing entities are created, moved and deleted`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        try await shop.perform(
            .createLink(from: .link("Suppliers(2)"), navigation: "Products", to: .link("Products(3)")),
            .updateLink(from: .link("Orders(1)"), navigation: "Customer", to: .link("Customers(2)")),
            .deleteLink(from: .link("Orders(3)"), navigation: "Customer", to: nil),
            .createLink(from: .link("Customers(3)"), navigation: "Orders", to: .link("Orders(4)")),
            .deleteLink(from: .link("Products(1)"), navigation: "Suppliers", to: .link("Suppliers(1)")),
            .updateLink(from: .link("Children(1)"), navigation: "Father", to: .link("Fathers(3)")),
            .createLink(from: .link("Persons(2)"), navigation: "IDCard", to: .link("IDCards(2)")),
            .updateLink(from: .link("Mayors(1)"), navigation: "City", to: .link("Cities(3)")))
        try await expectAgreement(shop)
        #expect(try await shop.targets("Fathers(3)", "Children") == ["Children(1)"])
    }

    @Test(arguments: Dialect.allCases)
    func `moving an ID card to another person leaves the first person without one`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        try await shop.perform(.updateLink(from: .link("Persons(2)"), navigation: "IDCard", to: .link("IDCards(1)")))
        #expect(try await shop.targets("Persons(1)", "IDCard").isEmpty)
        try await expectAgreement(shop)
    }

    @Test(arguments: Dialect.allCases)
    func `createRelated creates an entity through a collection and through a single-valued property`(_ dialect: Dialect)
        async throws
    {
        let shop = try await Shop(dialect)
        let order = try await shop.create(
            "Orders", ["Note": .string("related")], in: .init(entity: .link("Customers(3)"), navigation: "Orders"))
        let child = try await shop.create("Children", in: .init(entity: .link("Fathers(3)"), navigation: "Children"))
        let mayor = try await shop.create(
            "Mayors", ["Name": .string("Ghost")], in: .init(entity: .link("Cities(3)"), navigation: "Mayor"))
        let card = try await shop.create("IDCards", in: .init(entity: .link("Persons(2)"), navigation: "IDCard"))
        try await expectAgreement(shop)
        #expect(try await shop.targets(order, "Customer") == ["Customers(3)"])
        #expect(try await shop.targets(child, "Father") == ["Fathers(3)"])
        #expect(try await shop.targets(mayor, "City") == ["Cities(3)"])
        #expect(try await shop.targets(card, "Person") == ["Persons(2)"])
    }

    @Test(arguments: Dialect.allCases)
    func `the inner entity of a deep insert through a single-valued property gets its key`(_ dialect: Dialect)
        async throws
    {
        let shop = try await Shop(dialect)
        let customer = try await shop.draft(1, "Customers", ["Name": .string("Deep")])
        let order = try await shop.draft(
            0, "Orders", ["Note": .string("deep")], inline: [InlineDraft(navigation: "Customer", entities: [customer])])
        let result = try await shop.perform(.create(order, in: nil))
        let link = result[0].entities[1]?.readLink ?? ""
        try await expectAgreement(shop)
        #expect(try await shop.load(link).readLink == "Customers(4)")
        #expect(try await shop.targets(link, "Orders") == ["Orders(5)"])
    }

    @Test(arguments: Dialect.allCases)
    func `a deep insert of a collection is split, and each child gets its key`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let orders = [
            try await shop.draft(1, "Orders", ["Note": .string("first")]),
            try await shop.draft(2, "Orders", ["Note": .string("second")]),
        ]
        let customer = try await shop.draft(
            0, "Customers", ["Name": .string("Deep")],
            inline: [InlineDraft(navigation: "Orders", entities: orders)])
        let result = try await shop.perform(.create(customer, in: nil))
        try await expectAgreement(shop)
        let second = result[0].entities[2]?.readLink ?? ""
        #expect(try await shop.value(second, "OrderID") == .integer(6))
        #expect(try await shop.targets(second, "Customer") == ["Customers(4)"])
    }

    @Test(arguments: Dialect.allCases)
    func `a deep insert contains a collection below a single entity`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let other = try await shop.draft(2, "Orders", ["Note": .string("sibling")])
        let customer = try await shop.draft(
            1, "Customers", ["Name": .string("Deep")],
            inline: [InlineDraft(navigation: "Orders", entities: [other])])
        let order = try await shop.draft(
            0, "Orders", ["Note": .string("top")], inline: [InlineDraft(navigation: "Customer", entities: [customer])])
        try await shop.perform(.create(order, in: nil))
        try await expectAgreement(shop)
        #expect(try await shop.targets("Customers(4)", "Orders").count == 2)
    }

    @Test(arguments: Dialect.allCases)
    func `the ends of a 1–1 relationship are created, swapped and deleted together`(_ dialect: Dialect)
        async throws
    {
        let shop = try await Shop(dialect)
        let owner = try await shop.draft(0, "Owners", ["Name": .string("Pair")])
        let car = try await shop.draft(1, "Cars", bind: [BindingDraft(navigation: "Owner", targets: [.draft(0)])])
        let pair = try await shop.perform(.create(owner, in: nil), .create(car, in: nil), asChangeSet: true)
        try await expectAgreement(shop, "created")
        try await shop.perform(
            .updateLink(from: .link("Cars(1)"), navigation: "Owner", to: .link("Owners(2)")),
            .updateLink(from: .link("Cars(2)"), navigation: "Owner", to: .link("Owners(1)")), asChangeSet: true)
        #expect(try await shop.targets("Owners(1)", "Car") == ["Cars(2)"])
        try await expectAgreement(shop, "swapped")
        #expect(try await shop.targets("Owners(1)", "Car") == ["Cars(2)"])
        try await shop.perform(
            .delete(.link(pair[0].entities[0]?.readLink ?? "")), .delete(.link(pair[1].entities[1]?.readLink ?? "")),
            asChangeSet: true)
        try await expectAgreement(shop, "deleted")
    }

    @Test(arguments: Dialect.allCases)
    func `a dependent property creates, moves and deletes a link`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let order = try await shop.create("Orders", ["CustomerID": .integer(3)])
        #expect(try await shop.targets("Customers(3)", "Orders") == [order])
        try await shop.perform(
            update("Orders(1)", ["CustomerID": .integer(3)]), update("Orders(2)", ["CustomerID": .null]))
        try await expectAgreement(shop)
        #expect(try await shop.targets("Customers(3)", "Orders") == ["Orders(1)", "Orders(5)"])
    }

    @Test(arguments: Dialect.allCases)
    func `two updates of an entity with an ETag are both confirmed`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        try await shop.perform(update("Orders(1)", ["Note": .string("one")]))
        try await shop.perform(update("Orders(1)", ["Quantity": .integer(7)]))
        try await expectAgreement(shop)
        try await shop.perform(update("Orders(1)", ["Note": .string("three")]))
        try await expectAgreement(shop)
        #expect(try await shop.value("Orders(1)", "Quantity") == .integer(7))
    }

    @Test(arguments: Dialect.allCases)
    func `two updates of an entity with an ETag in one change set are both confirmed`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        try await shop.perform(
            update("Orders(1)", ["Note": .string("one")]), update("Orders(1)", ["Quantity": .integer(7)]),
            asChangeSet: true)
        try await expectAgreement(shop)
    }

    @Test(arguments: Dialect.allCases)
    func `a new entity is changed and deleted before its create is sent`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let order = try await shop.create("Orders", ["Note": .string("one")])
        try await shop.perform(update(order, ["Note": .string("two")]))
        let gone = try await shop.create("Orders", ["Note": .string("gone")])
        try await shop.perform(.delete(.link(gone)))
        try await expectAgreement(shop)
        #expect(try await shop.value(order, "Note") == .string("two"))
    }

    @Test(arguments: Dialect.allCases)
    func `an update after a link of the same entity is sent with the current ETag`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        try await shop.perform(.updateLink(from: .link("Orders(1)"), navigation: "Customer", to: .link("Customers(3)")))
        try await shop.perform(update("Orders(1)", ["Note": .string("after")]))
        try await expectAgreement(shop)
    }

    @Test(arguments: Dialect.allCases)
    func `deleting one end of a link clears the link and the dependent property of the other end`(_ dialect: Dialect)
        async throws
    {
        let shop = try await Shop(dialect)
        try await shop.perform(.delete(.link("Customers(1)")))
        #expect(try await shop.value("Orders(1)", "CustomerID") == .null)
        try await shop.perform(.delete(.link("Orders(3)")), .delete(.link("Mayors(1)")), .delete(.link("IDCards(1)")))
        try await expectAgreement(shop)
    }

    @Test(arguments: Dialect.allCases)
    func `keys of the client, a GUID and a composite key, are kept`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let id = try #require(GuidValue("aaaaaaaa-0000-0000-0000-000000000001"))
        let visit = try await shop.create("Visits", ["VisitID": .guid(id), "Subject": .string("S")])
        let price = try await shop.create(
            "Prices", ["Currency": .string("O'N"), "Day": .integer(9), "Amount": .decimal(DecimalValue("2.5000")!)])
        try await expectAgreement(shop)
        try await shop.perform(update(visit, ["Subject": .string("T")]), update(price, ["Amount": .null]))
        try await expectAgreement(shop)
        #expect(try await shop.load(price).readLink == "Prices(Currency='O''N',Day=9)")
    }

    @Test(arguments: Dialect.allCases)
    func `an update creates related entities`(_ dialect: Dialect) async throws {
        let shop = try await Shop(dialect)
        let customer = try await shop.draft(0, "Customers", ["Name": .string("New")])
        try await shop.perform(
            update(
                "Orders(4)", ["Note": .string("n")], inline: [InlineDraft(navigation: "Customer", entities: [customer])]
            ))
        #expect(try await shop.targets("Orders(4)", "Customer").count == 1)
        try await expectAgreement(shop)
        #expect(try await shop.targets("Orders(4)", "Customer") == ["Customers(4)"])
    }
}
