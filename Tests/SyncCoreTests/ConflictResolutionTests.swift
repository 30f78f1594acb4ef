import EDM
import ODataWire
import Operations
import SyncCore
import Testing

@Suite struct ConflictResolutionTests {
    let store: TestStore
    let order: EntityID

    init() throws {
        store = try TestStore()
        order = try store.download(
            "Orders", ["OrderID": .integer(1), "Note": .string("a"), "CustomerID": .null], etag: "1")
    }

    private func update(_ changes: PropertyValues) throws -> SequenceNumber {
        try store.perform([.update(order, changes: changes, bindings: [])])[0]
    }

    private func others(_ values: PropertyValues, etag: String = "2") throws {
        var all: PropertyValues = ["OrderID": .integer(1)]
        all.merge(values)
        try store.download("Orders", all, etag: etag)
    }

    private func conflict() throws -> Conflict {
        try #require(
            try ConflictFinder(storage: store.state, model: store.model, index: RelationshipIndex(store.model))
                .conflict(
                    on: order))
    }

    private func outcome(_ resolution: ConflictResolution) throws -> ConflictOutcome? {
        try conflict().outcome(resolution, .call, pending: store.state.pendingOperations())
    }

    private func resolve(_ resolution: ConflictResolution) throws -> ConflictOutcome {
        let outcome = try #require(try outcome(resolution))
        try store.add(.conflictResolved(outcome.record))
        return outcome
    }

    private func plan() throws -> UploadPlan {
        try UploadPlanner(storage: store.state, model: store.model).plan()
    }

    @Test func `the resolution mine sends the pending value with the new ETag`() throws {
        let operation = try update(["Note": .string("mine")])
        try others(["Note": .string("theirs")])
        _ = try resolve(.mine)
        let plan = try plan()
        #expect(plan.changeSets.flatMap(\.operations) == [operation])
        #expect(plan.changeSets.first?.requests.first?.modification.ifMatch == "2")
        #expect(try store.value(order, "Note") == .string("mine"))
    }

    @Test func `the resolution theirs undoes the pending operations, and a redo applies them to the new base state`()
        throws
    {
        let operation = try update(["Note": .string("mine")])
        try others(["Note": .string("theirs")])
        _ = try resolve(.theirs)
        #expect(try store.value(order, "Note") == .string("theirs"))
        #expect(try plan().isEmpty)
        try store.add(.operationsRedone([operation]))
        #expect(try store.value(order, "Note") == .string("mine"))
        #expect(try plan().changeSets.flatMap(\.operations) == [operation])
    }

    @Test func `the resolution theirs for one property keeps the other properties of the operation`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(5)])
        let operation = try update(["Note": .string("mine"), "CustomerID": .integer(5)])
        try others(["Note": .string("theirs")])
        let outcome = try resolve(ConflictResolution(.mine, properties: ["Note": .theirs]))
        #expect(outcome.record.dropped == [.init(operation: operation, properties: ["Note"])])
        #expect(try store.value(order, "Note") == .string("theirs"))
        #expect(try store.targets(order, "Customer") == [customer])
    }

    @Test func `a merged value replaces both versions`() throws {
        let operation = try update(["Note": .string("mine")])
        try others(["Note": .string("theirs")])
        let outcome = try resolve(ConflictResolution(.mine, properties: ["Note": .value(.string("both"))]))
        #expect(outcome.record.takenBack == [operation])
        #expect(outcome.merged == ["Note": .string("both")])
    }

    @Test func `an update of a deleted entity can only be given up`() throws {
        let operation = try update(["Note": .string("mine")])
        try store.add(.entitiesMissing([order]))
        #expect(try outcome(.mine) == nil)
        _ = try resolve(.theirs)
        #expect(try store.state.pendingOperation(operation) == nil)
        #expect(try store.state.row(order) == nil)
    }

    @Test func `giving up a delete restores the entity as the other client changed it`() throws {
        try store.perform([.delete(order)])
        try others(["Note": .string("theirs")])
        #expect(try store.state.row(order) == nil)
        _ = try resolve(.theirs)
        #expect(try store.value(order, "Note") == .string("theirs"))
    }

    @Test func `an operation that was rejected because of the conflict is sent again`() throws {
        let operation = try update(["Note": .string("mine")])
        try store.add(
            .batchPrepared(BatchPrepared(batch: 1, changeSets: [[.init(contentID: "1", operation: operation)]])))
        try store.add(
            .batchAnswered(
                BatchAnswered(
                    batch: 1,
                    outcomes: [
                        .init(
                            operation: operation,
                            result: .rejected(
                                Refusal(status: 412, code: "", message: "", method: "PATCH", url: "Orders(1)")))
                    ])))
        try others(["Note": .string("theirs")])
        let outcome = try resolve(.mine)
        #expect(outcome.record.released == [operation])
        #expect(try store.state.pendingOperation(operation)?.status == .pending)
    }

    // MARK: Policies

    private static let overlapping: [(ConflictPolicy, ConflictResolved.Decision?)] = [
        (.clientWins, .clientWins), (.serverWins, .serverWins), (.merge(overlapping: .ask), nil),
        (.merge(overlapping: .clientWins), .clientWins), (.merge(overlapping: .serverWins), .serverWins), (.ask, nil),
    ]

    @Test(arguments: overlapping)
    func `a policy resolves changes of the same property`(
        policy: ConflictPolicy, expected: ConflictResolved.Decision?
    ) throws {
        _ = try update(["Note": .string("mine")])
        try others(["Note": .string("theirs")])
        #expect(policy.resolution(of: try conflict())?.decision == expected)
    }

    private static let separate: [(ConflictPolicy, ConflictResolved.Decision?)] = [
        (.clientWins, .clientWins), (.serverWins, .serverWins), (.merge(overlapping: .ask), .merged),
        (.merge(overlapping: .clientWins), .merged), (.merge(overlapping: .serverWins), .merged), (.ask, nil),
    ]

    @Test(arguments: separate)
    func `a policy resolves changes of different properties`(
        policy: ConflictPolicy, expected: ConflictResolved.Decision?
    ) throws {
        try store.download("Customers", ["CustomerID": .integer(5)])
        _ = try update(["CustomerID": .integer(5)])
        try others(["Note": .string("theirs")])
        #expect(policy.resolution(of: try conflict())?.decision == expected)
    }

    @Test func `with the policy server wins for overlaps, the other pending values are kept`() throws {
        try store.download("Customers", ["CustomerID": .integer(5)])
        _ = try update(["CustomerID": .integer(5), "Note": .string("mine")])
        try others(["Note": .string("theirs")])
        let resolution = try #require(ConflictPolicy.merge(overlapping: .serverWins).resolution(of: try conflict()))
        _ = try resolve(resolution.resolution)
        #expect(try store.value(order, "Note") == .string("theirs"))
        #expect(try store.value(order, "CustomerID") == .integer(5))
    }

    @Test func `a snapshot restores a state with conflicts`() throws {
        _ = try update(["Note": .string("mine")])
        try others(["Note": .string("theirs")])
        let restored = WorkingSet()
        var restoration = StateRestoration(into: restored)
        let fold = try Fold(storage: store.state)
        try fold.writeSnapshot { kind, payload in try restoration.add(kind: kind, payload: payload) }
        _ = try restoration.finish()
        #expect(try restored.bookkeeping.mergeBases() == [order])
        #expect(try StateDigest(of: restored) == store.digest())
    }
}
