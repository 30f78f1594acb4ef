import EDM
import Operations
import SyncCore
import Testing

@testable import OfflineStore

/// `$select`, which reads only the needed values of a row: the entities equal whole ones without the other values.
struct SelectionTests {
    /// A store with uploaded, changed and new entities.
    private func shop(_ dialect: Dialect) async throws -> Shop {
        let shop = try await Shop(dialect)
        try await shop.perform(update("Orders(1)", ["Note": .string("changed")]))
        try await shop.create(
            "Orders", ["Note": .string("new")],
            bind: [BindingDraft(navigation: "Customer", targets: [.link("Customers(1)")])])
        return shop
    }

    @Test(arguments: Dialect.allCases)
    func `an entity with selected values has the links, state and values of the whole entity`(
        _ dialect: Dialect
    ) async throws {
        let shop = try await shop(dialect)
        for set in Shop.sets {
            let all = try await shop.store.query(set).entities
            let names = Set(all.flatMap(\.values.names)).sorted()
            let number = names.first { name in all.contains { $0.values[name]?.integerValue != nil } }
            let orders = number.map { ["&$orderby=\($0) desc"] } ?? []
            for name in names {
                for options in ["", "&$top=3&$skip=1"] + orders {
                    let whole = try await shop.store.query(options.isEmpty ? set : "\(set)?\(options.dropFirst())")
                        .entities
                    let selected = try await shop.store.query("\(set)?$select=\(name)\(options)").entities
                    let place: Comment = "\(set), \(name), \(options)"
                    #expect(selected.map(\.readLink) == whole.map(\.readLink), place)
                    #expect(selected.map(\.editLink) == whole.map(\.editLink), place)
                    #expect(selected.map(\.etag) == whole.map(\.etag), place)
                    #expect(selected.map(\.state) == whole.map(\.state), place)
                    #expect(selected.map { $0.values[name] } == whole.map { $0.values[name] }, place)
                }
            }
        }
    }

    @Test func `a selection contains only the selected values and the key`() async throws {
        let shop = try await shop(.v4)
        for entity in try await shop.store.query("Orders?$select=Note").entities {
            #expect(Set(entity.values.names) == ["OrderID", "Note"] || entity.values.names == ["Note"])
        }
        for entity in try await shop.store.query("Orders?$select=Customer").entities {
            #expect(entity.values.names.allSatisfy { $0 == "OrderID" })
        }
    }
}
