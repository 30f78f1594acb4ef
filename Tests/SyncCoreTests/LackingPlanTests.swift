import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// Invariants of every plan, for random operations and missing service capabilities. A failure prints its seed.
struct LackingPlanTests {
    static let lacks: [ServiceOptions] = [
        ServiceOptions(supportsBatch: false), ServiceOptions(supportsBind: false),
        ServiceOptions(supportsPatch: false), ServiceOptions(contentIDReferences: .urlsOnly),
        ServiceOptions(contentIDReferences: .none), ServiceOptions(deepInsertToMany: .inOrder),
        ServiceOptions(supportsBind: false, contentIDReferences: .urlsOnly),
        ServiceOptions(
            supportsBatch: false, supportsBind: false, supportsPatch: false, contentIDReferences: .none,
            deepInsertToMany: .inOrder),
    ]
    static let seeds: [UInt64] = Array(1...20)
    private let properties = PlannerPropertyTests()

    @Test(arguments: seeds)
    func `a plan contains only requests that the service supports, and holds back only impossible operations`(
        _ seed: UInt64
    ) throws {
        let (store, _) = try properties.randomStore(seed, operations: 25)
        for options in Self.lacks { try check(TestStore(replaying: store.records), options, seed) }
    }

    private func check(_ store: TestStore, _ options: ServiceOptions, _ seed: UInt64) throws {
        store.service = options
        let links = try store.state.allLinks.filter(\.inLocal).map(properties.name).sorted()
        var rounds = 0
        while try !store.state.pendingOperations().isEmpty {
            let plan = try properties.readIfNeeded(store, limit: 500)
            guard !plan.isEmpty else { break }
            for request in plan.changeSets.flatMap(\.requests) { check(request, options, seed) }
            if !options.supportsBatch { #expect(plan.changeSets.allSatisfy { $0.requests.count == 1 }, "seed \(seed)") }
            try properties.checkReferences(plan, store, seed)
            try store.answer(plan, etags: seed % 2 == 0)
            rounds += 1
            #expect(rounds < 200, "seed \(seed): the rounds never end")
        }
        let plan = try store.plan()
        for pending in try store.state.pendingOperations() {
            let reason = plan.held[pending.sequence]
            if case .noLegalPlan = reason {
                // With batches, an operation outside of a change set always has a plan, unless it requires several
                // requests.
                let needsOne = options.supportsBatch && pending.operation.changeSet == nil
                #expect(!needsOne || isDeep(pending), "seed \(seed): \(pending.operation) is held: \(reason!)")
            } else {
                guard case .waitsFor = reason else {
                    Issue.record(
                        "seed \(seed): \(pending.sequence) is held: \(reason.map(String.init) ?? "for nothing")")
                    return
                }
            }
        }
        if try store.state.pendingOperations().isEmpty {
            #expect(try store.state.allLinks.filter(\.inBase).map(properties.name).sorted() == links, "seed \(seed)")
        }
    }

    private func isDeep(_ pending: PendingOperation) -> Bool {
        if case .create(let creation, let parent) = pending.operation.action {
            return !creation.inline.isEmpty || parent != nil
        }
        return false
    }

    private func check(_ request: PlannedRequest, _ options: ServiceOptions, _ seed: UInt64) {
        let body: EntityBody?
        switch request.modification.action {
        case .create(_, let own), .createRelated(_, _, let own): body = own
        case .update(_, let own, let replaces):
            body = own
            #expect(replaces != options.supportsPatch, "seed \(seed)")
        default: body = nil
        }
        let isNew = { (reference: ResourceReference) in if case .contentID = reference { true } else { false } }
        let references = options.contentIDReferences.resolved(for: .v4)
        if references == .none {
            #expect(!request.references.contains(where: isNew), "seed \(seed): \(request)")
        }
        guard let body else { return }
        if !options.supportsBind { #expect(body.references.isEmpty, "seed \(seed): \(request)") }
        if references != .urlsAndBodies {
            #expect(!body.references.contains(where: isNew), "seed \(seed): \(request)")
        }
    }
}
