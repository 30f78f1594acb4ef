import EDM
import Operations
import SyncCore
import Testing

/// Refusals of single operations: a typed error that names the item, and nothing in the log.
struct OperationRulesTests {
    let store: TestStore
    let customer: EntityID
    let order: EntityID

    init() throws {
        store = try TestStore()
        customer = try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("A")])
        order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
    }

    /// Performs actions that must be refused, and returns the refusal.
    private func refusal(
        _ actions: Operation.Action..., changeSet: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> OperationRefused? {
        let before = store.records.count
        let digest = try store.digest()
        var refused: OperationRefused?
        do {
            try store.perform(actions, changeSet: changeSet)
            Issue.record("it was not refused", sourceLocation: sourceLocation)
        } catch ValidationError.refused(let reason) {
            refused = reason
        }
        #expect(store.records.count == before, "something was logged", sourceLocation: sourceLocation)
        #expect(try store.digest() == digest, sourceLocation: sourceLocation)
        return refused
    }

    private func creation(_ set: String, _ values: PropertyValues = [:], type: String? = nil) throws -> Creation {
        let known = store.model.findEntitySet(set)?.entityType.name ?? "Shop.Customer"
        return try Creation(entity: store.newID(), set: set, type: type ?? known, values: values)
    }

    @Test func `an unknown set is refused`() throws {
        let refusal = try refusal(.create(creation("Clients"), parent: nil))
        #expect(refusal?.code == .unknownEntitySet)
        #expect(refusal?.message.contains("Clients") == true)
    }

    @Test func `an unknown property is refused on create and update`() throws {
        let created = try refusal(.create(creation("Customers", ["Nme": .string("x")]), parent: nil))
        #expect(created?.code == .unknownProperty)
        #expect(created?.message.contains("Nme") == true)
        #expect(try refusal(.update(customer, changes: ["Nme": .string("x")], bindings: []))?.code == .unknownProperty)
    }

    @Test func `a value of the wrong type is refused with its property and set`() throws {
        let refusal = try refusal(.update(customer, changes: ["Name": .integer(1)], bindings: []))
        #expect(refusal?.code == .typeMismatch)
        #expect(refusal?.message.contains("Customers/Name") == true)
    }

    @Test func `an integer out of the range of its type is refused`() throws {
        #expect(
            try refusal(.update(order, changes: ["CustomerID": .integer(1 << 40)], bindings: []))?.code == .typeMismatch
        )
    }

    @Test func `null for a property that is not nullable is refused`() throws {
        #expect(try refusal(.create(creation("Customers", ["CustomerID": .null]), parent: nil))?.code == .typeMismatch)
    }

    @Test func `a value for a navigation property is refused with the alternatives`() throws {
        let refusal = try refusal(.update(customer, changes: ["Orders": .null], bindings: []))
        #expect(refusal?.code == .typeMismatch)
        #expect(refusal?.recovery?.contains("Bind") == true)
    }

    @Test func `an unknown navigation property is refused in a link, a binding and a deep insert`() throws {
        #expect(try refusal(.createLink(link(customer, "Ordres", order)))?.code == .unknownNavigationProperty)
        #expect(
            try refusal(.update(order, changes: [:], bindings: [Binding(navigation: "Note", targets: [customer])]))?
                .code
                == .unknownNavigationProperty)
        var deep = try creation("Orders")
        deep.inline = [.init(navigation: "Nothing", entities: [])]
        #expect(try refusal(.create(deep, parent: nil))?.code == .unknownNavigationProperty)
    }

    @Test func `a target of the wrong type is refused`() throws {
        let refusal = try refusal(.createLink(link(customer, "Orders", customer)))
        #expect(refusal?.code == .wrongTargetType)
        #expect(refusal?.message.contains("Orders") == true)
    }

    @Test func `a missing or deleted entity is refused`() throws {
        #expect(try refusal(.delete(EntityID(rawValue: 99)))?.code == .entityNotFound)
        try store.perform([.delete(order)])
        #expect(try refusal(.update(order, changes: ["Note": .null], bindings: []))?.code == .entityNotFound)
        #expect(try refusal(.createLink(link(customer, "Orders", order)))?.code == .entityNotFound)
    }

    @Test func `updateLink of a collection is refused with the alternatives`() throws {
        let refusal = try refusal(.updateLink(link(customer, "Orders", order)))
        #expect(refusal?.code == .wrongNavigationKind)
        #expect(refusal?.recovery?.contains("createLink") == true)
    }

    @Test func `two targets of a single-valued end are refused`() throws {
        let other = try store.download("Customers", ["CustomerID": .integer(2)])
        let binding = Binding(navigation: "Customer", targets: [customer, other])
        #expect(try refusal(.update(order, changes: [:], bindings: [binding]))?.code == .wrongNavigationKind)
    }

    @Test func `deleteLink of a missing link is refused`() throws {
        let other = try store.download("Customers", ["CustomerID": .integer(2)])
        #expect(try refusal(.deleteLink(link(other, "Orders", order)))?.code == .linkNotFound)
    }

    // MARK: Keys

    @Test func `a second entity with the same complete key is refused`() throws {
        let refusal = try refusal(.create(creation("Customers", ["CustomerID": .integer(1)]), parent: nil))
        #expect(refusal?.code == .duplicateKey)
        #expect(refusal?.message.contains("CustomerID=1") == true)
    }

    @Test func `a second entity with the default key 0 is refused`() throws {
        try store.create("Customers", ["CustomerID": .integer(0)])
        #expect(
            try refusal(.create(creation("Customers", ["CustomerID": .integer(0)]), parent: nil))?.code == .duplicateKey
        )
    }

    @Test func `any number of entities without a key are accepted`() throws {
        for _ in 0..<3 { try store.create("Customers") }
        #expect(try store.state.rows(set: "Customers").count == 4)
    }

    @Test func `the key of a deleted entity is accepted`() throws {
        try store.perform([.delete(order)])
        try store.create("Orders", ["OrderID": .integer(1)])
    }

    @Test func `two entities with the same key in a deep insert are refused`() throws {
        var deep = try creation("Customers", ["CustomerID": .integer(5)])
        let next = try store.newID().rawValue
        deep.inline = [
            .init(
                navigation: "Orders",
                entities: (1...2).map {
                    Creation(
                        entity: EntityID(rawValue: next + $0), set: "Orders", type: "Shop.Order",
                        values: ["OrderID": .integer(7)])
                })
        ]
        #expect(try refusal(.create(deep, parent: nil))?.code == .duplicateKey)
    }

    @Test func `the same key twice in a change set is refused`() throws {
        let first = try creation("Customers", ["CustomerID": .integer(9)])
        var second = first
        second.entity = EntityID(rawValue: first.entity.rawValue + 1)
        #expect(
            try refusal(.create(first, parent: nil), .create(second, parent: nil), changeSet: true)?.code
                == .duplicateKey)
    }

    @Test func `a changed key and a key that is set after the create are refused`() throws {
        let changed = try refusal(.update(customer, changes: ["CustomerID": .integer(2)], bindings: []))
        #expect(changed?.code == .keyIsFixed)
        let new = try store.create("Customers")
        #expect(try refusal(.update(new, changes: ["CustomerID": .integer(2)], bindings: []))?.code == .keyIsFixed)
    }

    @Test func `an update with the same key is accepted`() throws {
        try store.perform([.update(customer, changes: ["CustomerID": .integer(1), "Name": .string("B")], bindings: [])])
        #expect(try store.value(customer, "Name") == .string("B"))
    }

    @Test func `two entities below a single-valued end in a deep insert are refused`() throws {
        var deep = try creation("Orders")
        let next = try store.newID().rawValue
        deep.inline = [
            .init(
                navigation: "Customer",
                entities: (1...2).map {
                    Creation(
                        entity: EntityID(rawValue: next + $0), set: "Customers", type: "Shop.Customer", values: [:])
                })
        ]
        #expect(try refusal(.create(deep, parent: nil))?.code == .wrongNavigationKind)
    }

    @Test func `a new entity with different owners in its place and its binding is refused`() throws {
        let other = try store.download("Customers", ["CustomerID": .integer(2)])
        var child = try creation("Orders")
        child.bindings = [Binding(navigation: "Customer", targets: [other])]
        let related = try refusal(.create(child, parent: Parent(entity: customer, navigation: "Orders")))
        #expect(related?.code == .notAllowed)
        #expect(related?.message.contains("Customer") == true)
        var deep = try creation("Customers")
        child.entity = EntityID(rawValue: deep.entity.rawValue + 1)
        deep.inline = [.init(navigation: "Orders", entities: [child])]
        #expect(try refusal(.create(deep, parent: nil))?.code == .notAllowed)
    }

    @Test func `an endless deep insert is refused`() throws {
        var next = try store.newID().rawValue
        func nested(_ depth: Int) -> Creation {
            next += 1
            let isOrder = depth % 2 == 0
            return Creation(
                entity: EntityID(rawValue: next), set: isOrder ? "Orders" : "Customers",
                type: isOrder ? "Shop.Order" : "Shop.Customer", values: [:],
                inline: depth == 0
                    ? [] : [.init(navigation: isOrder ? "Customer" : "Orders", entities: [nested(depth - 1)])])
        }
        #expect(try refusal(.create(nested(40), parent: nil))?.code == .notAllowed)
    }

    @Test func `a change set with one refused operation logs none of its operations`() throws {
        _ = try refusal(
            .update(customer, changes: ["Name": .string("B")], bindings: []),
            .updateLink(link(customer, "Orders", order)),
            changeSet: true)
        #expect(try store.value(customer, "Name") == .string("A"))
    }
}
