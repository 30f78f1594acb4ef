import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// BA-16: `If-Match` with a reference to the ETag in the response to an earlier request of the change set.
/// CF-10: ETags are in headers, never in bodies.
@Suite struct ETagReferenceTests {
    let store: TestStore
    let order: EntityID

    init() throws {
        store = try TestStore()
        order = try store.download("Orders", ["OrderID": .integer(1)], etag: "W/\"1\"")
    }

    private func preconditions(_ operations: [Operation.Action]) throws -> [String?] {
        try store.perform(operations, changeSet: true)
        return try store.plan().changeSets.flatMap(\.requests).map(\.modification.ifMatch)
    }

    private func note(_ text: String) -> Operation.Action {
        .update(order, changes: ["Note": .string(text)], bindings: [])
    }

    @Test func `a second change of an entity refers to the ETag after the first`() throws {
        store.service = ServiceOptions(supportsETagReferences: true)
        let customer = try store.download("Customers", ["CustomerID": .integer(1)], etag: "W/\"1\"")
        let requests = try preconditions([
            .update(
                order, changes: ["Note": .string("a")], bindings: [Binding(navigation: "Customer", targets: [customer])]
            ),
            .delete(order),
        ])
        #expect(requests == ["W/\"1\"", "$1"])
    }

    @Test func `without support, the second change has no precondition`() throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)], etag: "W/\"1\"")
        let requests = try preconditions([
            .update(
                order, changes: ["Note": .string("a")], bindings: [Binding(navigation: "Customer", targets: [customer])]
            ),
            .delete(order),
        ])
        #expect(requests == ["W/\"1\"", "*"])
    }

    @Test func `a link may change the ETag, so a later change does not refer to an earlier one`() throws {
        store.service = ServiceOptions(supportsETagReferences: true)
        let customer = try store.download("Customers", ["CustomerID": .integer(1)], etag: "W/\"7\"")
        let requests = try preconditions([
            .update(customer, changes: ["Name": .string("a")], bindings: []),
            .createLink(link(customer, "Orders", order)), .delete(customer),
        ])
        #expect(requests == ["W/\"7\"", nil, "*"])
    }

    @Test(arguments: [true, false])
    func `a change of a new entity refers to the ETag of its create unless entities are created below it`(
        _ hasChildren: Bool
    ) throws {
        let set = #"<EntitySet Name="Customers" EntityType="Shop.Customer">"#
        let text = TestModel.metadata.replacing(
            set, with: set + #"<Annotation Term="Org.OData.Core.V1.OptimisticConcurrency"/>"#)
        let store = try TestStore(ServiceDescription(root: TestModel.service.root, metadata: Array(text.utf8)))
        store.service = ServiceOptions(supportsETagReferences: true)
        let customer = try store.newID()
        let child = store.creation(EntityID(rawValue: customer.rawValue + 1), "Orders")
        let inline = hasChildren ? [Creation.Inline(navigation: "Orders", entities: [child])] : []
        try store.perform(
            [
                .create(store.creation(customer, "Customers", inline: inline), parent: nil),
                .update(customer, changes: ["Name": .string("n")], bindings: []),
            ], changeSet: true)
        let requests = try store.plan().changeSets.flatMap(\.requests)
        #expect(requests.map(\.modification.ifMatch) == (hasChildren ? [nil, nil, nil] : [nil, "$1"]))
    }

    @Test(arguments: [ODataVersion.v4, .v401])
    func `no body of a change contains an ETag`(_ version: ODataVersion) throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)], etag: "W/\"7\"")
        let new = try store.newID()
        try store.perform(
            [
                note("a"),
                .update(order, changes: [:], bindings: [Binding(navigation: "Customer", targets: [customer])]),
                .create(
                    store.creation(new, "Orders", bindings: [Binding(navigation: "Customer", targets: [customer])]),
                    parent: nil),
                .delete(customer),
            ], changeSet: true)
        let encoder = RequestEncoder(version: version, model: store.model, serviceRoot: "http://s/")
        let requests = try store.plan().changeSets.flatMap(\.requests).map { encoder.encode($0.modification) }
        #expect(!requests.isEmpty)
        for request in requests {
            let body = String(decoding: request.body, as: UTF8.self)
            #expect(!body.lowercased().contains("etag") && !body.contains("W/"), "\(body)")
        }
        #expect(requests.contains { $0.headers["If-Match"] == "W/\"1\"" })
    }
}
