import EDM
import Testing

@Suite struct `Navigation in CSDL` {
    static let legacy =
        CSDLSource.entityType(
            "Customer", #"<NavigationProperty Name="Orders" Relationship="Self.CO" FromRole="C" ToRole="O"/>"#)
        + CSDLSource.entityType(
            "Order",
            #"<Property Name="CustomerID" Type="Edm.Int32"/>"#
                + #"<NavigationProperty Name="Customer" Relationship="S.CO" FromRole="O" ToRole="C"/>"#)
        + #"<Association Name="CO"><End Role="C" Type="S.Customer" Multiplicity="0..1"><OnDelete Action="Cascade"/></End>"#
        + #"<End Role="O" Type="S.Order" Multiplicity="*"/><ReferentialConstraint>"#
        + #"<Principal Role="C"><PropertyRef Name="ID"/></Principal>"#
        + #"<Dependent Role="O"><PropertyRef Name="CustomerID"/></Dependent></ReferentialConstraint></Association>"#
        + #"<EntityContainer Name="E"><EntitySet Name="Customers" EntityType="S.Customer"/>"#
        + #"<EntitySet Name="Orders" EntityType="S.Order"/><AssociationSet Name="COs" Association="S.CO">"#
        + #"<End Role="C" EntitySet="Customers"/><End Role="O" EntitySet="Orders"/></AssociationSet></EntityContainer>"#

    static let current =
        CSDLSource.entityType(
            "Customer", #"<NavigationProperty Name="Orders" Type="Collection(S.Order)" Partner="Customer"/>"#)
        + CSDLSource.entityType(
            "Order",
            #"<Property Name="CustomerID" Type="Edm.Int32"/><NavigationProperty Name="Customer" Type="S.Customer">"#
                + #"<ReferentialConstraint Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty>"#)
        + #"<EntityContainer Name="E"><EntitySet Name="Customers" EntityType="S.Customer">"#
        + #"<NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>"#
        + #"<EntitySet Name="Orders" EntityType="S.Order">"#
        + #"<NavigationPropertyBinding Path="Customer" Target="Self.E/Customers"/></EntitySet></EntityContainer>"#

    static func navigations(_ model: EntityDataModel) throws -> (orders: Navigation, customer: Navigation) {
        let orders = model.findEntityType("S.Customer")?.findProperty("Orders")?.navigation
        let customer = model.findEntityType("S.Order")?.findProperty("Customer")?.navigation
        return (try #require(orders), try #require(customer))
    }

    @Test(arguments: [CSDLSource.v2(legacy), CSDLSource.v4(current)])
    func `V2 and V4 documents yield the same multiplicities, partners and constraints`(text: String) throws {
        let (orders, customer) = try Self.navigations(try CSDLReader.read(Array(text.utf8)))
        let pair = [ReferentialConstraint(dependent: "CustomerID", principal: "ID")]

        #expect(orders.targetType == "S.Order")
        #expect(orders.multiplicity == .many)
        #expect(orders.sourceMultiplicity == .zeroOrOne)
        #expect(orders.partner == "Customer")
        #expect(orders.constraints == [])
        #expect(orders.inverseConstraints == pair)

        #expect(customer.targetType == "S.Customer")
        #expect(customer.multiplicity == .zeroOrOne)
        #expect(customer.sourceMultiplicity == .many)
        #expect(customer.partner == "Orders")
        #expect(customer.constraints == pair)
        #expect(customer.inverseConstraints == [])
        #expect(customer.relationshipClass == .zeroOrOneToMany)
    }

    @Test(arguments: [CSDLSource.v2(legacy), CSDLSource.v4(current)])
    func `V2 and V4 documents bind navigation properties to the names of sets`(text: String) throws {
        let model = try CSDLReader.read(Array(text.utf8))
        #expect(model.findEntitySet("Customers")?.bindings == ["Orders": "Orders"])
        #expect(model.findEntitySet("Orders")?.bindings == ["Customer": "Customers"])
    }

    @Test func `a V2 relationship has the name of its association and is forward from the first end`() throws {
        let (orders, customer) = try Self.navigations(try EntityDataModel.v2(Self.legacy))
        #expect(orders.relationship == Relationship(name: "S.CO", isForward: true))
        #expect(customer.relationship == Relationship(name: "S.CO", isForward: false))
        #expect(orders.onDelete == "Cascade")
        #expect(customer.onDelete == nil)
    }

    @Test func `a V4 relationship has the name and direction of its first property`() throws {
        let (orders, customer) = try Self.navigations(try EntityDataModel.v4(Self.current))
        #expect(orders.relationship == Relationship(name: "S.Customer/Orders", isForward: true))
        #expect(customer.relationship == Relationship(name: "S.Customer/Orders", isForward: false))
    }

    @Test func `a V4 property without a partner forms a relationship with many sources`() throws {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType("A", #"<NavigationProperty Name="N" Type="S.A" Nullable="false"/>"#))
        let navigation = try #require(model.findEntityType("S.A")?.findProperty("N")?.navigation)
        #expect(navigation.multiplicity == .one)
        #expect(navigation.sourceMultiplicity == .many)
        #expect(navigation.partner == nil)
        #expect(navigation.relationship == Relationship(name: "S.A/N", isForward: true))
    }

    @Test func `a property may be its own partner`() throws {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType("A", #"<NavigationProperty Name="Spouse" Type="S.A" Partner="Spouse"/>"#))
        let navigation = try #require(model.findEntityType("S.A")?.findProperty("Spouse")?.navigation)
        #expect(navigation.partner == "Spouse")
        #expect(navigation.sourceMultiplicity == .zeroOrOne)
        #expect(navigation.relationship == Relationship(name: "S.A/Spouse", isForward: true))
    }

    @Test func `if two properties claim the same partner, only the property that the partner names gets it`() throws {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType(
                "A",
                #"<NavigationProperty Name="X" Type="S.B" Partner="Z"/><NavigationProperty Name="Y" Type="S.B" Partner="Z"/>"#
            )
                + CSDLSource.entityType("B", #"<NavigationProperty Name="Z" Type="Collection(S.A)" Partner="Y"/>"#))
        let type = try #require(model.findEntityType("S.A"))
        #expect(type.findProperty("X")?.navigation?.partner == nil)
        #expect(type.findProperty("Y")?.navigation?.partner == "Z")
    }

    @Test func `the roles distinguish the two ends of an association of a type with itself`() throws {
        let model = try EntityDataModel.v2(
            CSDLSource.entityType(
                "E",
                #"<NavigationProperty Name="Boss" Relationship="S.R" FromRole="Worker" ToRole="Boss"/>"#
                    + #"<NavigationProperty Name="Workers" Relationship="S.R" FromRole="Boss" ToRole="Worker"/>"#)
                + #"<Association Name="R"><End Role="Boss" Type="S.E" Multiplicity="0..1"/>"#
                + #"<End Role="Worker" Type="S.E" Multiplicity="*"/></Association>"#)
        let type = try #require(model.findEntityType("S.E"))
        #expect(type.findProperty("Boss")?.navigation?.partner == "Workers")
        #expect(type.findProperty("Workers")?.navigation?.partner == "Boss")
        #expect(type.findProperty("Boss")?.navigation?.relationship.isForward == false)
    }

    @Test func `an inherited navigation property is bound to the set in the association set of its base type`() throws {
        let model = try EntityDataModel.v2(
            Self.legacy.replacing(
                "<EntityContainer Name=\"E\">",
                with: #"<EntityType Name="Big" BaseType="S.Customer"/><EntityContainer Name="E">"#
            ).replacing(
                #"Name="Customers" EntityType="S.Customer""#, with: #"Name="Customers" EntityType="S.Big""#))
        #expect(model.findEntitySet("Customers")?.bindings == ["Orders": "Orders"])
    }

    @Test func `containment and the action on delete are read`() throws {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType(
                "A",
                #"<NavigationProperty Name="Parts" Type="Collection(S.A)" ContainsTarget="true">"#
                    + #"<OnDelete Action="SetNull"/></NavigationProperty>"#))
        let navigation = try #require(model.findEntityType("S.A")?.findProperty("Parts")?.navigation)
        #expect(navigation.containsTarget)
        #expect(navigation.onDelete == "SetNull")
    }

    // MARK: Careless metadata

    /// Two associations, one for each direction of the same constraint.
    static let twice =
        CSDLSource.entityType(
            "Customer", #"<NavigationProperty Name="Orders" Relationship="S.CO" FromRole="C" ToRole="O"/>"#)
        + CSDLSource.entityType(
            "Order",
            #"<Property Name="CustomerID" Type="Edm.Int32"/>"#
                + #"<NavigationProperty Name="Customer" Relationship="S.AC" FromRole="From" ToRole="To"/>"#)
        + #"<Association Name="CO"><End Role="C" Type="S.Customer" Multiplicity="1"/>"#
        + #"<End Role="O" Type="S.Order" Multiplicity="*"/><ReferentialConstraint>"#
        + #"<Principal Role="C"><PropertyRef Name="ID"/></Principal>"#
        + #"<Dependent Role="O"><PropertyRef Name="CustomerID"/></Dependent></ReferentialConstraint></Association>"#
        + oneWay

    /// An association that only the order uses, with principal and dependent exchanged.
    static let oneWay =
        #"<Association Name="AC"><End Role="From" Type="S.Order" Multiplicity="1"/>"#
        + #"<End Role="To" Type="S.Customer" Multiplicity="1"/><ReferentialConstraint>"#
        + #"<Principal Role="From"><PropertyRef Name="CustomerID"/></Principal>"#
        + #"<Dependent Role="To"><PropertyRef Name="ID"/></Dependent></ReferentialConstraint></Association>"#

    @Test func `the end whose properties are the key is the principal, regardless of the declared roles`() throws {
        let model = try EntityDataModel.v2(
            CSDLSource.entityType("Customer", "")
                + CSDLSource.entityType(
                    "Order",
                    #"<Property Name="CustomerID" Type="Edm.Int32"/>"#
                        + #"<NavigationProperty Name="Customer" Relationship="S.AC" FromRole="From" ToRole="To"/>"#)
                + Self.oneWay)
        let customer = try #require(model.findEntityType("S.Order")?.findProperty("Customer")?.navigation)
        #expect(customer.constraints == [ReferentialConstraint(dependent: "CustomerID", principal: "ID")])
        #expect(customer.inverseConstraints == [])
        // The customer has no navigation property for its orders, so their number is not limited.
        #expect(customer.multiplicity == .one)
        #expect(customer.sourceMultiplicity == .many)
    }

    @Test func `two associations over the same dependent properties are one relationship`() throws {
        let (orders, customer) = try Self.navigations(try EntityDataModel.v2(Self.twice))
        #expect(orders.partner == "Customer")
        #expect(customer.partner == "Orders")
        #expect(orders.relationship == Relationship(name: "S.AC", isForward: false))
        #expect(customer.relationship == Relationship(name: "S.AC", isForward: true))
        #expect(orders.multiplicity == .many)
        #expect(orders.sourceMultiplicity == .one)
        #expect(customer.multiplicity == .one)
        #expect(customer.sourceMultiplicity == .many)
        #expect(orders.inverseConstraints == customer.constraints)
    }
}
