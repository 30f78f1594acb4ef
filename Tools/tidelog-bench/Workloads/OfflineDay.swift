internal import EDM
internal import Operations
internal import SeededRandom

/// The changes of an app in a shop without network: new customers with orders and items, changes of existing orders,
/// and tags for them. Ten operations in a round, the same in each run.
struct OfflineDay {
    static let customers = 5_000
    static let tags = 100

    let operations: Int
    /// The number of existing orders: two of them are changed in each round.
    private var orders: Int { (operations + 9) / 10 * 2 }

    static let service = ServiceDescription(root: "http://127.0.0.1/", metadata: Array(metadata.utf8))

    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        <Property Name="City" Type="Edm.String"/>
        <NavigationProperty Name="Orders" Type="Collection(Shop.Order)" Partner="Customer"/></EntityType>
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="CustomerID" Type="Edm.Int32"/>
        <Property Name="Note" Type="Edm.String"/><Property Name="Amount" Type="Edm.Decimal" Scale="2"/>
        <NavigationProperty Name="Customer" Type="Shop.Customer" Partner="Orders">
        <ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty>
        <NavigationProperty Name="Items" Type="Collection(Shop.Item)" Partner="Order"/>
        <NavigationProperty Name="Tags" Type="Collection(Shop.Tag)" Partner="Orders"/></EntityType>
        <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Quantity" Type="Edm.Int32"/>
        <Property Name="Text" Type="Edm.String"/>
        <NavigationProperty Name="Order" Type="Shop.Order" Partner="Items"/></EntityType>
        <EntityType Name="Tag"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Orders" Type="Collection(Shop.Order)" Partner="Tags"/></EntityType>
        <EntityContainer Name="C">
        <EntitySet Name="Customers" EntityType="Shop.Customer">
        <NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
        <EntitySet Name="Orders" EntityType="Shop.Order"><NavigationPropertyBinding Path="Customer" Target="Customers"/>
        <NavigationPropertyBinding Path="Items" Target="Items"/>
        <NavigationPropertyBinding Path="Tags" Target="Tags"/></EntitySet>
        <EntitySet Name="Items" EntityType="Shop.Item"><NavigationPropertyBinding Path="Order" Target="Orders"/></EntitySet>
        <EntitySet Name="Tags" EntityType="Shop.Tag"><NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    // MARK: Records

    /// Calls `body` with the records: the metadata, the downloaded entities, and the operations.
    func forEachRecord(_ body: (Record) throws -> Void) throws {
        try body(Record(time: 0, body: .serviceInstalled(Self.service)))
        let downloaded =
            (1...Self.customers).map {
                image($0, "Customers", ["ID": .integer(Int64($0)), "Name": .string("Customer")])
            }
            + (1...Self.tags).map { image(Self.customers + $0, "Tags", ["ID": .integer(Int64($0))]) }
            + (1...orders).map { number in
                let customer = Int64(number % Self.customers + 1)
                return image(
                    Self.customers + Self.tags + number, "Orders",
                    ["ID": .integer(Int64(number)), "CustomerID": .integer(customer), "Note": .string("")], etag: "1")
            }
        for start in stride(from: 0, to: downloaded.count, by: 1_000) {
            let page = Array(downloaded[start..<min(start + 1_000, downloaded.count)])
            try body(Record(time: 0, body: .entitiesRead(page)))
        }
        var random = SeededRandom(seed: 1)
        var next = UInt64(downloaded.count)
        var left = operations
        while left > 0 {
            for action in round((operations - left) / 10, &next, &random).prefix(left) {
                try body(Record(time: 0, body: .operation(Operation(action))))
                left -= 1
            }
        }
    }

    private func image(_ id: Int, _ set: String, _ values: PropertyValues, etag: String? = nil) -> EntityImage {
        EntityImage(
            entity: EntityID(rawValue: UInt64(id)), set: set, type: "Shop.\(set.dropLast())", values: values, etag: etag
        )
    }

    private func round(_ number: Int, _ next: inout UInt64, _ random: inout SeededRandom) -> [Operation.Action] {
        func new(
            _ set: String, _ values: PropertyValues, _ bindings: [Binding] = [], in parent: Parent? = nil
        ) -> (EntityID, Operation.Action) {
            next += 1
            let id = EntityID(rawValue: next)
            let type = "Shop.\(set.dropLast())"
            return (
                id,
                .create(Creation(entity: id, set: set, type: type, values: values, bindings: bindings), parent: parent)
            )
        }
        func known(_ number: Int) -> EntityID { EntityID(rawValue: UInt64(number)) }
        let firstOrder = Self.customers + Self.tags + number * 2 + 1
        var actions: [Operation.Action] = []
        let (customer, creation) = new("Customers", ["Name": .string("New \(number)"), "City": .string("Berlin")])
        actions.append(creation)
        for owner in [customer, known(1 + random.below(Self.customers))] {
            let (order, creation) = new(
                "Orders", ["Note": .string("deliver before noon"), "Amount": .decimal(DecimalValue(Int64(number)))],
                [Binding(navigation: "Customer", targets: [owner])])
            actions.append(creation)
            for place in 1...2 {
                let values: PropertyValues = ["Quantity": .integer(Int64(place)), "Text": .string("an item")]
                actions.append(new("Items", values, in: Parent(entity: order, navigation: "Items")).1)
            }
        }
        for place in 0...1 {
            actions.append(.update(known(firstOrder + place), changes: ["Note": .string("call first")], bindings: []))
        }
        let tag = known(Self.customers + 1 + random.below(Self.tags))
        actions.append(.createLink(Link(from: known(firstOrder), navigation: "Tags", to: tag)))
        return actions
    }
}
