import EDM

/// The functions and actions that the OASIS examples call.
enum InvocationModel {
    static func v4(_ version: String = "4.0") throws -> EntityDataModel {
        try CSDLReader.read(Array(text.replacing("VERSION", with: version).utf8))
    }

    private static let text = """
        <edmx:Edmx Version="VERSION" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Model" xmlns="http://docs.oasis-open.org/odata/ns/edm">
          <EnumType Name="Pattern" IsFlags="true"><Member Name="Red" Value="1"/><Member Name="Yellow" Value="2"/></EnumType>
          <ComplexType Name="Address"><Property Name="Street" Type="Edm.String"/></ComplexType>
          <ComplexType Name="Wrapped"><Property Name="value" Type="Edm.Int32"/><Property Name="x" Type="Edm.Int32"/></ComplexType>
          <EntityType Name="Customer"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/></EntityType>
          <EntityType Name="VipCustomer" BaseType="Model.Customer"><Property Name="Rank" Type="Edm.Int32"/></EntityType>
          <Function Name="ProductsByCategoryId">
            <Parameter Name="categoryId" Type="Edm.Int32" Nullable="false"/><ReturnType Type="Edm.Int32"/></Function>
          <Function Name="ProductsByColor">
            <Parameter Name="color" Type="Edm.String"/><ReturnType Type="Edm.Int32"/></Function>
          <Function Name="ProductsByColor">
            <Parameter Name="colors" Type="Collection(Edm.String)"/><ReturnType Type="Edm.Int32"/></Function>
          <Function Name="ProductsByComplex">
            <Parameter Name="complex" Type="Model.Address"/><ReturnType Type="Edm.Int32"/></Function>
          <Function Name="ByPattern">
            <Parameter Name="pattern" Type="Model.Pattern"/>
            <Parameter Name="patterns" Type="Collection(Model.Pattern)" Nullable="false"/>
            <ReturnType Type="Edm.Int32"/></Function>
          <Function Name="All">
            <Parameter Name="date" Type="Edm.Date"/><Parameter Name="guid" Type="Edm.Guid"/>
            <Parameter Name="span" Type="Edm.Duration"/><Parameter Name="amount" Type="Edm.Decimal" Scale="2"/>
            <Parameter Name="big" Type="Edm.Int64"/><Parameter Name="at" Type="Edm.DateTimeOffset"/>
            <ReturnType Type="Edm.Int32"/></Function>
          <Function Name="Optional"><Parameter Name="a" Type="Edm.Int32" Nullable="false"/>
            <Parameter Name="b" Type="Edm.Int32" Nullable="false">
              <Annotation Term="Org.OData.Core.V1.OptionalParameter"/></Parameter>
            <ReturnType Type="Edm.Int32"/></Function>
          <Function Name="ProductsOrderedBy">
            <Parameter Name="Customers" Type="Collection(Model.Customer)" Nullable="false"/>
            <ReturnType Type="Edm.Int32"/></Function>
          <Function Name="Level" IsBound="true">
            <Parameter Name="it" Type="Model.Customer"/><ReturnType Type="Edm.Int32"/></Function>
          <Function Name="Level" IsBound="true">
            <Parameter Name="it" Type="Model.VipCustomer"/><ReturnType Type="Edm.Int64"/></Function>
          <Action Name="Activation"/>
          <Action Name="Marking"><Parameter Name="mark" Type="Edm.PrimitiveType"/></Action>
          <Action Name="Rejection" IsBound="true">
            <Parameter Name="it" Type="Model.VipCustomer"/><Parameter Name="reason" Type="Edm.String"/>
            <Parameter Name="amount" Type="Edm.Decimal" Scale="2"/></Action>
          <Action Name="Invite"><Parameter Name="guest" Type="Model.Customer"/></Action>
          <EntityContainer Name="C">
            <EntitySet Name="Customers" EntityType="Model.Customer"/>
            <FunctionImport Name="ProductsByCategoryId" Function="Model.ProductsByCategoryId"/>
            <FunctionImport Name="ProductsByColor" Function="Model.ProductsByColor"/>
            <FunctionImport Name="ProductsByComplex" Function="Model.ProductsByComplex"/>
            <FunctionImport Name="ByPattern" Function="Model.ByPattern"/>
            <FunctionImport Name="All" Function="Model.All"/>
            <FunctionImport Name="Optional" Function="Model.Optional"/>
            <FunctionImport Name="ProductsOrderedBy" Function="Model.ProductsOrderedBy"/>
            <ActionImport Name="Activation" Action="Model.Activation"/>
            <ActionImport Name="Marking" Action="Model.Marking"/>
            <ActionImport Name="Invite" Action="Model.Invite"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    static func v2() throws -> EntityDataModel { try CSDLReader.read(Array(v2Text.utf8)) }

    private static let v2Text = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <edmx:DataServices m:DataServiceVersion="2.0">
        <Schema Namespace="NS" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
          <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/></ComplexType>
          <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
          <EntityContainer Name="C" m:IsDefaultEntityContainer="true">
            <EntitySet Name="Orders" EntityType="NS.Order"/>
            <FunctionImport Name="All" ReturnType="Edm.String" m:HttpMethod="GET">
              <Parameter Name="at" Type="Edm.DateTime"/><Parameter Name="id" Type="Edm.Guid"/>
              <Parameter Name="big" Type="Edm.Int64"/><Parameter Name="amount" Type="Edm.Decimal"/>
              <Parameter Name="text" Type="Edm.String"/><Parameter Name="bytes" Type="Edm.Binary"/>
            </FunctionImport>
            <FunctionImport Name="Place" ReturnType="NS.Place"><Parameter Name="p" Type="NS.Place"/></FunctionImport>
            <FunctionImport Name="Remove" m:HttpMethod="DELETE"/>
          </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}
