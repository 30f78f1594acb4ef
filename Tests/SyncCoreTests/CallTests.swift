import EDM
import ODataWire
import Operations
import SeededRandom
import SyncCore
import Testing

extension TestModel {
    /// The model with an action `Touch` for each entity type, and an import without a binding.
    static let withActions: ServiceDescription = {
        let types = [
            "Customer", "Order", "Owner", "Car", "City", "Mayor", "Father", "Child", "Person", "IDCard", "Supplier",
            "Product",
        ]
        let actions = types.map {
            #"<Action Name="Touch" IsBound="true" EntitySetPath="it"><Parameter Name="it" Type="Shop.\#($0)" Nullable="false"/>"#
                + #"<ReturnType Type="Shop.\#($0)"/></Action>"#
        }.joined()
        let other =
            #"<Action Name="Compare"><Parameter Name="with" Type="Shop.Order" Nullable="false"/></Action>"#
            + #"<Action Name="Run"/><Action Name="List"><ReturnType Type="Collection(Shop.Order)"/></Action>"#
        let imports =
            #"<ActionImport Name="Compare" Action="Shop.Compare"/><ActionImport Name="Run" Action="Shop.Run"/>"#
            + #"<ActionImport Name="List" Action="Shop.List" EntitySet="Orders"/></EntityContainer>"#
        let text = metadata.replacing(
            "<EntityContainer", with: "\(actions)\(other)<EntityContainer", maxReplacements: 1
        )
        .replacing("</EntityContainer>", with: imports)
        return ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array(text.utf8))
    }()
}

extension ActionCall {
    static func touch(_ id: EntityID, answer: Answer = .byKey) -> ActionCall {
        ActionCall("Shop.Touch", on: .entity(id), answer: answer)
    }
}

extension TestStore {
    /// Validates and applies a call. Returns its sequence number.
    @discardableResult
    func call(
        _ call: ActionCall, _ effect: Operation.Action? = nil, changeSet: SequenceNumber? = nil
    ) throws -> SequenceNumber {
        let operation = Operation(
            effect ?? .update(call.boundEntity ?? .unbound, changes: [:], bindings: []), changeSet: changeSet,
            call: call)
        try OperationRules(storage: state, model: model).check(operation)
        return try add(.operation(operation))
    }
}

/// Plans of calls.
struct CallTests {
    let store: TestStore

    init() throws { store = try TestStore(TestModel.withActions) }

    // MARK: Plans

