import EDM
import Testing

@Suite struct `Types in CSDL` {
    @Test func `a derived type has the properties and the key of the base type before its own`() throws {
        let model = try EntityDataModel.v4(
            #"<EntityType Name="B" BaseType="Self.A"><Property Name="Y" Type="Edm.String"/></EntityType>"#
                + CSDLSource.entityType("A", #"<Property Name="X" Type="Edm.String"/>"#))
        let type = try #require(model.findEntityType("S.B"))
        #expect(type.properties.map(\.name) == ["ID", "X", "Y"])
        #expect(type.properties.map(\.declaringType) == ["S.A", "S.A", "S.B"])
        #expect(type.keyProperties.map(\.name) == ["ID"])
        #expect(type.baseType == "S.A")
        #expect(model.isType("S.B", derivedFrom: "S.A"))
        #expect(model.derivedTypes(of: "S.A") == ["S.B"])
    }

    @Test func `a type that derives from an open media type is an open media type`() throws {
        let model = try EntityDataModel.v4(
            #"<EntityType Name="A" OpenType="true" HasStream="true" Abstract="true"/>"#
                + #"<EntityType Name="B" BaseType="S.A"/>"#)
        let type = try #require(model.findEntityType("S.B"))
        #expect(type.isOpen)
        #expect(type.hasStream)
        #expect(!type.isAbstract)
    }

    @Test func `a composite key keeps the order of its references`() throws {
        let model = try EntityDataModel.v4(
            #"<EntityType Name="A"><Key><PropertyRef Name="Y"/><PropertyRef Name="X"/></Key>"#
                + #"<Property Name="X" Type="Edm.String"/><Property Name="Y" Type="Edm.String"/></EntityType>"#)
        #expect(model.findEntityType("S.A")?.keyProperties.map(\.name) == ["Y", "X"])
    }

    @Test func `a key property with a path is named by its alias`() throws {
        let model = try EntityDataModel.v4(
            #"<ComplexType Name="C"><Property Name="ID" Type="Edm.Int32"/></ComplexType>"#
                + #"<EntityType Name="A"><Key><PropertyRef Name="Info/ID" Alias="Number"/></Key>"#
                + #"<Property Name="Info" Type="S.C" Nullable="false"/></EntityType>"#)
        let type = try #require(model.findEntityType("S.A"))
        let int = TypeReference(.primitive(.int32))
        #expect(type.keyReferences == [KeyReference(path: "Info/ID", alias: "Number", type: int)])
        #expect(type.keyParts == [KeyPart(name: "Number", path: "Info/ID", type: int)])
        #expect(type.keyProperties.map(\.name) == ["Info"])
    }

    @Test func `a type name refers to the type that the document declares`() throws {
        let model = try EntityDataModel.v4(
            #"<EnumType Name="E"/><TypeDefinition Name="T" UnderlyingType="Edm.Decimal"/><ComplexType Name="C">"#
                + #"<Property Name="A" Type="Collection(Edm.Int64)"/><Property Name="B" Type="Self.E"/>"#
                + #"<Property Name="D" Type="S.T"/><Property Name="F" Type="Self.C"/>"#
                + #"<Property Name="G" Type="Other.Thing"/></ComplexType>"#)
        let properties = try #require(model.findComplexType("S.C")).properties
        #expect(
            properties.map(\.type) == [
                TypeReference(.primitive(.int64), isCollection: true), TypeReference(.enumeration(name: "S.E")),
                TypeReference(.typeDefinition(name: "S.T", underlying: .decimal)),
                TypeReference(.complex(name: "S.C")), TypeReference(.unresolved(name: "Other.Thing")),
            ])
    }

    @Test func `primitive types may be written without their namespace, and Float is read as Double`() throws {
        let model = try EntityDataModel.v2(
            #"<ComplexType Name="C"><Property Name="A" Type="String"/><Property Name="B" Type="Edm.Float"/>"#
                + #"<Property Name="C" Type="Float"/></ComplexType>"#)
        #expect(
            model.findComplexType("S.C")?.properties.map(\.type.primitive) == [.string, .double, .double])
    }

    @Test func `facets are read, Max is the maximum length, and unknown facets are ignored`() throws {
        let model = try EntityDataModel.v4(
            #"<ComplexType Name="C">"#
                + #"<Property Name="A" Type="Edm.String" MaxLength="Max" Unicode="false" Collation="x" DefaultValue=""/>"#
                + #"<Property Name="B" Type="Edm.Decimal" Precision="9" Scale="variable" Nullable="false"/>"#
                + #"<Property Name="D" Type="Edm.GeographyPoint" SRID="4326"/></ComplexType>"#)
        let properties = try #require(model.findComplexType("S.C")).properties
        #expect(properties[0].facets == Facets(maxLength: .max, isUnicode: false, defaultValue: ""))
        #expect(properties[1].facets == Facets(precision: 9, scale: .variable))
        #expect(properties.map(\.isNullable) == [true, false, true])
        #expect(properties[2].facets.srid == "4326")
    }

    @Test func `enumeration members without a value continue from the previous value`() throws {
        let model = try EntityDataModel.v4(
            #"<EnumType Name="E" IsFlags="True" UnderlyingType="Edm.Byte"><Member Name="A"/>"#
                + #"<Member Name="B" Value="5"/><Member Name="C"/></EnumType>"#)
        let type = try #require(model.enumerationType(named: "S.E"))
        #expect(type.members.map(\.value) == [0, 5, 6])
        #expect(type.isFlags)
        #expect(type.underlyingType == .byte)
    }

    @Test(arguments: [
        ("<Schema xmlns='http://docs.oasis-open.org/odata/ns/edm' Namespace='S'/>", ODataVersion.v4),
        ("<Schema xmlns='http://schemas.microsoft.com/ado/2006/04/edm' Namespace='S'/>", .v2),
        (CSDLSource.v4("", version: "4.01"), .v401),
        (CSDLSource.v4("", version: "4.02"), .v401),
        (CSDLSource.v2(""), .v2),
        (CSDLSource.v2("").replacing("DataServiceVersion=\"2.0\"", with: "MaxDataServiceVersion=\"3.0\""), .v3),
    ])
    func `the version is read from the namespaces and the envelope`(text: String, version: ODataVersion) throws {
        #expect(try CSDLReader.read(Array(text.utf8)).version == version)
    }

    @Test func `a document in UTF-16 is read`() throws {
        let text = CSDLSource.v4(#"<EnumType Name="Größe"/>"#)
        var bytes: [UInt8] = [0xFF, 0xFE]
        for unit in text.utf16 { bytes += [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)] }
        #expect(try CSDLReader.read(bytes).enumerationType(named: "S.Größe") != nil)
    }

    @Test func `operations keep parameters, binding and result of each overload`() throws {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType("A")
                + #"<Function Name="F" IsBound="true" IsComposable="true"><Parameter Name="a" Type="Self.A"/>"#
                + #"<Parameter Name="n" Type="Edm.Int32" Nullable="false"/><ReturnType Type="Collection(S.A)"/></Function>"#
                + #"<Action Name="G"/><EntityContainer Name="C"><EntitySet Name="As" EntityType="S.A"/>"#
                + #"<ActionImport Name="G" Action="Self.G"/></EntityContainer>"#)
        let function = try #require(model.schemas[0].functions.first)
        #expect(function.isBound && function.isComposable)
        #expect(function.parameters.map(\.name) == ["a", "n"])
        #expect(function.parameters.map(\.isNullable) == [true, false])
        #expect(function.returnType?.type == TypeReference(.entity(name: "S.A"), isCollection: true))
        #expect(model.schemas[0].containers[0].actionImports.map(\.operation) == ["S.G"])
    }

    @Test func `a V2 function import has its parameters, result and HTTP method`() throws {
        let model = try EntityDataModel.v2(
            CSDLSource.entityType("A")
                + #"<EntityContainer Name="C"><EntitySet Name="As" EntityType="S.A"/>"#
                + #"<FunctionImport Name="F" ReturnType="Collection(S.A)" EntitySet="As" m:HttpMethod="GET">"#
                + #"<Parameter Name="n" Type="Edm.Int32" Mode="In"/></FunctionImport></EntityContainer>"#)
        let function = try #require(model.schemas[0].containers[0].functionImports.first)
        #expect(function.httpMethod == "GET")
        #expect(function.entitySet == "As")
        #expect(function.parameters.map(\.name) == ["n"])
        #expect(function.returnType?.type.isCollection == true)
    }
}
