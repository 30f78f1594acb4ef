import EDM
import ODataWire
import Operations
import SyncCore
import Testing

/// Deletes that cascade over several levels.
@Suite struct CascadePlanTests {
    static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Node"><Key><PropertyRef Name="NodeID"/></Key>
        <Property Name="NodeID" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/>
        <NavigationProperty Name="Above" Type="Shop.Node" Partner="Below"/>
        <NavigationProperty Name="Below" Type="Collection(Shop.Node)" Partner="Above"><OnDelete Action="Cascade"/></NavigationProperty>
        </EntityType>
        <EntityContainer Name="Container"><EntitySet Name="Nodes" EntityType="Shop.Node">
        <NavigationPropertyBinding Path="Above" Target="Nodes"/><NavigationPropertyBinding Path="Below" Target="Nodes"/>
        </EntitySet></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
    let store: TestStore

    init() throws {
        store = try TestStore()
        try store.add(.serviceInstalled(.init(root: "http://127.0.0.1/v4/", metadata: Array(Self.metadata.utf8))))
    }

    /// Returns a chain of downloaded nodes, each one the child of the previous one.
    private func chain(_ count: Int) throws -> [EntityID] {
        let first = try store.newID().rawValue
        var images: [EntityImage] = []
        for number in 0..<count {
            var image = EntityImage(
                entity: EntityID(rawValue: first + UInt64(number)), set: "Nodes", type: "Shop.Node",
                values: ["NodeID": .integer(Int64(number))])
            if let above = images.last?.entity {
                image.links = [.init(navigation: "Above", targets: [above], isComplete: true)]
            }
            images.append(image)
        }
        try store.add(.entitiesRead(images))
        return images.map(\.entity)
    }

    @Test func `a delete waits for all pending operations on the entities of its cascade, at any depth`() throws {
        let nodes = try chain(4)
        let leaf = try store.create("Nodes", parent: Parent(entity: nodes[3], navigation: "Below"))
        try store.perform([.update(leaf, changes: ["Text": .string("b")], bindings: [])])
        try store.perform([.delete(nodes[0])])
        #expect(try store.state.allRows.isEmpty)
        var sent: [[SequenceNumber]] = []
        while try !store.state.pendingOperations().isEmpty {
            let plan = try store.plan(unreadable: [leaf])
            try #require(!plan.isEmpty, "\(plan.held)")
            sent += store.groups(plan)
            try store.answer(plan)
        }
        #expect(sent == sent.sorted { $0[0] < $1[0] })
        #expect(sent.map(\.count) == [1, 1, 1])
    }

    @Test func `a pending operation on a cascaded entity states the reason, and can be undone`() throws {
        let gone = EntityID(rawValue: 77)
        try store.add(.lost)
        let update = try store.add(
            .operation(Operation(.update(gone, changes: ["Text": .string("b")], bindings: []))))
        #expect(try store.plan().held == [update: .entityGone(gone)])
        try store.undo([update])
        #expect(try store.state.pendingOperations().isEmpty)
    }

    @Test(arguments: [40, 3_000])
    func `a chain of creates that is too deep for one request is held back`(_ count: Int) throws {
        store.service = ServiceOptions(supportsBatch: false)
        let first = try store.newID().rawValue
        let changeSet = try store.state.header().applied + 1
        for number in 0..<UInt64(count) {
            let above = EntityID(rawValue: first + number &- 1)
            try store.add(
                .operation(
                    Operation(
                        .create(
                            store.creation(
                                EntityID(rawValue: first + number), "Nodes",
                                bindings: number == 0 ? [] : [Binding(navigation: "Above", targets: [above])]),
                            parent: nil), changeSet: changeSet)))
        }
        let plan = try store.plan()
        #expect(plan.isEmpty)
        #expect(plan.held.count == count)
    }
}