    @Test func `a call is a request of its own with the ETag of its entity`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)], etag: "\"1\"")
        try store.call(.touch(order))
        let plan = try store.plan()
        #expect(store.requests(plan) == ["POST Orders(1)/Shop.Touch "])
        #expect(plan.changeSets[0].requests[0].modification.ifMatch == "\"1\"")
    }

    @Test func `an import that is refused does not hold the next import`() throws {
        let first = try store.call(ActionCall("Run"))
        let second = try store.call(ActionCall("Run"))
        try store.answer(try store.plan(), refusing: [first])
        #expect(try store.state.pendingOperations().map(\.sequence) == [first])
        #expect(second > first)
    }

    @Test func `imports are sent in the order of the queue`() throws {
        let calls = [
            try store.call(ActionCall("Run")), try store.call(ActionCall("List")), try store.call(ActionCall("Run")),
        ]
        #expect(store.groups(try store.plan()) == calls.map { [$0] })
    }

    @Test func `a later change of the bound entity waits for the call`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)], etag: "\"1\"")
        let called = try store.call(.touch(order))
        let changed = try store.perform([.update(order, changes: ["Note": .string("x")], bindings: [])])[0]
        let plan = try store.plan()
        #expect(store.groups(plan) == [[called]])
        #expect(plan.held[changed] == .waitsFor(called))
    }

    @Test func `a call waits for a new entity that is an argument`() throws {
        let order = try store.create("Orders")
        let created = try store.state.header().applied
        let called = try store.call(ActionCall("Compare", [.init("with", .entity(.reference(order)))]))
        let plan = try store.plan()
        #expect(store.groups(plan) == [[created]])
        #expect(plan.held[called] == .waitsFor(created))
    }

    @Test func `in a change set a call refers to a new entity by Content-ID`() throws {
        let order = try store.newID()
        let first = try store.state.header().applied + 1
        try store.add(
            .operation(Operation(.create(store.creation(order, "Orders"), parent: nil), changeSet: first)))
        try store.call(.touch(order), changeSet: first)
        #expect(store.requests(try store.plan()) == ["POST Orders {}", "POST $1/Shop.Touch "])
    }

    @Test func `without Content-ID references, such a change set is held back with the reason`() throws {
        let order = try store.newID()
        let first = try store.state.header().applied + 1
        try store.add(
            .operation(Operation(.create(store.creation(order, "Orders"), parent: nil), changeSet: first)))
        let called = try store.call(.touch(order), changeSet: first)
        store.service = ServiceOptions(contentIDReferences: .none)
        let plan = try store.plan()
        #expect(plan.isEmpty)
        guard case .noLegalPlan = plan.held[called] else {
            Issue.record("it is held because of \(String(describing: plan.held[called]))")
            return
        }
    }

    @Test(arguments: [true, false], [ServiceOptions.ContentIDReferences.urlsAndBodies, .urlsPreferred])
    func `without PATCH, a change set with an update after a call of its entity is held with the reason`(
        _ isNew: Bool, _ references: ServiceOptions.ContentIDReferences
    ) throws {
        let first: SequenceNumber
        let order: EntityID
        if isNew {
            order = try store.newID()
            first = try store.state.header().applied + 1
            try store.add(
                .operation(Operation(.create(store.creation(order, "Orders"), parent: nil), changeSet: first)))
        } else {
            order = try store.download(
                "Orders", ["OrderID": .integer(1), "Note": .null, "CustomerID": .null], etag: "\"1\"")
            first = try store.state.header().applied + 1
        }
        let called = try store.call(.touch(order), changeSet: first)
        try store.add(
            .operation(
                Operation(.update(order, changes: ["Note": .string("n")], bindings: []), changeSet: first)))
        #expect(try store.plan().changeSets.count == 1)
        store.service = ServiceOptions(supportsPatch: false, contentIDReferences: references)
        let plan = try store.plan()
        #expect(plan.isEmpty, "\(store.requests(plan))")
        guard case .noLegalPlan(let reason) = plan.held[called] else {
            Issue.record("it is held because of \(String(describing: plan.held[called]))")
            return
        }
        #expect(reason.contains("PUT"))
    }

    @Test func `without Content-ID references, a link of a new entity does not move before a call of its other end`()
        throws
    {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.newID()
        let first = try store.state.header().applied + 1
        try store.add(
            .operation(Operation(.create(store.creation(order, "Orders"), parent: nil), changeSet: first)))
        let called = try store.call(.touch(customer), changeSet: first)
        try store.add(.operation(Operation(.createLink(link(order, "Customer", customer)), changeSet: first)))
        store.service = ServiceOptions(contentIDReferences: .none)
        let plan = try store.plan()
        #expect(plan.isEmpty, "\(store.requests(plan))")
        guard case .noLegalPlan = plan.held[called] else {
            Issue.record("it is held because of \(String(describing: plan.held[called]))")
            return
        }
    }

    @Test func `without Content-ID references, a link by values does not move before a call of its other end`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.newID()
        let first = try store.state.header().applied + 1
        try store.add(
            .operation(Operation(.create(store.creation(order, "Orders"), parent: nil), changeSet: first)))
        _ = try store.call(.touch(customer), changeSet: first)
        let changes = Operation(
            .update(order, changes: ["CustomerID": .integer(1)], bindings: []), changeSet: first)
        try store.add(.operation(changes))
        store.service = ServiceOptions(contentIDReferences: .none)
        let plan = try store.plan()
        #expect(plan.isEmpty, "\(store.requests(plan))")
    }

    @Test func `without Content-ID references, a link is a binding of a creation that follows the call`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let first = try store.call(.touch(customer), changeSet: try store.state.header().applied + 1)
        let order = try store.newID()
        try store.add(
            .operation(Operation(.create(store.creation(order, "Orders"), parent: nil), changeSet: first)))
        try store.add(.operation(Operation(.createLink(link(order, "Customer", customer)), changeSet: first)))
        store.service = ServiceOptions(contentIDReferences: .none)
        let plan = try store.plan()
        let requests = store.requests(plan)
        #expect(requests.count == 2, "\(plan.held)")
        #expect(requests.first == "POST Customers(1)/Shop.Touch ")
    }

    @Test func `the declared effect of a call is not sent, not even to a service without PATCH`() throws {
        let order = try store.download(
            "Orders", ["OrderID": .integer(1), "Note": .null, "CustomerID": .null], etag: "\"1\"")
        try store.call(.touch(order), .update(order, changes: ["Note": .string("x")], bindings: []))
        store.service = ServiceOptions(supportsPatch: false)
        #expect(store.requests(try store.plan()) == ["POST Orders(1)/Shop.Touch "])
        #expect(try store.value(order, "Note") == .string("x"))
    }

    @Test func `a deletion as declared effect cancels nothing out`() throws {
        let order = try store.create("Orders")
        try store.call(.touch(order), .delete(order))
        let plan = try store.plan { $0.coalesces = true }
        #expect(plan.elided.isEmpty)
        #expect(store.requests(plan) == ["POST Orders {}"])
    }

    @Test func `a change after a call of the same entity in its change set does not have the former ETag`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)], etag: "\"1\"")
        let first = try store.call(.touch(order), changeSet: try store.state.header().applied + 1)
        try store.add(
            .operation(Operation(.update(order, changes: ["Note": .string("n")], bindings: []), changeSet: first)))
        let requests = try store.plan().changeSets.flatMap(\.requests)
        #expect(requests.map(\.modification.ifMatch) == ["\"1\"", "*"])
    }

    // MARK: Metadata

    @Test func `a call of an action that the metadata no longer have is held`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        let called = try store.call(.touch(order))
        try store.add(.serviceInstalled(TestModel.service))
        #expect(try store.plan().held[called] == .notInMetadata("action Shop.Touch"))
        let pending = try #require(try store.state.pendingOperation(called))
        let misfit = try OperationCompatibility(storage: store.state, model: store.model).misfit(of: pending.operation)
        #expect(misfit?.contains("Touch") == true)
    }

    // MARK: Random operations

    /// Updates and deletions become the declared effects of calls at random.
    @Test(arguments: Array(1...30) as [UInt64])
    func `a random queue with calls is sent completely, in the order of each entity`(_ seed: UInt64) throws {
        let store = try TestStore(TestModel.withActions)
        var random = SeededRandom(seed: seed ^ 0xCA11)
        store.attributes = { operation in
            switch operation.action {
            case .update(let entity, _, _), .delete(let entity):
                guard Int.random(in: 0..<100, using: &random) < 40 else { return }
                operation.call = ActionCall("Shop.Touch", on: .entity(entity))
            default: break
            }
        }
        let properties = PlannerPropertyTests()
        _ = try properties.randomStore(seed, operations: 25, in: store)
        let links = try store.state.allLinks.filter(\.inLocal).map(properties.name).sorted()
        var (sent, rounds): ([SequenceNumber: Int], Int) = ([:], 0)
        let operations = try store.state.pendingOperations()
        while try !store.state.pendingOperations().isEmpty {
            let plan = try properties.readIfNeeded(store, limit: 500)
            guard !plan.isEmpty else { break }
            try properties.checkReferences(plan, store, seed)
            for operation in plan.changeSets.flatMap(\.operations) {
                #expect(sent[operation] == nil, "seed \(seed): \(operation) is sent twice")
                sent[operation] = sent.count
            }
            try store.answer(plan, etags: seed % 2 == 0)
            rounds += 1
            #expect(rounds < 200, "seed \(seed): the rounds never end")
        }
        let held = try store.plan().held
        #expect(try store.state.pendingOperations().isEmpty, "seed \(seed): \(held)")
        #expect(try store.state.allLinks.filter(\.inBase).map(properties.name).sorted() == links, "seed \(seed)")
        for (index, later) in operations.enumerated() {
            for earlier in operations[..<index] where (earlier.operation.call ?? later.operation.call) != nil {
                guard earlier.operation.subject == later.operation.subject, let first = sent[earlier.sequence],
                    let second = sent[later.sequence]
                else { continue }
                #expect(first < second, "seed \(seed): \(later.sequence) is sent before \(earlier.sequence)")
            }
        }
    }
}
