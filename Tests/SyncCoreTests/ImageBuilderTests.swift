import EDM
import ODataWire
import Operations
import Testing

@testable import SyncCore

/// Identification of the entities that a service returns.
struct ImageBuilderTests {
    let store: TestStore

    init() throws { store = try TestStore() }

    /// Reads a page as a download does, and returns the IDs of its entities.
    @discardableResult
    private func read(_ set: String, _ entities: String...) throws -> [EntityID] {
        let set = try #require(store.model.findEntitySet(set))
        var builder = try ImageBuilder(storage: store.state, model: store.model)
        let reader = PayloadReader(version: store.model.version, model: store.model)
        var ids: [EntityID] = []
        var images: [EntityImage] = []
        for entity in entities {
            let payload = try reader.entity(Array(entity.utf8), type: set.entityType)
            let found = try builder.images(of: payload, in: set) ?? []
            ids += found.prefix(1).map(\.entity)
            images += found
        }
        try store.add(.entitiesRead(images))
        return ids
    }

    /// Confirms the only pending operation.
    private func confirm(_ images: [EntityImage]) throws {
        let plan = try store.plan()
        let batch = try store.prepare(plan)
        let operation = try #require(plan.changeSets.first?.operations.first)
        try store.add(
            .batchAnswered(
                BatchAnswered(
                    batch: batch, outcomes: [.init(operation: operation, result: .confirmed(images: images))])))
    }

    // MARK: Links

