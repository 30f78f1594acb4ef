import EDM
import Operations
import SyncCore
import Testing

/// Effects of own operations that a service shows in another form, or together with other changes.
extension ConflictTests {
    @Test func `a normalized form of the own value does not conflict with an update that was made after the upload`()
        throws
    {
        try store.confirm(try rename("  Bob  "))
        try rename("Cleo")
        try others("Bob", etag: "2")
        #expect(try conflict() == nil)
    }

    @Test func `a normalized form under the ETag of the own update does not conflict with the next update`() throws {
        let values: PropertyValues = ["CustomerID": .integer(1)]
        try store.confirm(try rename("  Bob  "), [image(customer, values, etag: "2")])
        try rename("Cleo")
        try others("Bob", etag: "2")
        #expect(try conflict() == nil)
    }

    @Test(arguments: ["2", "3"])
    func `an effect of the own update under its ETag does not conflict with a later deletion`(_ etag: String) throws {
        let values: PropertyValues = ["OrderID": .integer(1), "Note": .string("a"), "CustomerID": .null]
        let order = try store.download("Orders", values, etag: "1")
        let update = try store.perform([.update(order, changes: ["Note": .string("b")], bindings: [])])[0]
        let answer = EntityImage(entity: order, set: "Orders", type: "Shop.Order", values: [:], etag: "2")
        try store.confirm(update, [answer])
        try store.perform([.delete(order)])
        let now: PropertyValues = ["OrderID": .integer(1), "Note": .string("b"), "CustomerID": .integer(4)]
        try store.download("Orders", now, etag: etag)
        #expect(try (conflict(order) != nil) == (etag == "3"))
    }

    @Test(arguments: ["  Bob  ", "Bob", "Eve"])
    func `a change by another client after the own update is found, unless the service may have made it`(
        _ theirs: String
    ) throws {
        try store.confirm(try rename("Bob"), [image(customer, ["CustomerID": .integer(1)], etag: "2")])
        try rename("Cleo")
        try others(theirs, etag: "3")
        #expect(try (conflict() != nil) == (theirs != "Bob"))
    }

    /// The link changes the ETag, so the read does not show whether another client has changed the name as well.
    @Test(arguments: ["BOB", "Eve"])
    func `a value that is read after an update and a link conflicts unless the service may have normalized it`(
        _ read: String
    ) throws {
        let first = try rename("bob")
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .null], etag: "1")
        let linked = try store.perform([.createLink(Link(from: customer, navigation: "Orders", to: order))])[0]
        try rename("Cleo")
        try store.confirm(first, [image(customer, ["CustomerID": .integer(1)], etag: "2")])
        try store.confirm(linked)
        try others(read, etag: "4")
        #expect(try (conflict() != nil) == (read == "Eve"))
    }

    @Test
    func `a link in doubt whose effect a read has shown is no conflict with a later deletion after its resolution`()
        throws
    {
        let second = try store.download("Customers", ["CustomerID": .integer(2)])
        let order = try store.download(
            "Orders", ["OrderID": .integer(1), "Note": .string("a"), "CustomerID": .integer(1)])
        let linked = try store.perform([.updateLink(link(order, "Customer", second))])[0]
        try store.add(
            .batchPrepared(BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: linked)]])))
        try store.add(.batchInterrupted(BatchInterrupted(batch: 1, reason: "cut")))
        try store.perform([.delete(order)])
        try store.download("Orders", ["OrderID": .integer(1), "Note": .string("a"), "CustomerID": .integer(2)])
        try store.confirm(linked)
        #expect(try conflict(order) == nil)
    }
}
