import EDM
import ODataWire
import Testing

@Suite struct `Delta payloads` {
    let v2 = PayloadReader(version: .v2, model: PayloadShop.model(.v2))
    let v4 = PayloadReader(version: .v4, model: PayloadShop.model(.v4))

    private func items(_ json: String, _ reader: PayloadReader? = nil) throws -> [DeltaItem] {
        var feed = try (reader ?? v4).feedReader(Array(json.utf8), type: PayloadShop.customer)
        var items: [DeltaItem] = []
        while let item = try feed.next() { items.append(item) }
        return items
    }

    private func item(_ json: String) throws -> DeltaItem {
        try v4.deltaItem(Array(json.utf8), type: PayloadShop.customer)
    }

    private func removed(_ json: String) throws -> RemovedEntity {
        try #require(Self.removed(try item(json)), "\(json)")
    }

    private func entity(_ json: String) throws -> EntityPayload {
        guard case .entity(let entity) = try item(json) else {
            Issue.record("no entity: \(json)")
            return EntityPayload()
        }
        return entity
    }

    private static func removed(_ item: DeltaItem) -> RemovedEntity? {
        if case .removed(let entity) = item { entity } else { nil }
    }

    @Test func `items are returned in the order of the payload`() throws {
        let items = try items(
            #"""
            {"@odata.context":"http://h/$metadata#Customers/$delta","value":[{"CustomerID":1,"Name":"a"},
            {"@odata.context":"#Customers/$link","source":"Customers(1)","relationship":"Orders","target":"Orders(2)"},
            {"@odata.context":"#Customers/$deletedEntity","id":"Customers(1)","reason":"deleted"},
            {"CustomerID":1,"Name":"b"}]}
            """#)
        #expect(
            items == [
                .entity(EntityPayload(values: ["CustomerID": .integer(1), "Name": .string("a")])),
                .link(
                    LinkChange(
                        isAdded: true, set: "Customers", source: "Customers(1)", relationship: "Orders",
                        target: "Orders(2)")),
                .removed(
                    try removed(##"{"@removed":"deleted","@id":"Customers(1)","@context":"#Customers/$entity"}"##)),
                .entity(EntityPayload(values: ["CustomerID": .integer(1), "Name": .string("b")])),
            ])
    }

    // MARK: Removed entities

    @Test(arguments: [
        ##"{"@odata.context":"#Customers/$deletedEntity","id":"Customers(3)","reason":"changed"}"##,
        ##"{"@context":"http://h/$metadata#Customers/$deletedEntity","@odata.id":"Customers(3)","reason":"changed"}"##,
        ##"{"@context":"#Customers/$deletedEntity","@removed":{"reason":"changed","x":[1]},"@id":"Customers(3)"}"##,
        ##"{"@odata.context":"#Customers/$entity","@odata.removed":{"@odata.reason":"changed"},"@odata.id":"Customers(3)"}"##,
        ##"{"@context":"$metadata#Customers(Name,Orders(Note))/$deletedEntity","@removed":"changed","id":"Customers(3)"}"##,
        ##"{"@context":"#Customers/$deletedEntity","id":"Customers(3)","reason":{"reason":"changed"},"when":"/Date(1)/"}"##,
    ])
    func `a removed entity has its entity-id, set and reason in every spelling`(json: String) throws {
        let removed = try removed(json)
        #expect(removed.entity.id == "Customers(3)")
        #expect(removed.entity.set == "Customers")
        #expect(removed.reason == .changed)
        #expect(removed.entity.values == [:])
        #expect(removed.entity.ignored == [])
    }

    @Test(arguments: ["{}", #"{"reason":"gone"}"#, #"{"error":"deleted"}"#, #""""#])
    func `a removed entity without a known reason has no reason`(reason: String) throws {
        let removed = try removed(#"{"@removed":\#(reason),"CustomerID":3}"#)
        #expect(removed.reason == nil)
        #expect(removed.entity.values == ["CustomerID": .integer(3)])
        #expect(removed.entity.id == nil)
    }

    @Test func `a removed entity is read with the type that its context names`() throws {
        let removed = try removed(
            ##"{"@context":"#Customers/Shop.Premium/$deletedEntity","@removed":{},"CustomerID":3,"Rank":1}"##)
        #expect(removed.entity.type == "Shop.Premium")
        #expect(removed.entity.values == ["CustomerID": .integer(3), "Rank": .integer(1)])
    }

    @Test func `a removed entity keeps its nested changes to related entities`() throws {
        let removed = try removed(
            #"{"@removed":{},"CustomerID":3,"Orders@delta":[{"@removed":{"reason":"deleted"},"@id":"Orders(1)"}]}"#)
        #expect(removed.entity.changes.first?.items.compactMap(Self.removed).map(\.reason) == [.deleted])
    }

    @Test func `a key property named id is not read as the entity-id of 4.01`() throws {
        let key = Property(name: "id", type: TypeReference(.primitive(.int32)), declaringType: "T.Thing")
        let thing = StructuredType(kind: .entity, name: "T.Thing", properties: [key], keyProperties: [key])
        let model = EntityDataModel(
            version: .v4, schemas: [], structuredTypes: [thing], enumerationTypes: [],
            entitySets: [EntitySet(name: "Things", entityType: thing)], singletons: [])
        let reader = PayloadReader(version: .v4, model: model)
        let new = try reader.deltaItem(Array(#"{"@removed":{},"id":1}"#.utf8), type: thing)
        #expect(Self.removed(new)?.entity == EntityPayload(values: ["id": .integer(1)]))
        let old = try reader.deltaItem(
            Array(##"{"@odata.context":"#Things/$deletedEntity","id":"Things(1)"}"##.utf8), type: thing)
        #expect(Self.removed(old)?.entity.id == "Things(1)")
        #expect(Self.removed(old)?.entity.values == [:])
    }

    @Test func `a V2 delta may contain 4.0 deleted entities and ends with a delta link`() throws {
        let json = #"""
            {"d":{"results":[{"__metadata":{"uri":"Customers(1)","type":"Shop.Customer"},"CustomerID":1},
            {"@odata.context":"$metadata#Customers/$deletedEntity","id":"Customers(2)","when":"\/Date(0)\/"}],
            "__delta":"Customers?!deltatoken=1"}}
            """#
        let feed = try v2.feed(Array(json.utf8), type: PayloadShop.customer)
        #expect(feed.entities.map(\.id) == ["Customers(1)"])
        #expect(feed.removed.map(\.entity.id) == ["Customers(2)"])
        #expect(feed.removed.map(\.reason) == [nil])
        #expect(feed.deltaLink == "Customers?!deltatoken=1")
    }

    // MARK: Entities of other sets

    @Test func `entities of a different set are read with the type of that set`() throws {
        let json = ##"""
            {"@odata.context":"http://h/$metadata#Customers/$delta","value":[{"CustomerID":1},
            {"@odata.context":"#Orders/$entity","@odata.id":"Orders(2)","OrderID":"7","Note":"n"}]}
            """##
        let feed = try v4.feed(Array(json.utf8), type: PayloadShop.customer)
        #expect(feed.entities.map(\.values) == [["CustomerID": .integer(1)]])
        #expect(feed.otherEntities.map(\.set) == ["Orders"])
        #expect(feed.otherEntities.map(\.values) == [["OrderID": .integer(7), "Note": .string("n")]])
    }

    @Test(
        arguments: [
            ("#Customers/$entity", "Customers", nil),
            ("http://h/s/$metadata#Customers(Name)/$entity", "Customers", nil),
            ("#Customers/Shop.Premium/$entity", "Customers", "Shop.Premium"),
            ("#Customers/Shop.Premium(Rank)/$entity", "Customers", "Shop.Premium"),
            ("#Orders(Region='a/b''(',OrderID=1)/Customer/$entity", "Orders(Region='a/b''(',OrderID=1)/Customer", nil),
            ("#Orders(%27a%2Fb%27)/Customer/$entity", "Orders('a/b')/Customer", nil),
            ("#Shop.Premium/$entity", nil, "Shop.Premium"), ("#Collection(Shop.Premium)", nil, "Shop.Premium"),
            ("#$delta", nil, nil), ("#", nil, nil), ("c", nil, nil), ("#%", "%", nil), ("#)/(/'", ")/(/'", nil),
            ("#K%C3%A4ufer/$entity", "Käufer", nil), ("#Customers/$entity/$delta", "Customers", nil),
        ] as [(String, String?, String?)])
    func `an entity has the set and type that its own context names`(context: String, set: String?, type: String?)
        throws
    {
        let read = try entity(#"{"@odata.context":"\#(context)","CustomerID":1}"#)
        #expect(read.set == set)
        #expect(read.type == type)
        #expect(read.values == ["CustomerID": .integer(1)])
    }

    @Test func `a page contains the entities whose context names its set, at any position of the set's name`() throws {
        for (context, own) in [
            ("http://h/$metadata#Customers/$delta", "#Customers/$entity"), ("#$delta", "#Customers/$entity"),
            ("#Shops(1)/Customers", "#Customers/$entity"), ("#Shops(1)/Customers", "#Shops(1)/Customers/$entity"),
        ] {
            let json = """
                {"value":[{"@context":"\(own)","CustomerID":1},{"@context":"#Orders/$entity","OrderID":1},
                {"@context":"#Unheard/$entity","X":1}],"@context":"\(context)"}
                """
            let feed = try v4.feed(Array(json.utf8), type: PayloadShop.customer)
            #expect(feed.entities.map(\.values) == [["CustomerID": .integer(1)]], "\(context)")
            #expect(feed.otherEntities.map(\.set) == ["Orders", "Unheard"], "\(context)")
        }
    }

    // MARK: Links

    @Test func `a 4.0 delta reports added and deleted links`() throws {
        let added = try item(
            ##"{"@odata.context":"#Customers/$link","source":"Customers(1)","relationship":"Orders","target":"Orders(2)"}"##
        )
        #expect(
            added
                == .link(
                    LinkChange(
                        isAdded: true, set: "Customers", source: "Customers(1)", relationship: "Orders",
                        target: "Orders(2)")))
        let deleted = try item(##"{"@context":"#Orders/$deletedLink","source":"Orders(2)","relationship":"Customer"}"##)
        #expect(
            deleted
                == .link(
                    LinkChange(
                        isAdded: false, set: "Orders", source: "Orders(2)", relationship: "Customer", target: nil)))
    }

    // MARK: Navigation properties

    @Test func `a 4.01 delta distinguishes changes of a navigation property from its complete content`() throws {
        for name in ["Orders@delta", "Orders@odata.delta"] {
            let read = try entity(
                """
                {"CustomerID":1,"\(name)":[{"OrderID":1},{"@removed":{"reason":"changed"},"@id":"Orders(2)"},{"@id":"Orders(3)"}],
                "Orders@nextLink":"more"}
                """)
            #expect(read.expanded == [])
            let gone = RemovedEntity(entity: EntityPayload(id: "Orders(2)"), reason: .changed)
            #expect(
                read.changes == [
                    NavigationDelta(
                        navigation: "Orders",
                        items: [
                            .entity(EntityPayload(values: ["OrderID": .integer(1)])), .removed(gone),
                            .entity(EntityPayload(id: "Orders(3)")),
                        ], nextLink: "more")
                ])
        }
        let whole = try entity(#"{"CustomerID":1,"Orders":[{"OrderID":1}]}"#)
        #expect(whole.changes == [])
        #expect(whole.expanded.map(\.entities.count) == [1])
    }

    @Test func `null or a removed entity reports the end of a link to a single entity`() throws {
        for (json, expanded, changes) in [
            (#""Customer":null"#, [EntityPayload.Expanded(navigation: "Customer", entities: [])], 0),
            (#""Customer@delta":null"#, [EntityPayload.Expanded(navigation: "Customer", entities: [])], 0),
            (#""Customer":{"@removed":{"reason":"deleted"},"@id":"Customers(1)"}"#, [], 1),
            (#""Customer@odata.delta":{"@removed":{"reason":"deleted"},"CustomerID":1}"#, [], 1),
        ] {
            let order = try v4.entity(Array(#"{"OrderID":1,\#(json)}"#.utf8), type: PayloadShop.order)
            #expect(order.expanded == expanded, "\(json)")
            #expect(order.changes.flatMap(\.items).compactMap(Self.removed).count == changes, "\(json)")
        }
    }

    @Test func `changes of unknown navigation properties are ignored`() throws {
        let read = try entity(#"{"CustomerID":1,"Friends@delta":[{"@removed":1}],"Name@delta":[]}"#)
        #expect(read.changes == [])
        #expect(read.ignored == ["Friends", "Name"])
    }

    // MARK: Errors

    @Test(arguments: [
        (#"{"@removed":{}}"#, PayloadError.Code.unexpectedShape, "/0"),
        (#"{"@removed":{},"Name":"a"}"#, .unexpectedShape, "/0"),
        (#"{"@removed":null,"CustomerID":1}"#, .typeMismatch, "/0/@removed"),
        (#"{"@odata.removed":true,"CustomerID":1}"#, .typeMismatch, "/0/@odata.removed"),
        (#"{"@removed":{},"CustomerID":"x"}"#, .typeMismatch, "/0/CustomerID"),
        (#"{"@removed":{},"id":1}"#, .typeMismatch, "/0/id"),
        (##"{"@context":"#Customers/$deletedEntity"}"##, .unexpectedShape, "/0"),
        (##"{"@context":"#Orders/$deletedEntity","@removed":{},"CustomerID":1}"##, .unexpectedShape, "/0"),
        (##"{"@context":"#Customers/$deletedEntity","id":{}}"##, .typeMismatch, "/0/id"),
        (##"{"@context":"#Customers/$link","source":"a","relationship":"r"}"##, .unexpectedShape, "/0"),
        (##"{"@context":"#Customers/$deletedLink","relationship":"r"}"##, .unexpectedShape, "/0"),
        (##"{"@context":"#Customers/$link","source":1,"relationship":"r","target":"t"}"##, .typeMismatch, "/0/source"),
        (##"{"@context":"#Orders/$entity","OrderID":"x"}"##, .typeMismatch, "/0/OrderID"),
        (##"{"@context":"#Orders/$entity","@type":"#Shop.Customer"}"##, .unknownType, "/0"),
        (#"{"Orders@delta":{}}"#, .typeMismatch, "/0/Orders@delta"),
        (#"{"Orders@delta":[1]}"#, .unexpectedShape, "/0/Orders@delta/0"),
        (#"{"Orders@delta":[{},{"@removed":{}}]}"#, .unexpectedShape, "/0/Orders@delta/1"),
        (#"{"Orders@delta":[{"OrderID":"x"}]}"#, .typeMismatch, "/0/Orders@delta/0/OrderID"),
        (
            ##"{"Orders@delta":[{"@context":"#Orders/$link","source":"a","relationship":"r","target":"t"}]}"##,
            .unexpectedShape, "/0/Orders@delta/0"
        ),
    ])
    func `an invalid item is an error with its path`(json: String, code: PayloadError.Code, path: String)
        throws
    {
        let error = try #require(throws: PayloadError.self) { try items(#"{"value":[\#(json)]}"#) }
        #expect(error.code == code)
        #expect(error.path == path)
    }
}