    @Test func `an expansion without a target ends the link if the query omits the dependent property`() throws {
        let order = try read("Orders", #"{"OrderID":1,"Customer":{"CustomerID":1}}"#)[0]
        #expect(try store.targets(order, "Customer").count == 1)
        #expect(try store.value(order, "CustomerID") == .integer(1))
        try read("Orders", #"{"OrderID":1,"Customer":null}"#)
        #expect(try store.targets(order, "Customer").isEmpty)
        #expect(try store.value(order, "CustomerID") == .null)
    }

    @Test func `the dependent property in a payload determines the link, whatever the expansion contains`() throws {
        let order = try read("Orders", #"{"OrderID":1,"Customer":{"CustomerID":1}}"#)[0]
        try read("Orders", #"{"OrderID":1,"CustomerID":1,"Customer":null}"#)
        #expect(try store.targets(order, "Customer").count == 1)
    }

    @Test func `an expansion without a target does not reset the reference to an entity that the store lacks`() throws {
        let order = try read("Orders", #"{"OrderID":1,"CustomerID":7}"#)[0]
        try read("Orders", #"{"OrderID":1,"Customer":null}"#)
        #expect(try store.value(order, "CustomerID") == .integer(7))
    }

    // MARK: Entity-ids with keys as segments

    @Test func `an entity-id with its key as a segment identifies the entity, and remains its address`() throws {
        let customer = try read("Customers", #"{"CustomerID":1,"Name":"a"}"#)[0]
        #expect(try read("Customers", #"{"@odata.id":"Customers/1","Name":"b"}"#) == [customer])
        #expect(try store.value(customer, "Name") == .string("b"))
        let other = try read("Customers", #"{"@odata.id":"Customers/2","CustomerID":2}"#)[0]
        #expect(try store.state.row(other)?.editLink == "Customers/2")
    }

    @Test func `an editLink keeps query options of the service, and not those of a read`() throws {
        let ids = try read(
            "Customers", #"{"@odata.editLink":"Customers(1)?client=100","CustomerID":1}"#,
            #"{"@odata.editLink":"Customers(2)?$select=Name","CustomerID":2}"#)
        #expect(try store.state.row(ids[0])?.editLink == "Customers(1)?client=100")
        #expect(try store.state.row(ids[1])?.editLink == nil)
        #expect(try read("Customers", #"{"CustomerID":1}"#) == [ids[0]])
    }

    // MARK: Keys

    @Test(arguments: [false, true])
    func `a former key that another entity has now does not identify the former owner`(_ newFirst: Bool) throws {
        let customer = try store.download("Customers", ["CustomerID": .integer(1)])
        try store.perform([.update(customer, changes: ["Name": .string("renamed")], bindings: [])])
        let image = EntityImage(
            entity: customer, set: "Customers", type: "Shop.Customer", values: ["CustomerID": .integer(2)], etag: nil)
        try confirm([image])
        let (new, old) = (#"{"CustomerID":1,"Name":"new"}"#, #"{"CustomerID":2,"Name":"renamed"}"#)
        for _ in 1...2 {
            let ids = newFirst ? try read("Customers", new, old) : try read("Customers", old, new).reversed()
            #expect(ids[1] == customer)
            #expect(ids[0] != customer)
            #expect(try store.state.rows(set: "Customers") == [customer, ids[0]].sorted())
            #expect(try store.value(customer, "CustomerID") == .integer(2))
        }
    }

    @Test func `an entity that was removed and is delivered again has the same ID`() throws {
        let order = try store.download("Orders", ["OrderID": .integer(1)])
        try store.perform([.delete(order)])
        try store.answer(try store.plan())
        #expect(try store.state.row(order) == nil)
        #expect(try read("Orders", #"{"OrderID":1}"#) == [order])
    }

    @Test func `the sets of new entities are known even if the log contains the highest ID`() throws {
        let last = EntityID(rawValue: .max)
        try store.add(
            .entitiesRead([
                EntityImage(
                    entity: last, set: "Customers", type: "Shop.Customer", values: ["CustomerID": .integer(1)])
            ]))
        let sets = try ["Customers", "Orders"].map { try #require(store.model.findEntitySet($0)) }
        var builder = try ImageBuilder(storage: store.state, model: store.model)
        let reader = PayloadReader(version: store.model.version, model: store.model)
        for (key, id) in [(2, EntityID(rawValue: 0)), (1, last), (3, EntityID(rawValue: 1))] {
            let payload = try reader.entity(Array(#"{"CustomerID":\#(key)}"#.utf8), type: sets[0].entityType)
            let images = try builder.images(of: payload, in: sets[0])
            #expect(images?.map(\.entity) == [id])
            #expect(try builder.isNew(id) && builder.isOne(id, of: sets[0]) && !builder.isOne(id, of: sets[1]))
        }
    }

    // MARK: Names

    @Test func `an editLink that changes at each reading identifies the same entity`() throws {
        func entity(_ token: String) -> String {
            #"{"@odata.id":"Customers(1)","@odata.editLink":"Customers(1)/Edit?token=\#(token)","CustomerID":1}"#
        }
        let ids = try read("Customers", entity("a"))
        #expect(try read("Customers", entity("b")) == ids)
        #expect(try store.state.rows(set: "Customers") == ids)
        #expect(try store.state.row(ids[0])?.editLink == "Customers(1)/Edit?token=b")
    }

    @Test func `the entity-id identifies an entity, and requests use its editLink`() throws {
        func entity(_ key: Int, _ token: String) -> String {
            #"{"@odata.id":"urn:x","@odata.editLink":"Edit/\#(token)","CustomerID":\#(key)}"#
        }
        let ids = try read("Customers", entity(1, "a"))
        #expect(try read("Customers", entity(2, "b")) == ids)
        #expect(try store.state.rows(set: "Customers") == ids)
        #expect(try store.value(ids[0], "CustomerID") == .integer(2))
        #expect(try store.state.row(ids[0])?.editLink == "Edit/b")
    }

    // MARK: Deep inserts

    @Test(arguments: [false, true])
    func `a child of a deep insert with the key of a deleted entity is a new entity`(_ isShown: Bool) throws {
        let old = try store.download("IDCards", ["IDCardID": .integer(7)])
        try store.perform([.delete(old)])
        try store.answer(try store.plan())
        let person = try store.newID()
        let card = EntityID(rawValue: person.rawValue + 1)
        let inline = Creation.Inline(
            navigation: "IDCard", entities: [store.creation(card, "IDCards", ["IDCardID": .integer(7)])])
        try store.perform([
            .create(store.creation(person, "Persons", ["PersonID": .integer(5)], inline: [inline]), parent: nil)
        ])
        let body =
            isShown ? #"{"PersonID":5,"IDCard":{"@odata.etag":"1","IDCardID":7,"PersonID":5}}"# : #"{"PersonID":5}"#
        let plan = try store.plan()
        let batch = try store.prepare(plan)
        var reconciler = try Reconciler(
            storage: store.state, model: store.model, serviceRoot: TestModel.service.root)
        let response = WireResponse(
            status: 201, headers: ["Content-Type": "application/json"], body: Array(body.utf8))
        let sent = UploadedBatch(plan, number: batch) { _ in nil }
        let outcomes = try reconciler.outcomes(of: sent.answered([.members([response])]))
        try store.add(.batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))
        #expect(try store.state.row(card)?.etag == (isShown ? "1" : nil))
        #expect(try read("IDCards", #"{"IDCardID":7,"PersonID":5}"#) == [card])
        #expect(try store.state.rows(set: "IDCards") == [card])
    }

    // MARK: Cascades

    @Test func `a delete cascades along a chain of any length`() throws {
        let metadata = """
            <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
            <Schema Namespace="T" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Node">
            <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
            <NavigationProperty Name="Above" Type="T.Node" Partner="Below"/>
            <NavigationProperty Name="Below" Type="Collection(T.Node)" Partner="Above"><OnDelete Action="Cascade"/></NavigationProperty>
            </EntityType><EntityContainer Name="C"><EntitySet Name="Nodes" EntityType="T.Node">
            <NavigationPropertyBinding Path="Above" Target="Nodes"/><NavigationPropertyBinding Path="Below" Target="Nodes"/>
            </EntitySet></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
            """
        let state = WorkingSet()
        var fold = try Fold(storage: state)
        func add(_ body: Record.Body) throws {
            try fold.apply(Record(time: 0, body: body), sequence: state.header().applied + 1)
            try fold.finishRebase()
        }
        try add(
            .serviceInstalled(ServiceDescription(root: "http://127.0.0.1/", metadata: Array(metadata.utf8))))
        var images: [EntityImage] = []
        for number in 1...8_000 as ClosedRange<UInt64> {
            var image = EntityImage(
                entity: EntityID(rawValue: number), set: "Nodes", type: "T.Node",
                values: ["ID": .integer(Int64(number))], etag: nil)
            if number > 1 {
                image.links = [
                    .init(navigation: "Above", targets: [EntityID(rawValue: number - 1)], isComplete: true)
                ]
            }
            images.append(image)
        }
        try add(.entitiesRead(images))
        try add(.operation(Operation(.delete(EntityID(rawValue: 1)))))
        #expect(try state.rows(set: "Nodes").isEmpty)
    }
}
