import EDM
import Operations
import SyncCore
import Testing

/// Pending operations and changes by other clients.
@Suite struct ConflictTests {
    let store: TestStore
    let customer: EntityID

    init() throws {
        store = try TestStore()
        customer = try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("Ada")], etag: "1")
    }

    func conflict(_ id: EntityID? = nil) throws -> Conflict? {
        try ConflictFinder(storage: store.state, model: store.model, index: RelationshipIndex(store.model)).conflict(
            on: id ?? customer)
    }

    @discardableResult
    func rename(_ name: String, of id: EntityID? = nil) throws -> SequenceNumber {
        try store.perform([.update(id ?? customer, changes: ["Name": .string(name)], bindings: [])])[0]
    }

    func others(_ name: String, etag: String = "2") throws {
        try store.download("Customers", ["CustomerID": .integer(1), "Name": .string(name)], etag: etag)
    }

    func image(_ id: EntityID, _ values: PropertyValues, etag: String? = "2") -> EntityImage {
        EntityImage(entity: id, set: "Customers", type: "Shop.Customer", values: values, etag: etag)
    }

    @Test func `an entity without a pending change has no merge base`() throws {
        try others("Eve")
        #expect(try store.state.bookkeeping.mergeBases() == [])
    }

    @Test func `operations that only refer to an entity are not changes of it`() throws {
        let order = try EntityID(rawValue: store.state.header().nextEntity.rawValue)
        let creation = Creation(
            entity: order, set: "Orders", type: "Shop.Order", values: ["OrderID": .integer(7)],
            bindings: [Binding(navigation: "Customer", targets: [customer])])
        let created = try store.perform([.create(creation, parent: nil)])[0]
        #expect(try store.state.pendingOperations(naming: customer) == [created])
        #expect(try !store.state.hasPendingChange(of: customer))
        let renamed = try rename("Bob")
        #expect(try store.state.pendingOperations(changing: customer) == [renamed])
        #expect(try store.state.hasPendingChange(of: customer))
        try store.undo([renamed])
        #expect(try !store.state.hasPendingChange(of: customer))
    }

    @Test func `a property that both clients changed has three versions`() throws {
        let operation = try rename("Bob")
        try others("Eve")
        let conflict = try #require(try conflict())
        #expect(conflict.operations == [operation])
        #expect(conflict.isOverlapping)
        let name = try #require(conflict.properties.first)
        #expect(name.base == .string("Ada"))
        #expect(name.mine == .string("Bob"))
        #expect(name.theirs == .string("Eve"))
    }

    @Test func `an operation in doubt hides changes by other clients, except for a link in a collection`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(7)])
        let linked = try store.perform([.createLink(link(customer, "Orders", order))])[0]
        let renamed = try rename("Bob")
        try others("Eve")
        for (operation, isHidden) in [(linked, false), (renamed, true)] {
            let batch = try store.state.header().nextBatch
            try store.add(
                .batchPrepared(
                    BatchPrepared(batch: batch, changeSets: [[.init(contentID: "1", operation: operation)]])))
            try store.add(.batchInterrupted(BatchInterrupted(batch: batch, reason: "No answer.")))
            #expect(try (conflict() == nil) == isHidden)
        }
    }

    private func interrupt(_ operation: SequenceNumber) throws {
        let batch = try store.state.header().nextBatch
        try store.add(
            .batchPrepared(BatchPrepared(batch: batch, changeSets: [[.init(contentID: "1", operation: operation)]])))
        try store.add(.batchInterrupted(BatchInterrupted(batch: batch, reason: "No answer.")))
    }

    @Test(arguments: [("a", false), ("theirs", true)])
    func `a link in doubt hides its own effect, but no change of another property`(
        _ theirs: String, _ isConflict: Bool
    ) throws {
        let order = try store.download(
            "Orders", ["OrderID": .integer(7), "Note": .string("a"), "CustomerID": .null], etag: "1")
        let operations = try store.perform([
            .update(order, changes: ["Note": .string("mine")], bindings: []),
            .updateLink(link(order, "Customer", customer)),
        ])
        try interrupt(operations[1])
        try store.download(
            "Orders", ["OrderID": .integer(7), "Note": .string(theirs), "CustomerID": .integer(1)], etag: "2")
        let conflict = try conflict(order)
        #expect((conflict != nil) == isConflict)
        guard let conflict else { return }
        #expect(conflict.isOverlapping)
        #expect(conflict.operations == [operations[0]])
        #expect(conflict.properties.map(\.name) == ["Note"])
        #expect(conflict.links.isEmpty)
    }

    @Test func `a resolution does not concern the properties of an operation in doubt`() throws {
        let order = try store.download(
            "Orders", ["OrderID": .integer(7), "Note": .string("a"), "CustomerID": .null], etag: "1")
        let operations = try store.perform([
            .update(order, changes: ["Note": .string("mine")], bindings: []),
            .update(order, changes: ["Note": .string("later"), "CustomerID": .integer(1)], bindings: []),
        ])
        try interrupt(operations[0])
        try store.download(
            "Orders", ["OrderID": .integer(7), "Note": .string("theirs"), "CustomerID": .integer(5)], etag: "2")
        let found = try #require(try conflict(order))
        #expect(found.operations == [operations[1]])
        #expect(found.properties.filter(\.isOverlapping).map(\.name) == ["CustomerID"])
        try store.add(.conflictResolved(ConflictResolved(entity: order, decision: .clientWins)))
        #expect(try conflict(order) == nil)
        try store.add(.operationsReleased([operations[0]]))
        #expect(try conflict(order)?.properties.filter(\.isOverlapping).map(\.name) == ["Note"])
    }

    @Test(arguments: [("2", false), ("3", true)])
    func `after a confirmed change with only an ETag in the response, a different ETag is a conflict`(
        _ etag: String, _ isConflict: Bool
    ) throws {
        let first = try rename("Bob")
        try rename("Rob")
        try store.confirm(first, [image(customer, [:], etag: "2")])
        try others("BOB", etag: etag)
        #expect(try (conflict() != nil) == isConflict)
    }

    @Test func `another value after an operation in doubt was confirmed without a response is a conflict`() throws {
        let first = try rename("Bob")
        try rename("Rob")
        try store.confirm(first, isInDoubt: true)
        #expect(try conflict() == nil)
        try others("Eve")
        let name = try #require(try conflict()?.properties.first)
        #expect(name.base == .string("Bob"))
        #expect(name.theirs == .string("Eve"))
    }

    @Test func `a change after a read that showed an operation in doubt is a conflict with later operations`() throws {
        let first = try rename("Bob")
        try rename("Rob")
        try others("Bob")
        try store.confirm(first)
        #expect(try conflict() == nil)
        try others("Eve", etag: "3")
        let name = try #require(try conflict()?.properties.first)
        #expect(name.base == .string("Bob"))
        #expect(name.theirs == .string("Eve"))
    }

    @Test func `equal changes of both clients do not overlap`() throws {
        try rename("Eve")
        try others("Eve")
        #expect(try conflict()?.isOverlapping == false)
    }

    @Test func `a different ETag alone is no conflict`() throws {
        try rename("Bob")
        try others("Ada", etag: "9")
        #expect(try store.state.bookkeeping.mergeBases() == [])
    }

    @Test func `a change that the other client reverts is no longer a conflict`() throws {
        try rename("Bob")
        try others("Eve")
        try others("Ada", etag: "3")
        #expect(try store.state.bookkeeping.mergeBases() == [])
    }

    @Test func `the merge base is that of the oldest pending update, also after later downloads and updates`() throws {
        try rename("Bob")
        try others("Eve")
        try rename("Cleo")
        try others("Fay", etag: "3")
        let name = try #require(try conflict()?.properties.first)
        #expect(name.base == .string("Ada"))
        #expect(name.mine == .string("Cleo"))
        #expect(name.theirs == .string("Fay"))
    }

    @Test func `an update of a property that a download has just changed has the downloaded value as its base`() throws
    {
        let order = try store.download("Orders", ["OrderID": .integer(1), "Note": .string("a")], etag: "1")
        try store.perform([.update(order, changes: ["CustomerID": .integer(1)], bindings: [])])
        try store.download("Orders", ["OrderID": .integer(1), "Note": .string("b")], etag: "2")
        #expect(try conflict(order)?.isOverlapping == false)
        try store.perform([.update(order, changes: ["Note": .string("c")], bindings: [])])
        #expect(try conflict(order) == nil)
    }

    @Test func `successive updates of the same client do not conflict`() throws {
        let first = try rename("Bob")
        try rename("Cleo")
        try store.confirm(first, [image(customer, ["CustomerID": .integer(1), "Name": .string("Bob")])])
        #expect(try store.state.bookkeeping.mergeBases() == [])
    }

    @Test func `a normalized form of the own value does not conflict with the next update`() throws {
        let first = try rename("  Bob  ")
        try rename("Cleo")
        // The response has no body and no ETag, so the entity is read.
        try store.confirm(first)
        try others("Bob", etag: "2")
        #expect(try conflict() == nil)
    }

    @Test func `a property that the service changes together with the own update is no conflict under any policy`()
        throws
    {
        let order = try store.download("Orders", ["OrderID": .integer(1), "Note": .string("a")], etag: "1")
        let operations = try store.perform([
            .update(order, changes: ["CustomerID": .integer(1)], bindings: []),
            .update(order, changes: ["CustomerID": .null], bindings: []),
        ])
        try store.confirm(operations[0])
        // The service changed the note because of the update.
        try store.download(
            "Orders", ["OrderID": .integer(1), "Note": .string("changed"), "CustomerID": .integer(1)], etag: "2")
        #expect(try conflict(order) == nil)
        try store.perform([.delete(order)])
        #expect(try conflict(order) == nil)
    }

    @Test func `a change by another client is also found in the response to the own update`() throws {
        // The service has no ETags, so the request was unconditional.
        let order = try store.download("Orders", ["OrderID": .integer(1), "Note": .string("a")])
        let first = try store.perform([.update(order, changes: ["CustomerID": .integer(1)], bindings: [])])[0]
        try store.perform([.update(order, changes: ["Note": .string("mine")], bindings: [])])
        try store.confirm(
            first,
            [
                EntityImage(
                    entity: order, set: "Orders", type: "Shop.Order",
                    values: ["OrderID": .integer(1), "CustomerID": .integer(1), "Note": .string("theirs")])
            ])
        let note = try #require(try conflict(order)?.properties.first { $0.isOverlapping })
        #expect(note.base == .string("a"))
        #expect(note.theirs == .string("theirs"))
    }

    @Test func `another entity in the response to an own change may have been changed by another client`() throws {
        let other = try store.download(
            "Orders", ["OrderID": .integer(1), "Note": .string("a"), "CustomerID": .integer(4)], etag: "1")
        try store.perform([.update(other, changes: ["Note": .string("mine")], bindings: [])])
        let first = try rename("Bob")
        let values: PropertyValues = ["OrderID": .integer(1), "Note": .string("theirs"), "CustomerID": .integer(5)]
        try store.confirm(
            first, [EntityImage(entity: other, set: "Orders", type: "Shop.Order", values: values, etag: "2")])
        let conflict = try #require(try conflict(other))
        #expect(conflict.isOverlapping)
        #expect(conflict.properties.map(\.name) == ["CustomerID", "Note"])
    }

    @Test func `a merge base ends when the response shows that the later change has the same base`() throws {
        let first = try rename("Bob")
        try rename("Cleo")
        try others("Eve")
        #expect(try store.state.bookkeeping.mergeBases() == [customer])
        try store.confirm(first, [image(customer, ["CustomerID": .integer(1), "Name": .string("Bob")], etag: "3")])
        #expect(try store.state.bookkeeping.mergeBases() == [])
        #expect(try store.value(customer, "Name") == .string("Cleo"))
    }

    @Test func `a merge base ends when the update of its only difference is confirmed, also without a response body`()
        throws
    {
        let order = try store.download(
            "Orders", ["OrderID": .integer(1), "Note": .string("a"), "CustomerID": .null], etag: "1")
        let first = try store.perform([.update(order, changes: ["Note": .string("mine")], bindings: [])])[0]
        try store.perform([.update(order, changes: ["CustomerID": .integer(1)], bindings: [])])
        try store.download(
            "Orders", ["OrderID": .integer(1), "Note": .string("theirs"), "CustomerID": .null], etag: "2")
        #expect(try store.state.bookkeeping.mergeBases() == [order])
        try store.confirm(first)
        #expect(try store.state.bookkeeping.mergeBases() == [])
    }

    @Test func `an operation in doubt whose effect a download contains is no conflict, before or after its resolution`()
        throws
    {
        let first = try rename("Bob")
        try rename("Cleo")
        try store.add(
            .batchPrepared(BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: first)]])))
        try store.add(.batchInterrupted(BatchInterrupted(batch: 1, reason: "cut")))
        try others("Bob")
        #expect(try conflict() == nil)
        try store.add(
            .batchAnswered(BatchAnswered(batch: 1, outcomes: [.init(operation: first, result: .confirmed(images: []))]))
        )
        try others("Bob", etag: "3")
        #expect(try conflict() == nil)
    }

    @Test func `a delete by another client conflicts with a local update`() throws {
        let operation = try rename("Bob")
        try store.add(.entitiesMissing([customer]))
        let conflict = try #require(try conflict())
        #expect(conflict.kind == .deletedByOthers)
        #expect(conflict.operations == [operation])
    }

    @Test func `an entity without pending operations is removed if the service does not have it`() throws {
        try store.add(.entitiesMissing([customer]))
        #expect(try store.state.row(customer) == nil)
    }

    @Test func `a local delete conflicts with an update by another client`() throws {
        try store.perform([.delete(customer)])
        try others("Eve")
        let conflict = try #require(try conflict())
        #expect(conflict.kind == .deletedHere)
        #expect(conflict.properties.first?.theirs == .string("Eve"))
    }

    @Test func `a delete by both clients is no conflict`() throws {
        try store.perform([.delete(customer)])
        try store.add(.entitiesMissing([customer]))
        #expect(try conflict() == nil)
    }

    @Test func `a single-valued link that both clients moved has three targets`() throws {
        let person = try store.download("Persons", ["PersonID": .integer(1)])
        let cards = try (1...3).map { try store.download("IDCards", ["IDCardID": .integer($0)]) }
        func shown(_ card: EntityID) throws {
            try store.add(
                .entitiesRead([
                    EntityImage(
                        entity: card, set: "IDCards", type: "Shop.IDCard", values: ["PersonID": .integer(1)])
                ]))
        }
        try shown(cards[0])
        try store.perform([.updateLink(link(person, "IDCard", cards[1]))])
        try shown(cards[2])
        let difference = try #require(try conflict(person)?.links.first)
        #expect(difference.base == cards[0])
        #expect(difference.mine == cards[1])
        #expect(difference.theirs == cards[2])
        #expect(difference.isOverlapping)
    }

    @Test func `a link to an entity is no change of the entity`() throws {
        try store.create("Orders", bindings: [Binding(navigation: "Customer", targets: [customer])])
        try others("Eve")
        #expect(try store.state.bookkeeping.mergeBases() == [])
    }

    @Test func `undoing the update ends the conflict`() throws {
        let operation = try rename("Bob")
        try others("Eve")
        try store.undo([operation])
        #expect(try store.state.bookkeeping.mergeBases() == [])
        #expect(try store.value(customer, "Name") == .string("Eve"))
    }

    @Test func `the removal of a defining query is no change by another client`() throws {
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(
            .downloadPage(
                DownloadPage(query: "All", entities: [image(customer, ["CustomerID": .integer(1)], etag: "1")])))
        try store.add(.downloadFinished(query: "All"))
        try rename("Bob")
        try store.add(.definingQueryRemoved(name: "All"))
        #expect(try store.state.bookkeeping.mergeBases() == [])
    }

    @Test func `a changed key of the service is adopted and causes no conflict`() throws {
        try rename("Bob")
        try store.add(.entitiesRead([image(customer, ["CustomerID": .integer(7), "Name": .string("Ada")])]))
        #expect(try conflict()?.isOverlapping == false)
    }

    @Test func `only operations in a conflict are held back`() throws {
        let held = try rename("Bob")
        let other = try store.download("Customers", ["CustomerID": .integer(2), "Name": .string("Zoe")], etag: "1")
        let free = try rename("Zara", of: other)
        try others("Eve")
        let plan = try UploadPlanner(storage: store.state, model: store.model).plan()
        #expect(plan.held == [held: .conflict(customer)])
        #expect(plan.changeSets.flatMap(\.operations) == [free])
    }
}
