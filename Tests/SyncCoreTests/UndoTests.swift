import EDM
import Operations
import SyncCore
import Testing

struct UndoTests {
    private let store: TestStore
    private let customer: EntityID
    private let order: EntityID

    init() throws {
        store = try TestStore()
        customer = try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("Ada")])
        order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
    }

    private func rename(_ name: String) throws -> SequenceNumber {
        try store.perform([.update(customer, changes: ["Name": .string(name)], bindings: [])])[0]
    }

    private func undo(_ operations: SequenceNumber...) throws -> [SequenceNumber] { try store.undo(Set(operations)) }

    // MARK: Undone operations

    @Test func `an undo restores a changed entity and a deleted one with its links, and removes a new one`() throws {
        let rename = try rename("Bea")
        let new = try store.create("Orders")
        let create = try store.state.header().applied
        let delete = try store.perform([.delete(order)])[0]
        #expect(try undo(rename, create, delete) == [rename, create, delete])
        #expect(try store.value(customer, "Name") == .string("Ada"))
        #expect(try store.state.row(new) == nil)
        #expect(try store.targets(customer, "Orders") == [order])
        #expect(try store.state.pendingOperations().isEmpty)
        #expect(try store.state.bookkeeping.undoneOperations().map(\.sequence) == [rename, create, delete])
    }

    @Test func `the first of two changes of a property can be undone, and the second one stays`() throws {
        let first = try rename("Bea")
        let second = try rename("Cyd")
        #expect(try undo(first) == [first])
        #expect(try store.value(customer, "Name") == .string("Cyd"))
        #expect(try undo(second) == [second])
        #expect(try store.value(customer, "Name") == .string("Ada"))
    }

    @Test func `a redone operation is at its former place`() throws {
        let first = try rename("Bea")
        let before = try store.digestOfContent()
        _ = try undo(first)
        let second = try rename("Cyd")
        try store.add(.operationsRedone([first]))
        #expect(try store.value(customer, "Name") == .string("Cyd"), "the second is still the later one")
        _ = try undo(second)
        try store.add(.operationsRedone([]))
        #expect(try store.value(customer, "Name") == .string("Bea"))
        #expect(try store.state.pendingOperations().map(\.sequence) == [first])
        #expect(try store.digestOfContent() != before, "the second is kept")
    }

    @Test func `a rejected operation is rejected again with its error when it is redone`() throws {
        let rename = try rename("Bea")
        let refusal = Refusal(status: 409, code: "c", message: "no", method: "PATCH", url: "Customers(1)")
        try store.add(.batchPrepared(BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: rename)]])))
        try store.add(
            .batchAnswered(
                BatchAnswered(batch: 1, outcomes: [.init(operation: rename, result: .rejected(refusal))])))
        _ = try undo(rename)
        #expect(try store.value(customer, "Name") == .string("Ada"))
        try store.add(.operationsRedone([rename]))
        #expect(try store.state.pendingOperation(rename)?.status == .rejected(refusal))
        #expect(try store.value(customer, "Name") == .string("Bea"))
    }

    @Test func `undo and redo of unknown operations change nothing`() throws {
        let rename = try rename("Bea")
        let before = try store.digestOfContent()
        try store.add(.operationsUndone([1, 500]))
        try store.add(.operationsRedone([rename, 1, 500]))
        #expect(try store.digestOfContent() == before)
        try store.add(.operationsUndone([rename, rename]))
        try store.add(.operationsUndone([rename]))
        try store.add(.operationsRedone([rename, rename]))
        try store.add(.operationsRedone([rename]))
        #expect(try store.digestOfContent() == before)
    }

    @Test func `operations that the service carried out cannot be undone`() throws {
        let rename = try rename("Bea")
        try store.add(.batchPrepared(BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: rename)]])))
        try store.add(
            .batchAnswered(
                BatchAnswered(batch: 1, outcomes: [.init(operation: rename, result: .confirmed(images: []))])))
        try store.add(.operationsUndone([rename]))
        #expect(try store.value(customer, "Name") == .string("Bea"))
        #expect(try store.state.bookkeeping.undoneOperations().isEmpty)
    }

    @Test func `an entity that the service no longer has is removed with the last operation on it`() throws {
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(
            .downloadPage(
                DownloadPage(
                    query: "All",
                    entities: [EntityImage(entity: customer, set: "Customers", type: "Shop.Customer", values: [:])])))
        try store.add(.downloadFinished(query: "All"))
        let first = try rename("Bea")
        let second = try rename("Cyd")
        try store.add(.downloadStarted(queries: ["All"]))
        try store.add(.downloadFinished(query: "All"))
        #expect(try store.state.row(customer)?.origin == .gone)
        _ = try undo(first)
        #expect(try store.value(customer, "Name") == .string("Cyd"))
        _ = try undo(second)
        #expect(try store.state.row(customer) == nil)
        #expect(try store.targets(order, "Customer") == [])
        #expect(try store.refusal(ofRedoing: [first, second])?.reason.code == .entityNotFound)
    }

    @Test func `an operation undone before a lost record is in doubt when it is redone`() throws {
        let rename = try rename("Bea")
        _ = try undo(rename)
        try store.add(.lost)
        #expect(try store.value(customer, "Name") == .string("Ada"))
        try store.add(.operationsRedone([rename]))
        guard case .inDoubt? = try store.state.pendingOperation(rename)?.status else {
            try Issue.record("\(String(describing: store.state.pendingOperation(rename)?.status))")
            return
        }
    }

    @Test func `a batch with an undone operation shows that a lost record redid it`() throws {
        let rename = try rename("Bea")
        _ = try undo(rename)
        try store.add(.lost)
        try store.add(.batchPrepared(BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: rename)]])))
        #expect(try store.state.pendingOperation(rename)?.status == .inFlight(1))
        #expect(try store.value(customer, "Name") == .string("Bea"))
        #expect(try store.state.bookkeeping.undoneOperations().isEmpty)
    }

    // MARK: Dependents

    @Test func `operations that refer to a new entity depend on its create`() throws {
        let new = try store.create("Customers")
        let create = try store.state.header().applied
        let update = try store.perform([.update(new, changes: ["Name": .string("x")], bindings: [])])[0]
        let move = try store.perform([.updateLink(link(order, "Customer", new))])[0]
        let rename = try rename("Bea")
        #expect(
            try store.dependants(of: [create]) == [
                update: .entity(new, createdBy: create), move: .entity(new, createdBy: create),
            ])
        #expect(try undo(create) == [create, update, move])
        #expect(try store.targets(order, "Customer") == [customer], "moved back")
        #expect(try store.state.pendingOperations().map(\.sequence) == [rename])
    }

    @Test func `operations that are legal only because of an operation depend on it`() throws {
        let father = try store.download("Fathers", ["FatherID": .integer(1)])
        let other = try store.download("Fathers", ["FatherID": .integer(2)])
        let child = try store.download("Children", ["ChildID": .integer(1), "FatherID": .integer(1)])
        let move = try store.perform([.updateLink(link(child, "Father", other))])[0]
        let delete = try store.perform([.delete(father)])[0]
        let found = try store.dependants(of: [move])
        guard case .forbidden(let refused)? = found[delete], found.count == 1 else {
            Issue.record("\(found)")
            return
        }
        #expect(refused.code == .mandatoryEnd)
        #expect(try undo(move) == [move, delete])
        #expect(try store.targets(child, "Father") == [father])
    }

    @Test func `an entity with the key of a deleted one depends on the delete`() throws {
        let delete = try store.perform([.delete(customer)])[0]
        let new = try store.create("Customers", ["CustomerID": .integer(1)])
        let create = try store.state.header().applied
        let update = try store.perform([.update(new, changes: ["Name": .string("x")], bindings: [])])[0]
        let found = try store.dependants(of: [delete])
        #expect(found.keys.sorted() == [create, update])
        #expect(found[update] == .entity(new, createdBy: create))
        _ = try undo(delete)
        #expect(try store.state.allRows.map(\.id) == [customer, order])
    }

    @Test func `a change set is undone as a whole, with its dependents`() throws {
        let free = try store.newID()
        let members = try store.perform(
            [
                .update(customer, changes: ["Name": .string("x")], bindings: []),
                .create(store.creation(free, "Orders"), parent: nil),
            ], changeSet: true)
        let update = try store.perform([.update(free, changes: ["Note": .string("n")], bindings: [])])[0]
        #expect(
            try store.dependants(of: [members[0]]) == [
                members[1]: .changeSet(with: members[0]), update: .entity(free, createdBy: members[1]),
            ])
    }

    @Test func `an operation that a change of the service has made illegal is not a dependent`() throws {
        let rename = try rename("Bea")
        let unlink = try store.perform([.deleteLink(link(customer, "Orders", order))])[0]
        try store.add(
            .entitiesRead([
                EntityImage(entity: order, set: "Orders", type: "Shop.Order", values: ["CustomerID": .null])
            ]))
        #expect(try store.dependants(of: [rename]).isEmpty)
        #expect(try undo(rename) == [rename])
        #expect(try store.state.pendingOperations().map(\.sequence) == [unlink])
    }

    @Test func `searching for dependents changes nothing`() throws {
        let new = try store.create("Customers")
        let create = try store.state.header().applied
        _ = try store.perform([.updateLink(link(order, "Customer", new))])
        let before = try store.digest()
        _ = try store.dependants(of: [create])
        #expect(try store.digest() == before)
    }

    // MARK: Redo

    @Test func `a redo is refused by the rule that a later operation would break`() throws {
        _ = try store.create("Customers", ["CustomerID": .integer(7)])
        let create = try store.state.header().applied
        _ = try undo(create)
        _ = try store.create("Customers", ["CustomerID": .integer(7)])
        let second = try store.state.header().applied
        let before = try store.digest()
        let refusal = try store.refusal(ofRedoing: [create])
        #expect(refusal?.operation == second)
        #expect(refusal?.reason.code == .duplicateKey)
        #expect(try store.digest() == before)
        _ = try undo(second)
        #expect(try store.refusal(ofRedoing: [create]) == nil)
    }

    @Test func `a redo without the create that it depends on is refused`() throws {
        let new = try store.create("Customers")
        let create = try store.state.header().applied
        let update = try store.perform([.update(new, changes: ["Name": .string("x")], bindings: [])])[0]
        _ = try undo(create)
        #expect(try store.refusal(ofRedoing: [update])?.operation == update)
        #expect(try store.refusal(ofRedoing: [update])?.reason.code == .entityNotFound)
        #expect(try store.refusal(ofRedoing: [create, update]) == nil)
    }
}

extension TestStore {
    /// Returns the digest of the state without the last sequence number, which each record increases.
    func digestOfContent() throws -> StateDigest {
        let header = try state.header()
        defer { try? state.setHeader(header) }
        var content = header
        content.applied = 0
        try state.setHeader(content)
        return try digest()
    }
}
