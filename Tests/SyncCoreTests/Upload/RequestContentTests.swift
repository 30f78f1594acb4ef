import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// The forms in which a body contains a link.
struct RequestContentTests {
    private let (store, _, b): (TestStore, EntityID, EntityID)
    private let order: EntityID

    init() throws {
        (store, _, b) = try TestStore.withCustomers()
        order = try store.download(
            "Orders", ["OrderID": .integer(1), "CustomerID": .integer(1), "Note": .string("n")])
    }

    @Test(arguments: [
        (true, #"PATCH Orders(1) {"CustomerID":2}"#),
        (false, #"PUT Orders(1) {"OrderID":1,"CustomerID":2,"Note":"n"}"#),
    ])
    func `without bindings, the link of an update is sent as dependent values`(
        _ supportsPatch: Bool, _ request: String
    ) throws {
        store.service = ServiceOptions(supportsBind: false, supportsPatch: supportsPatch)
        try store.perform([
            .update(order, changes: [:], bindings: [Binding(navigation: "Customer", targets: [b])])
        ])
        #expect(store.requests(try store.plan()) == [request])
    }

    @Test func `in V2, a link that an update sets by a value and by a binding is sent as the value`() throws {
        let store = try TestStore(TestModel.legacyService)
        let customers = try (1...2).map { try store.download("Customers", ["CustomerID": .integer($0)]) }
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        try store.perform([
            .update(
                order, changes: ["CustomerID": .integer(2)],
                bindings: [Binding(navigation: "Customer", targets: [customers[1]])])
        ])
        let requests = try store.plan().changeSets.flatMap(\.requests)
        guard requests.count == 1, case .update(_, let body, false) = requests[0].modification.action else {
            Issue.record("\(requests)")
            return
        }
        #expect(body.values == ["CustomerID": .integer(2)])
        #expect(body.bindings.isEmpty)
    }
}
