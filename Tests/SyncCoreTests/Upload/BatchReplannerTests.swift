import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// Logged batches that are planned again for an inspection.
struct BatchReplannerTests {
    private let store: TestStore
    private let customer: EntityID

    init() throws {
        store = try TestStore()
        customer = try store.download("Customers", ["CustomerID": .integer(1), "Name": .string("Ada")], etag: "1")
        let order = try store.create("Orders", ["Note": .string("n")])
        try store.perform([.createLink(link(customer, "Orders", order))])
        try store.perform([.update(order, changes: ["Note": .string("later")], bindings: [])])
        try store.download("Suppliers", ["SupplierID": .integer(1)])
        try store.perform([.update(customer, changes: ["Name": .string("B")], bindings: [])])
    }

    private func replanned(_ prepared: BatchPrepared) throws -> UploadPlan {
        try BatchReplanner(storage: store.state, model: store.model, options: store.service).plan(of: prepared)
    }

    @Test(arguments: [false, true])
    func `a logged batch is planned again with the same requests`(_ coalesces: Bool) throws {
        let plan = try store.plan { $0.coalesces = coalesces }
        let again = try replanned(plan.prepared(as: 1))
        #expect(again.changeSets == plan.changeSets)
        #expect(again.coalesces == coalesces)
        #expect(store.requests(again) == store.requests(plan))
    }

    @Test func `a batch with other operations, Content-IDs or numbers of requests is planned differently`() throws {
        let prepared = try store.plan().prepared(as: 1)
        let place = try #require(prepared.changeSets.firstIndex { $0.count > 1 })
        let last = prepared.changeSets[place].count - 1
        var renumbered = prepared
        renumbered.changeSets[place][last].contentID = "99"
        var shortened = prepared
        shortened.changeSets[place].removeLast()
        shortened.changeSets[place][0].operation = prepared.changeSets[place][last].operation
        var swapped = prepared
        swapped.changeSets[place].swapAt(0, last)
        for wrong in [renumbered, shortened, swapped] {
            #expect(throws: StateError(.unsendable, "this version plans the operations differently")) {
                try replanned(wrong)
            }
        }
    }

    @Test func `a batch whose Content-ID is the largest number is planned again`() throws {
        let update = try #require(try store.state.pendingOperations().last).sequence
        let contentID = String(Int.max)
        let prepared = BatchPrepared(batch: 1, changeSets: [[.init(contentID: contentID, operation: update)]])
        #expect(try replanned(prepared).changeSets.first?.requests.map(\.contentID) == [contentID])
    }

    @Test func `an error of the storage is not taken for another plan`() throws {
        let prepared = try store.plan().prepared(as: 1)
        let whole = CountingBacking(store.state, store.model)
        func plan(over backing: CountingBacking) throws {
            _ = try BatchReplanner(
                storage: WorkingSet(over: backing), model: store.model, options: store.service
            ).plan(of: prepared)
        }
        try plan(over: whole)
        for access in 0..<whole.accesses.count {
            let backing = CountingBacking(store.state, store.model, failing: access)
            let error = #expect(throws: StateError.self) { try plan(over: backing) }
            #expect(error?.code == .unavailable, "access \(access), \(backing.accesses.failed ?? "none")")
        }
    }
}
