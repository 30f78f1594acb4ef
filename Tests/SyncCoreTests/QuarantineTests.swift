import EDM
import Operations
import SyncCore
import Testing

/// Entities that downloads delivered and the store could not accept.
struct QuarantineTests {
    private let store: TestStore

    init() throws {
        store = try TestStore()
        try store.add(.definingQueryAdded(DefiningQuery(name: "Other", query: "Orders")))
    }

    private func refused(
        _ name: String?, query: String = "All", path: String = "", hidesOthers: Bool = false, count: UInt64 = 1
    ) -> QuarantinedEntity {
        QuarantinedEntity(
            query: query, set: "Customers", name: name, reason: .tooLarge, path: path, message: "m",
            hidesOthers: hidesOthers, count: count)
    }

    private func entries() throws -> [QuarantinedEntity] {
        try store.state.bookkeeping.quarantine().map(\.entity)
    }

    /// Delivers a customer in a full download, and returns its ID.
    private func delivered() throws -> EntityID {
        let id = try store.newID()
        let image = EntityImage(
            entity: id, set: "Customers", type: "Shop.Customer", values: ["CustomerID": .integer(1)])
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.downloadPage(DownloadPage(query: "All", entities: [image])))
        try store.add(.downloadFinished(DownloadFinished(query: "All", deltaLink: "d")))
        return id
    }

    @Test func `an entity has one entry for each query and path, the latest one`() throws {
        let variants = [refused("a"), refused("b"), refused("a", query: "Other"), refused("a", path: "/Orders")]
        try store.add(.entitiesQuarantined(variants))
        let again = QuarantinedEntity(query: "All", set: "Customers", name: "a", reason: .unreadable, message: "again")
        try store.add(.entitiesQuarantined([again]))
        #expect(try entries() == Array(variants[1...]) + [again])
    }

    @Test func `entities without a name are separate entries`() throws {
        try store.add(.entitiesQuarantined([refused(nil), refused(nil)]))
        #expect(try entries().count == 2)
    }

    @Test func `entities above the limit of a query are counted in its last entry`() throws {
        let limit = QuarantinedEntity.limit
        try store.add(.entitiesQuarantined((0..<limit).map { refused("\($0)") }))
        try store.add(.entitiesQuarantined([refused("other", query: "Other")]))
        #expect(try entries().allSatisfy { $0.reason == .tooLarge })
        try store.add(.entitiesQuarantined([refused("x", count: 3), refused("y", hidesOthers: true)]))
        let all = try entries()
        #expect(all.count == limit + 1)
        let last = try #require(all.last { $0.query == "All" })
        #expect(last.reason == .further)
        #expect(last.name == nil)
        #expect(last.count == 1 + 3 + 1, "the replaced entry and those above the limit")
        #expect(last.hidesOthers)
        try store.add(.entitiesQuarantined([refused("z")]))
        #expect(try entries().last { $0.query == "All" }?.hidesOthers == true)
    }

    @Test func `the count of further entities stays at its maximum`() throws {
        try store.add(.entitiesQuarantined((0..<QuarantinedEntity.limit).map { refused("\($0)") }))
        try store.add(.entitiesQuarantined([refused("x", count: .max)]))
        #expect(try entries().count == QuarantinedEntity.limit)
        #expect(try entries().last?.count == .max)
    }

    @Test func `a finished download keeps only its own entries`() throws {
        try store.add(.entitiesQuarantined([refused("old"), refused("other", query: "Other")]))
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.entitiesQuarantined([refused("new")]))
        try store.add(.downloadFinished(query: "All"))
        #expect(try entries().map(\.name) == ["other", "new"])
    }

    @Test func `a delta keeps the entries since its start`() throws {
        _ = try delivered()
        try store.add(.entitiesQuarantined([refused("old")]))
        try store.add(.downloadStarted([QueryStart(query: "All", mode: .delta)]))
        try store.add(.entitiesQuarantined([refused("new")]))
        try store.add(.downloadFinished(DownloadFinished(query: "All", deltaLink: "d2")))
        #expect(try entries().map(\.name) == ["new"])
    }

    @Test func `the entries of a query are removed with it`() throws {
        try store.add(.entitiesQuarantined([refused("a"), refused("b", query: "Other")]))
        try store.add(.definingQueryRemoved(name: "All"))
        #expect(try entries().map(\.name) == ["b"])
    }

    @Test(arguments: [true, false])
    func `an entity that may be any other prevents removals`(_ hidesOthers: Bool) throws {
        let id = try delivered()
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.entitiesQuarantined([refused(nil, hidesOthers: hidesOthers)]))
        try store.add(.downloadFinished(query: "All"))
        #expect(try (store.state.row(id) != nil) == hidesOthers)
    }

    @Test func `an entity that hides others in one query does not prevent the removals of another one`() throws {
        let id = try delivered()
        try store.add(.downloadStarted(queries: ["All", "Other"]))
        try store.add(.entitiesQuarantined([refused(nil, query: "Other", hidesOthers: true)]))
        try store.add(.downloadFinished(query: "All"))
        #expect(try store.state.row(id) == nil)
    }

    @Test func `the dangling links of a query are removed with it, and by its next full download`() throws {
        func open(_ query: String) -> OpenLink {
            OpenLink(query: query, set: "Customers", source: "Customers(1)", navigation: "Orders", target: "Orders(9)")
        }
        try store.add(.linksLeftOpen([open("All"), open("Other")]))
        try store.add(.downloadStarted([QueryStart(query: "All", mode: .delta)]))
        #expect(try store.state.bookkeeping.openLinks() == [open("All"), open("Other")])
        try store.add(.downloadStarted(queries: ["All"]))
        #expect(try store.state.bookkeeping.openLinks() == [open("Other")])
        try store.add(.definingQueryRemoved(name: "Other"))
        #expect(try store.state.bookkeeping.openLinks() == [])
    }
}
