import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// Outcomes of responses without content.
struct EmptyResponseTests {
    private let store: TestStore

    init() throws { store = try TestStore() }

    @Test func `the key in OData-EntityId counts if Location contains another one`() throws {
        let order = try store.create("Orders")
        let headers: HTTPHeaders = ["OData-EntityId": "Orders(7)", "Location": "Orders(8)"]
        try store.answer(.members([WireResponse(status: 204, headers: headers)]))
        #expect(try store.value(order, "OrderID") == .integer(7))
    }

    @Test func `a response 204 to an update with another key in a header changes the key`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        try store.perform([.update(order, changes: ["Note": .string("n")], bindings: [])])
        try store.answer(.members([WireResponse(status: 204, headers: ["OData-EntityId": "Orders(9)"])]))
        #expect(try store.value(order, "OrderID") == .integer(9))
        #expect(try store.state.entity(set: "Orders", key: "OrderID=9") == order)
    }

    @Test(arguments: [404, 410])
    func `the removal of a missing link is confirmed`(_ status: Int) throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        let order = try store.download("Orders", ["OrderID": .integer(1), "CustomerID": .integer(1)])
        try store.perform([.deleteLink(link(order, "Customer", customer))])
        try store.answer(.failed(WireResponse(status: status), culprit: "1"))
        #expect(try store.state.pendingOperations().isEmpty)
        #expect(try store.targets(order, "Customer").isEmpty)
    }
}
