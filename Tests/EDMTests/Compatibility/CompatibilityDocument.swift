import EDM

/// A document whose parts can be changed separately, with the edits and the expected changes.
struct CompatibilityDocument: Sendable, CustomStringConvertible {
    /// The elements of the schema. Their order has no meaning.
    let elements: [String]
    let isLegacy: Bool
    let edits: [Edit]

    var description: String { isLegacy ? "V2" : "V4" }

    /// An edit of the text that results in a single change of the model.
    struct Edit: Sendable, CustomStringConvertible {
        let old: String
        let new: String
        /// The line that describes the change.
        let line: String
        let rule: CompatibilityRule

        init(_ old: String, _ new: String, _ line: String, _ rule: CompatibilityRule) {
            self.old = old
            self.new = new
            self.line = line
            self.rule = rule
        }

        var description: String { line }
    }

    var model: EntityDataModel { get throws { try Self.read(elements, isLegacy) } }

    /// Returns the model of the document with these edits, and with its elements in this order.
    func model(with edits: [Edit], order: [Int]? = nil) throws -> EntityDataModel {
        var texts = elements
        for edit in edits {
            let places = texts.indices.filter { texts[$0].contains(edit.old) }
            guard places.count == 1, texts[places[0]].ranges(of: edit.old).count == 1 else {
                throw Misplaced(text: edit.old)
            }
            texts[places[0]] = texts[places[0]].replacing(edit.old, with: edit.new)
        }
        return try Self.read(order.map { $0.map { texts[$0] } } ?? texts, isLegacy)
    }

    /// The error for an edit whose text does not occur exactly once.
    struct Misplaced: Error { let text: String }

    private static func read(_ elements: [String], _ isLegacy: Bool) throws -> EntityDataModel {
        let body = elements.joined(separator: "\n")
        return isLegacy ? try EntityDataModel.v2(body) : try EntityDataModel.v4(body)
    }
}

extension CompatibilityDocument {
    static let current = CompatibilityDocument(
        elements: [
            #"<EntityType Name="Party" Abstract="true"><Key><PropertyRef Name="ID"/></Key>"#
                + #"<Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="ID2" Type="Edm.Int32"/>"#
                + "<!--party--></EntityType>",
            #"<EntityType Name="Customer" BaseType="S.Party"><Property Name="Name" Type="Edm.String" MaxLength="40"/>"#
                + #"<Property Name="Credit" Type="Edm.Decimal" Precision="9" Scale="2"/>"#
                + #"<Property Name="Address" Type="S.Address"/><Property Name="Phone" Type="Edm.String"/>"#
                + #"<Property Name="Birth" Type="Edm.DateTimeOffset"/><Property Name="Color" Type="S.Color"/>"#
                + #"<NavigationProperty Name="Orders" Type="Collection(S.Order)" Partner="Customer"/><!--customer-->"#
                + "</EntityType>",
            #"<EntityType Name="Order" BaseType="S.Party"><Property Name="CustomerID" Type="Edm.Int32"/>"#
                + #"<Property Name="OtherID" Type="Edm.Int32"/>"#
                + #"<NavigationProperty Name="Customer" Type="S.Customer" Partner="Orders"><ReferentialConstraint "#
                + #"Property="CustomerID" ReferencedProperty="ID"/></NavigationProperty>"#
                + #"<NavigationProperty Name="Payer" Type="S.Customer"/>"#
                + #"<NavigationProperty Name="Items" Type="Collection(S.Item)"/></EntityType>"#,
            #"<EntityType Name="Item"><Key><PropertyRef Name="No"/></Key>"#
                + #"<Property Name="No" Type="Edm.Int32" Nullable="false"/><Property Name="Sub" Type="Edm.Int32"/>"#
                + "</EntityType>",
            #"<ComplexType Name="Address"><Property Name="City" Type="Edm.String"/>"#
                + #"<Property Name="Zip" Type="Edm.String" Unicode="false"/></ComplexType>"#,
            #"<ComplexType Name="Loose"/>"#,
            #"<EnumType Name="Color"><Member Name="Red" Value="0"/><Member Name="Green" Value="1"/><!--color-->"#
                + "</EnumType>",
            #"<EnumType Name="Size" UnderlyingType="Edm.Byte"><Member Name="S" Value="1"/></EnumType>"#,
            #"<TypeDefinition Name="Money" UnderlyingType="Edm.Decimal" Precision="12"/>"#,
            #"<Action Name="Ship" IsBound="true"><Parameter Name="it" Type="S.Order"/>"#
                + #"<Parameter Name="speed" Type="Edm.Int32"/><!--ship--></Action>"#,
            #"<Action Name="Swap"><Parameter Name="a" Type="Edm.Int32"/><Parameter Name="b" Type="Edm.Int32"/>"#
                + "<!--swap--></Action>",
            #"<Action Name="Clean"><Parameter Name="deep" Type="Edm.Boolean"/><!--clean--></Action>"#,
            #"<Function Name="Top"><Parameter Name="n" Type="Edm.Int32"/><!--top--><ReturnType "#
                + #"Type="Collection(S.Order)"/></Function>"#,
            #"<Function Name="Sum"><Parameter Name="year" Type="Edm.Int16"/><ReturnType Type="Edm.Decimal"/></Function>"#,
            #"<Function Name="Rate"><Parameter Name="day" Type="Edm.Date"/><ReturnType Type="Edm.Decimal"/></Function>"#,
            #"<Function Name="Sum"><Parameter Name="name" Type="Edm.String"/><ReturnType Type="Edm.Int64"/></Function>"#,
            #"<EntityContainer Name="E"><EntitySet Name="Customers" EntityType="S.Customer">"#
                + #"<NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>"#
                + #"<EntitySet Name="Orders" EntityType="S.Order">"#
                + #"<NavigationPropertyBinding Path="Customer" Target="Customers"/><!--orders--></EntitySet>"#
                + #"<EntitySet Name="Clients" EntityType="S.Customer"/><EntitySet Name="Parties" EntityType="S.Party"/>"#
                + #"<Singleton Name="Me" Type="S.Customer"/><ActionImport Name="Clean" Action="S.Clean"/>"#
                + #"<FunctionImport Name="Top" Function="S.Top" EntitySet="Orders"/><!--container--></EntityContainer>"#,
        ],
        isLegacy: false, edits: additions + removals + typeChanges + otherChanges)

