import Testing

@testable import SyncCore

/// The set and the type of an entity, which rows share.
struct EntityKindTests {
    @Test(arguments: [("Caf\u{E9}s", "Shop.Cafe"), ("Cafe\u{301}s", "Shop.Caf\u{E9}")])
    func `names with other code units are another kind, because a shared kind replaces the texts`(
        set: String, type: String
    ) {
        let kind = EntityKind(set: "Cafe\u{301}s", type: "Shop.Cafe\u{301}")
        #expect(!kind.isAbout(set, type))
        #expect(kind != EntityKind(set: set, type: type))
        let other = kind.with(set: set, type: type)
        #expect(other.set.utf8.elementsEqual(set.utf8) && other.type.utf8.elementsEqual(type.utf8))
    }

    @Test func `equal names are one kind`() {
        let kind = EntityKind(set: "Customers", type: "Shop.Customer")
        #expect(kind == EntityKind(set: "Customers", type: "Shop.Customer"))
        #expect(kind.with(set: "Customers", type: "Shop.Customer") === kind)
        #expect(Set([kind, EntityKind(set: "Customers", type: "Shop.Customer")]).count == 1)
    }
}
