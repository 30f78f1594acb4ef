import EDM
import Operations
import SyncCore
import Testing

/// The six combinations of multiplicities: which entities may be created, moved, unlinked and deleted alone, and which
/// only together.
struct CardinalityTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    private func isRefused(_ actions: Operation.Action..., changeSet: Bool = false) throws -> Bool {
        let before = store.records.count
        do {
            try store.perform(actions, changeSet: changeSet)
            return false
        } catch ValidationError.refused(let refusal) {
            #expect(refusal.code == .mandatoryEnd)
            #expect(refusal.recovery != nil)
            #expect(store.records.count == before)
            return true
        }
    }

    private func new(_ set: String, _ bindings: [Binding] = [], inline: [Creation.Inline] = [], offset: UInt64 = 0)
        throws
        -> Creation
    {
        store.creation(
            try EntityID(rawValue: store.newID().rawValue + offset), set, bindings: bindings, inline: inline)
    }

    private func to(_ navigation: String, _ target: EntityID) -> [Binding] {
        [Binding(navigation: navigation, targets: [target])]
    }

    // MARK: 0..1 – 0..1 (Person – ID card)

    @Test func `0..1–0..1: every change is allowed, and a former partner becomes free`() throws {
        let first = try store.create("Persons")
        let second = try store.create("Persons")
        let card = try store.create("IDCards", bindings: to("Person", first))
        try store.perform([.updateLink(link(second, "IDCard", card))])
        #expect(try store.targets(first, "IDCard").isEmpty)
        #expect(try store.targets(card, "Person") == [second])
        try store.perform([.deleteLink(link(card, "Person", second))])
        try store.perform([.createLink(link(first, "IDCard", card))])
        try store.perform([.delete(first)])
        #expect(try store.targets(card, "Person").isEmpty)
    }

    // MARK: 1 – 0..1 (City – Mayor)

    @Test func `1–0..1: a mayor without a city is refused, and each technique of giving one is accepted`() throws {
        #expect(try isRefused(.create(new("Mayors"), parent: nil)))
        let city = try store.create("Cities")
        #expect(try !isRefused(.create(new("Mayors", to("City", city)), parent: nil)))
        let other = try store.create("Cities")
        #expect(try !isRefused(.create(new("Mayors"), parent: Parent(entity: other, navigation: "Mayor"))))
        let inline = Creation.Inline(navigation: "City", entities: [try new("Cities", offset: 1)])
        #expect(try !isRefused(.create(new("Mayors", inline: [inline]), parent: nil)))
        let mayor = try new("Mayors")
        let below = try new("Cities", inline: [.init(navigation: "Mayor", entities: [new("Mayors", offset: 1)])])
        #expect(try !isRefused(.create(below, parent: nil)))
        _ = mayor
    }

    @Test func `1–0..1: two creates and a link are legal only in one change set`() throws {
        let city = try new("Cities")
        let mayor = try new("Mayors", offset: 1)
        let link = link(city.entity, "Mayor", mayor.entity)
        #expect(try isRefused(.create(city, parent: nil), .create(mayor, parent: nil), changeSet: true))
        #expect(
            try !isRefused(.create(city, parent: nil), .create(mayor, parent: nil), .createLink(link), changeSet: true))
    }

    @Test func `1–0..1: a mayor can move, but cannot displace another one`() throws {
        let (first, second, third) = (
            try store.create("Cities"), try store.create("Cities"), try store.create("Cities")
        )
        let a = try store.create("Mayors", bindings: to("City", first))
        let b = try store.create("Mayors", bindings: to("City", second))
        #expect(try isRefused(.updateLink(link(a, "City", second))))
        #expect(try isRefused(.createLink(link(second, "Mayor", a))))
        #expect(
            try !isRefused(.updateLink(link(a, "City", second)), .updateLink(link(b, "City", third)), changeSet: true))
        #expect(try store.targets(first, "Mayor").isEmpty)
        #expect(try !isRefused(.updateLink(link(a, "City", third)), .delete(b), changeSet: true))
    }

    @Test func `1–0..1: the link cannot be deleted from either end, nor by clearing the dependent property`() throws {
        let city = try store.download("Cities", ["CityID": .integer(1)])
        let mayor = try store.download("Mayors", ["MayorID": .integer(1), "CityID": .integer(1)])
        #expect(try isRefused(.deleteLink(link(city, "Mayor", mayor))))
        #expect(try isRefused(.deleteLink(link(mayor, "City", city))))
        #expect(try isRefused(.update(mayor, changes: ["CityID": .null], bindings: [])))
    }

    @Test func `1–0..1: deleting the link and creating a new link is legal in one change set`() throws {
        let (city, other) = (try store.create("Cities"), try store.create("Cities"))
        let mayor = try store.create("Mayors", bindings: to("City", city))
        #expect(
            try !isRefused(
                .deleteLink(link(mayor, "City", city)), .createLink(link(other, "Mayor", mayor)), changeSet: true))
    }

    @Test func `1–0..1: a city with a mayor is deleted only together with the mayor, and a mayor can be deleted alone`()
        throws
    {
        let (city, other) = (try store.create("Cities"), try store.create("Cities"))
        let mayor = try store.create("Mayors", bindings: to("City", city))
        let second = try store.create("Mayors", bindings: to("City", other))
        #expect(try isRefused(.delete(city)))
        #expect(try !isRefused(.delete(city), .delete(mayor), changeSet: true))
        #expect(try !isRefused(.delete(second)))
        #expect(try !isRefused(.delete(other)))
    }

    // MARK: 1 – 1 (Owner – Car)

    private func pair() throws -> (owner: EntityID, car: EntityID) {
        let owner = try new("Owners")
        let car = try new("Cars", to("Owner", owner.entity), offset: 1)
        try store.perform([.create(owner, parent: nil), .create(car, parent: nil)], changeSet: true)
        return (owner.entity, car.entity)
    }

    @Test func `1–1: neither end can be created alone, but both by a deep insert or a change set`() throws {
        #expect(try isRefused(.create(new("Owners"), parent: nil)))
        #expect(try isRefused(.create(new("Cars"), parent: nil)))
        let (owner, _) = try pair()
        #expect(try isRefused(.create(new("Cars", to("Owner", owner)), parent: nil)))
        #expect(try isRefused(.create(new("Cars"), parent: Parent(entity: owner, navigation: "Car"))))
        let inline = Creation.Inline(navigation: "Owner", entities: [try new("Owners", offset: 1)])
        #expect(try !isRefused(.create(new("Cars", inline: [inline]), parent: nil)))
    }

    @Test func `1–1: a single updateLink is refused, and a swap in one change set is accepted`() throws {
        let (first, second) = (try pair(), try pair())
        let there = Operation.Action.updateLink(link(first.car, "Owner", second.owner))
        let back = Operation.Action.updateLink(link(second.car, "Owner", first.owner))
        #expect(try isRefused(there))
        #expect(try isRefused(there, back))
        #expect(try !isRefused(there, back, changeSet: true))
        #expect(try store.targets(first.owner, "Car") == [second.car])
        #expect(try store.targets(second.owner, "Car") == [first.car])
    }

    @Test func `1–1: no link and no single end can be deleted, but both ends together`() throws {
        let (owner, car) = try pair()
        #expect(try isRefused(.deleteLink(link(car, "Owner", owner))))
        #expect(try isRefused(.delete(owner)))
        #expect(try isRefused(.delete(car)))
        #expect(try !isRefused(.delete(car), .delete(owner), changeSet: true))
    }

    // MARK: 1 – * (Father – Children)

    @Test func `1–*: the create of a child requires a father`() throws {
        #expect(try isRefused(.create(new("Children"), parent: nil)))
        let father = try store.create("Fathers")
        #expect(try !isRefused(.create(new("Children", to("Father", father)), parent: nil)))
        #expect(try !isRefused(.create(new("Children"), parent: Parent(entity: father, navigation: "Children"))))
        let deep = try new("Fathers", inline: [.init(navigation: "Children", entities: [new("Children", offset: 1)])])
        #expect(try !isRefused(.create(deep, parent: nil)))
    }

    @Test func `1–*: the key of a father that is not in the store satisfies the requirement`() throws {
        let child = try store.creation(store.newID(), "Children", ["FatherID": .integer(77)])
        #expect(try !isRefused(.create(child, parent: nil)))
    }

    @Test func `1–*: a child can be moved from either end, but cannot lose its father`() throws {
        let (first, second) = (try store.create("Fathers"), try store.create("Fathers"))
        let child = try store.create("Children", bindings: to("Father", first))
        #expect(try !isRefused(.createLink(link(second, "Children", child))))
        #expect(try store.targets(first, "Children").isEmpty)
        #expect(try !isRefused(.updateLink(link(child, "Father", first))))
        #expect(try isRefused(.deleteLink(link(first, "Children", child))))
        #expect(try isRefused(.deleteLink(link(child, "Father", first))))
    }

    @Test func `1–*: a father is deleted only after its children were moved, or together with them`() throws {
        let (first, second) = (try store.create("Fathers"), try store.create("Fathers"))
        let a = try store.create("Children", bindings: to("Father", first))
        let b = try store.create("Children", bindings: to("Father", first))
        #expect(try isRefused(.delete(first)))
        #expect(try isRefused(.delete(first), .delete(a), changeSet: true))
        #expect(try !isRefused(.delete(a), .updateLink(link(b, "Father", second)), .delete(first), changeSet: true))
        #expect(try !isRefused(.delete(b)))
    }

    @Test func `1–*: a downloaded child whose father is not in the store keeps its dependent property`() throws {
        let child = try store.download("Children", ["ChildID": .integer(1), "FatherID": .integer(50)])
        #expect(try !isRefused(.delete(try store.create("Fathers"))))
        #expect(try isRefused(.update(child, changes: ["FatherID": .null], bindings: [])))
        let father = try store.create("Fathers")
        #expect(try !isRefused(.updateLink(link(child, "Father", father))))
        #expect(try isRefused(.deleteLink(link(child, "Father", father))))
    }

    // MARK: 0..1 – * (Customer – Orders)

    @Test func `0..1–*: every change is allowed, and an order with a customer can be moved`() throws {
        let (first, second) = (try store.create("Customers"), try store.create("Customers"))
        let order = try store.create("Orders")
        try store.perform([.createLink(link(first, "Orders", order))])
        try store.perform([.createLink(link(second, "Orders", order))])
        #expect(try store.targets(first, "Orders").isEmpty)
        #expect(try store.targets(order, "Customer") == [second])
        try store.perform([.deleteLink(link(order, "Customer", second))])
        try store.perform([.updateLink(link(order, "Customer", first))])
        try store.perform([.delete(first)])
        #expect(try store.targets(order, "Customer").isEmpty)
    }

    // MARK: * – * (Supplier – Product)

    @Test func `*–*: a link is created once, deleted from either end, and removed with either entity`() throws {
        let supplier = try store.create("Suppliers")
        let (a, b) = (try store.create("Products"), try store.create("Products"))
        try store.perform([.createLink(link(supplier, "Products", a)), .createLink(link(b, "Suppliers", supplier))])
        try store.perform([.createLink(link(supplier, "Products", a))])
        #expect(try store.targets(supplier, "Products") == [a, b])
        try store.perform([.deleteLink(link(b, "Suppliers", supplier))])
        #expect(try store.targets(supplier, "Products") == [a])
        try store.perform([.delete(supplier)])
        #expect(try store.targets(a, "Suppliers").isEmpty)
    }
}