    private static let additions = [
        Edit(
            "<!--party-->", #"<Property Name="Note" Type="Edm.String"/>"#, "Property S.Party/Note: added",
            .propertyAdded
        ),
        Edit(
            "<!--customer-->", #"<NavigationProperty Name="Boss" Type="S.Customer"/>"#,
            "NavigationProperty S.Customer/Boss: added", .propertyAdded),
        Edit(
            #"<ComplexType Name="Loose"/>"#,
            #"<ComplexType Name="Loose"/><ComplexType Name="New"><Property Name="A" Type="Edm.Int32"/></ComplexType>"#,
            "ComplexType S.New: added", .typeAdded),
        Edit("<!--color-->", #"<Member Name="Blue" Value="2"/>"#, "Member S.Color/Blue: added", .memberAdded),
        Edit(
            "<!--ship-->", #"<Parameter Name="gift" Type="Edm.Boolean"/>"#,
            "Parameter S.Ship(S.Order)/gift: added", .nullableParameterAppended),
        Edit(
            "<!--clean-->", #"<Parameter Name="why" Type="Edm.String" Nullable="false"/>"#,
            "Parameter S.Clean()/why: added", .anythingElse),
        Edit(
            "<!--top-->", #"<Parameter Name="from" Type="Edm.Int32"/>"#,
            "Parameter S.Top(Edm.Int32)/from: added", .anythingElse),
        Edit(
            #"<TypeDefinition Name="Money""#, #"<Action Name="Stop"/><TypeDefinition Name="Money""#,
            "Action S.Stop(): added", .operationAdded),
        Edit(
            "<!--swap-->", #"<ReturnType Type="Edm.Int32"/>"#, "ReturnType S.Swap()/$ReturnType: added",
            .parameterTypeChanged),
        Edit(
            "<!--orders-->", #"<NavigationPropertyBinding Path="Payer" Target="Clients"/>"#,
            "NavigationPropertyBinding S.E/Orders/Payer: added", .anythingElse),
        Edit(
            "<!--container-->", #"<EntitySet Name="Items" EntityType="S.Item"/>"#, "EntitySet S.E/Items: added",
            .entitySetAdded),
    ]

    private static let removals = [
        Edit(
            #"<Property Name="Phone" Type="Edm.String"/>"#, "", "Property S.Customer/Phone: removed", .propertyRemoved),
        Edit(
            #"<NavigationProperty Name="Items" Type="Collection(S.Item)"/>"#, "",
            "NavigationProperty S.Order/Items: removed", .propertyRemoved),
        Edit(#"<Member Name="Green" Value="1"/>"#, "", "Member S.Color/Green: removed", .memberRemoved),
        Edit(
            #"<Function Name="Sum"><Parameter Name="name" Type="Edm.String"/><ReturnType Type="Edm.Int64"/></Function>"#,
            "", "Function S.Sum(Edm.String): removed", .elementRemoved),
        Edit(#"<Singleton Name="Me" Type="S.Customer"/>"#, "", "Singleton S.E/Me: removed", .elementRemoved),
        Edit(
            #"<ActionImport Name="Clean" Action="S.Clean"/>"#, "", "ActionImport S.E/Clean: removed", .elementRemoved),
        Edit(
            #"<NavigationPropertyBinding Path="Orders" Target="Orders"/>"#, "",
            "NavigationPropertyBinding S.E/Customers/Orders: removed", .elementRemoved),
    ]

    private static let typeChanges = [
        Edit(
            #"Name="City" Type="Edm.String""#, #"Name="City" Type="Edm.Int32""#,
            "Property S.Address/City: type changed from Edm.String to Edm.Int32", .propertyTypeChanged),
        Edit(
            #"Type="Edm.String" MaxLength="40""#, #"Type="Edm.String" MaxLength="40" Nullable="false""#,
            "Property S.Customer/Name: nullability changed from true to false", .propertyTypeChanged),
        Edit(
            #"Name="Payer" Type="S.Customer""#, #"Name="Payer" Type="S.Customer" Nullable="false""#,
            "NavigationProperty S.Order/Payer: multiplicity changed from 0..1 to 1", .propertyTypeChanged),
        Edit(
            #"Name="speed" Type="Edm.Int32""#, #"Name="speed" Type="Edm.Int64""#,
            "Parameter S.Ship(S.Order)/speed: type changed from Edm.Int32 to Edm.Int64", .parameterTypeChanged),
        Edit(
            #"Type="Collection(S.Order)"/></Function>"#, #"Type="Collection(S.Order)" Nullable="false"/></Function>"#,
            "ReturnType S.Top(Edm.Int32)/$ReturnType: nullability changed from true to false", .parameterTypeChanged),
        Edit(
            #"Name="day" Type="Edm.Date""#, #"Name="day" Type="Edm.String""#,
            "Parameter S.Rate(Edm.Date)/day: type changed from Edm.Date to Edm.String", .parameterTypeChanged),
        Edit(
            #"<ComplexType Name="Address">"#, #"<ComplexType Name="Address" BaseType="S.Loose">"#,
            "ComplexType S.Address: base type is now S.Loose", .baseTypeChanged),
        Edit(
            #"<Member Name="Red" Value="0"/>"#, #"<Member Name="Red" Value="7"/>"#,
            "Member S.Color/Red: value changed from 0 to 7", .memberValueChanged),
        Edit(
            #"<EntitySet Name="Parties" EntityType="S.Party"/>"#, #"<EntitySet Name="Parties" EntityType="S.Item"/>"#,
            "EntitySet S.E/Parties: type changed from S.Party to S.Item", .anythingElse),
    ]

    private static let otherChanges = [
        Edit(
            #"<PropertyRef Name="No"/>"#, #"<PropertyRef Name="No"/><PropertyRef Name="Sub"/>"#,
            "EntityType S.Item: key changed from No to No, Sub", .anythingElse),
        Edit(
            #"<PropertyRef Name="ID"/>"#, #"<PropertyRef Name="ID2"/>"#,
            "EntityType S.Party: key changed from ID to ID2", .anythingElse),
        Edit(
            #"<EntityType Name="Party" Abstract="true">"#,
            #"<EntityType Name="Party" Abstract="true" OpenType="true">"#,
            "EntityType S.Party: open type changed from false to true", .anythingElse),
        Edit(
            #"<EntityType Name="Customer" BaseType="S.Party">"#,
            #"<EntityType Name="Customer" BaseType="S.Party" HasStream="true">"#,
            "EntityType S.Customer: media stream changed from false to true", .anythingElse),
        Edit(
            #"<EntityType Name="Item">"#, #"<EntityType Name="Item" Abstract="true">"#,
            "EntityType S.Item: abstract changed from false to true", .anythingElse),
        Edit(
            #"Precision="9" Scale="2""#, #"Precision="9" Scale="3""#,
            "Property S.Customer/Credit: scale changed from 2 to 3", .anythingElse),
        Edit(
            #"Name="Zip" Type="Edm.String" Unicode="false""#, #"Name="Zip" Type="Edm.String""#,
            "Property S.Address/Zip: unicode was false", .anythingElse),
        Edit(
            #"UnderlyingType="Edm.Decimal" Precision="12""#, #"UnderlyingType="Edm.Decimal" Precision="13""#,
            "TypeDefinition S.Money: precision changed from 12 to 13", .anythingElse),
        Edit(
            #"UnderlyingType="Edm.Byte""#, #"UnderlyingType="Edm.Int16""#,
            "EnumType S.Size: underlying type changed from Edm.Byte to Edm.Int16", .anythingElse),
        Edit(
            #"Property="CustomerID" ReferencedProperty"#, #"Property="OtherID" ReferencedProperty"#,
            "NavigationProperty S.Order/Customer: referential constraint changed from CustomerID = ID to OtherID = ID",
            .anythingElse),
        Edit(
            #"<Parameter Name="a" Type="Edm.Int32"/><Parameter Name="b" Type="Edm.Int32"/>"#,
            #"<Parameter Name="b" Type="Edm.Int32"/><Parameter Name="a" Type="Edm.Int32"/>"#,
            "Action S.Swap(): order of parameters changed from a, b to b, a", .anythingElse),
        Edit(
            #"Path="Customer" Target="Customers""#, #"Path="Customer" Target="Clients""#,
            "NavigationPropertyBinding S.E/Orders/Customer: target changed from Customers to Clients", .anythingElse),
        Edit(
            #"Function="S.Top" EntitySet="Orders""#, #"Function="S.Top""#,
            "FunctionImport S.E/Top: entity set was Orders", .anythingElse),
    ]
}
