import EDM

/// The model that the targets for payloads and URLs use.
enum FuzzModel {
    static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices><Schema \
        Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EnumType Name="Mood"><Member Name="Calm"/></EnumType>\
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.Int32"/>\
        </ComplexType><EntityType Name="Customer" OpenType="true"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" \
        Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String" MaxLength="20"/><Property Name="Price" \
        Type="Edm.Decimal" Scale="variable"/><Property Name="Ratio" Type="Edm.Double"/><Property Name="Since" \
        Type="Edm.DateTimeOffset" Precision="7"/><Property Name="Day" Type="Edm.Date"/><Property Name="At" \
        Type="Edm.TimeOfDay"/><Property Name="Span" Type="Edm.Duration"/><Property Name="Key" Type="Edm.Guid"/><Property \
        Name="Data" Type="Edm.Binary"/><Property Name="Long" Type="Edm.Int64"/><Property Name="Mood" Type="S.Mood"/>\
        <Property Name="Place" Type="Edm.GeographyPoint"/><Property Name="Tags" Type="Collection(Edm.String)"/><Property \
        Name="Home" Type="S.Address"/><NavigationProperty Name="Orders" Type="Collection(S.Order)" Partner="Customer"/>\
        </EntityType><EntityType Name="Premium" BaseType="S.Customer"><Property Name="Rank" Type="Edm.Byte"/></EntityType>\
        <EntityType Name="Order"><Key><PropertyRef Name="Region"/><PropertyRef Name="ID"/></Key><Property Name="Region" \
        Type="Edm.String" Nullable="false"/><Property Name="ID" Type="Edm.Int64" Nullable="false"/><NavigationProperty \
        Name="Customer" Type="S.Customer" Partner="Orders"/></EntityType><EntityContainer Name="C"><EntitySet \
        Name="Customers" EntityType="S.Customer"><NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>\
        <EntitySet Name="Orders" EntityType="S.Order"><NavigationPropertyBinding Path="Customer" Target="Customers"/>\
        </EntitySet></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    static let model: EntityDataModel = {
        guard let model = try? CSDLReader.read(Array(metadata.utf8)) else {
            preconditionFailure("the metadata of the targets are not readable")
        }
        return model
    }()

    static let customer: EntityType = {
        guard let type = model.findEntityType("S.Customer") else { preconditionFailure("the model has no customers") }
        return type
    }()
}
