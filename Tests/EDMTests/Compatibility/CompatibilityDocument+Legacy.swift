import EDM

extension CompatibilityDocument {
    /// The same document in V2, in which associations define the targets of navigation properties.
    static let legacy = CompatibilityDocument(
        elements: [
            #"<EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>"#
                + #"<Property Name="ID" Type="Edm.Int32" Nullable="false"/>"#
                + #"<Property Name="At" Type="Edm.DateTime" Precision="0"/>"#
                + #"<NavigationProperty Name="Orders" Relationship="S.CO" FromRole="C" ToRole="O"/></EntityType>"#,
            #"<EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>"#
                + #"<Property Name="ID" Type="Edm.Int32" Nullable="false"/>"#
                + #"<Property Name="CustomerID" Type="Edm.Int32"/><Property Name="Stamp" Type="Edm.Int32"/>"#
                + #"<NavigationProperty Name="Customer" Relationship="S.CO" FromRole="O" ToRole="C"/>"#
                + #"<NavigationProperty Name="Next" Relationship="S.Row" FromRole="Left" ToRole="Right"/></EntityType>"#,
            #"<Association Name="CO"><End Role="C" Type="S.Customer" Multiplicity="0..1"><!--delete--></End>"#
                + #"<End Role="O" Type="S.Order" Multiplicity="*"/><!--constraint--></Association>"#,
            #"<Association Name="Row"><End Role="Left" Type="S.Order" Multiplicity="0..1"/>"#
                + #"<End Role="Right" Type="S.Order" Multiplicity="0..1"/></Association>"#,
            #"<EntityContainer Name="E"><EntitySet Name="Customers" EntityType="S.Customer"/>"#
                + #"<EntitySet Name="Orders" EntityType="S.Order"/><EntitySet Name="Others" EntityType="S.Order"/>"#
                + #"<AssociationSet Name="COs" Association="S.CO"><End Role="C" EntitySet="Customers"/>"#
                + #"<End Role="O" EntitySet="Orders"/></AssociationSet>"#
                + #"<AssociationSet Name="Rows" Association="S.Row"><End Role="Left" EntitySet="Orders"/>"#
                + #"<End Role="Right" EntitySet="Orders"/></AssociationSet>"#
                + #"<FunctionImport Name="Ship" ReturnType="S.Order" EntitySet="Orders" m:HttpMethod="POST">"#
                + #"<Parameter Name="id" Type="Edm.Int32"/></FunctionImport></EntityContainer>"#,
        ],
        isLegacy: true,
        edits: [
            Edit(
                #"Name="At" Type="Edm.DateTime" Precision="0""#, #"Name="At" Type="Edm.DateTime" Precision="3""#,
                "Property S.Customer/At: precision changed from 0 to 3", .anythingElse),
            Edit(
                #"Name="Stamp" Type="Edm.Int32""#, #"Name="Stamp" Type="Edm.Int32" ConcurrencyMode="Fixed""#,
                "Property S.Order/Stamp: concurrency mode is now Fixed", .anythingElse),
            Edit(
                #"Type="S.Order" Multiplicity="*""#, #"Type="S.Order" Multiplicity="0..1""#,
                "End S.CO/O: multiplicity changed from * to 0..1", .propertyTypeChanged),
            Edit(
                "<!--delete-->", #"<OnDelete Action="Cascade"/>"#, "End S.CO/C: action on delete is now Cascade",
                .anythingElse),
            Edit(
                "<!--constraint-->",
                #"<ReferentialConstraint><Principal Role="C"><PropertyRef Name="ID"/></Principal>"#
                    + #"<Dependent Role="O"><PropertyRef Name="CustomerID"/></Dependent></ReferentialConstraint>"#,
                "Association S.CO: referential constraint is now O to C: CustomerID = ID", .anythingElse),
            Edit(
                #"FromRole="Left" ToRole="Right""#, #"FromRole="Right" ToRole="Left""#,
                "NavigationProperty S.Order/Next: relationship changed from S.Row from Left to Right to S.Row from "
                    + "Right to Left", .anythingElse),
            Edit(
                #"<End Role="Right" EntitySet="Orders"/>"#, #"<End Role="Right" EntitySet="Others"/>"#,
                "AssociationSet S.E/Rows: ends changed from Left in Orders, Right in Orders to Left in Orders, Right in "
                    + "Others", .anythingElse),
            Edit(
                #"<Parameter Name="id" Type="Edm.Int32"/>"#, #"<Parameter Name="id" Type="Edm.Int64"/>"#,
                "Parameter S.E/Ship(Edm.Int32)/id: type changed from Edm.Int32 to Edm.Int64", .parameterTypeChanged),
            Edit(
                #"m:HttpMethod="POST""#, #"m:HttpMethod="GET""#,
                "FunctionImport S.E/Ship(Edm.Int32): HTTP method changed from POST to GET", .anythingElse),
        ])
}
