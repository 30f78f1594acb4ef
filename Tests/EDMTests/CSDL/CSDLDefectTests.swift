import EDM
import Testing

/// Documents that contain defects and usable elements.
@Suite struct `Metadata documents with defects` {
    private let b = CSDLSource.entityType("B")

    private func omitted(_ model: EntityDataModel) -> [String] {
        model.defects.compactMap { $0.omitted.map(\.description) }
    }

    private func container(_ sets: String) -> String { #"<EntityContainer Name="C">\#(sets)</EntityContainer>"# }

    private func set(_ name: String, _ type: String, _ rest: String = "") -> String {
        #"<EntitySet Name="\#(name)" EntityType="S.\#(type)">\#(rest)</EntitySet>"#
    }

    @Test func `a property of an undeclared type is omitted and listed as unusable`() throws {
        let type = CSDLSource.entityType(
            "A", "\n<Property Name=\"P\" Type=\"S.X\"/><Property Name=\"Q\" Type=\"Edm.Int32\"/>")
        let model = try EntityDataModel.v4(type)
        let a = try #require(model.findEntityType("S.A"))
        #expect(a.properties.map(\.name) == ["ID", "Q"])
        #expect(a.unusableProperties == ["P"])
        let defect = try #require(model.defects.first)
        #expect(model.defects.count == 1)
        #expect(defect.code == .unresolvedName)
        #expect((defect.line, defect.column) == (3, 1))
        #expect(defect.omitted == .init(kind: "Property", path: "S.A/P"))
        #expect(defect.description == "line 3, column 1: The type \"S.X\" is not declared. Omitted: Property S.A/P.")
    }

    @Test func `an omitted property is unusable in derived types, also as a dynamic property of an open type`()
        throws
    {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType("A", #"<Property Name="P" Type="S.X"/>"#)
                + #"<EntityType Name="D" BaseType="S.A" OpenType="true"/>"#)
        let derived = try #require(model.findEntityType("S.D"))
        #expect(derived.isOpen(to: "Other"))
        #expect(!derived.isOpen(to: "P"))
    }

    @Test func `a set of an undeclared type is omitted, and only declared bindings have a target`()
        throws
    {
        let a = CSDLSource.entityType(
            "A", #"<NavigationProperty Name="N" Type="S.B"/><NavigationProperty Name="M" Type="S.B"/>"#)
        let binding = #"<NavigationPropertyBinding Path="M" Target="Bs"/>"#
        let model = try EntityDataModel.v4(a + b + container(set("As", "A", binding) + set("Bs", "B") + set("Xs", "X")))
        #expect(model.entitySets.map(\.name) == ["As", "Bs"])
        #expect(omitted(model) == ["EntitySet S.C/Xs"])
        let set = try #require(model.findEntitySet("As"))
        // Entities of the undeclared type may be of a type derived from B.
        #expect(model.target(of: try #require(set.entityType.findProperty("N")), in: set) == nil)
        #expect(model.target(of: try #require(set.entityType.findProperty("M")), in: set)?.name == "Bs")
    }

    @Test func `a type with an invalid key is omitted with all elements that depend on the type`() throws {
        let a = #"""
            <EntityType Name="A"><Key><PropertyRef Name="K"/></Key><Property Name="K" Type="S.X"/></EntityType>
            <EntityType Name="D" BaseType="S.A"/>
            <ComplexType Name="V"><NavigationProperty Name="N" Type="S.D"/><Property Name="Q" Type="Edm.Int32"/></ComplexType>
            <Function Name="F"><Parameter Name="p" Type="Edm.Int32"/><ReturnType Type="S.A"/></Function>
            <Action Name="G"><Parameter Name="p" Type="Collection(S.D)"/></Action>
            <Action Name="H"/>
            """#
        let body = container(
            set("As", "A") + set("Bs", "B") + #"<Singleton Name="One" Type="S.D"/>"#
                + #"<FunctionImport Name="F" Function="S.F"/><ActionImport Name="H" Action="S.H"/>"#)
        let model = try EntityDataModel.v4(a + b + body)
        #expect(model.schemas.flatMap(\.entityTypes).map(\.name) == ["S.B"])
        #expect(model.findComplexType("S.V")?.unusableProperties == ["N"])
        #expect(model.schemas[0].functions.isEmpty)
        #expect(model.schemas[0].actions.map(\.name) == ["S.H"])
        #expect(model.allSets.map(\.name) == ["Bs"])
        #expect(model.schemas[0].containers[0].functionImports.isEmpty)
        #expect(model.schemas[0].containers[0].actionImports.map(\.name) == ["H"])
        let first = try #require(model.defects.first)
        #expect(first.omitted?.path == "S.A")
        #expect(first.message == "The type \"S.X\" is not declared.")
        #expect(
            Set(omitted(model)) == [
                "EntityType S.A", "EntityType S.D", "NavigationProperty S.V/N", "Function S.F",
                "Action S.G", "EntitySet S.C/As", "Singleton S.C/One", "FunctionImport S.C/F",
            ])
        #expect(model.defects.last?.message.contains("cannot be used") == true, "\(model.defects)")
    }

    @Test(arguments: ["S.T/", "S.T/P/", "/S.T", "S.T//P", "S.F(", ""])
    func `annotations with an invalid target are omitted`(target: String) throws {
        let block = "<Annotations Target=\"\(target)\"><Annotation Term=\"O.T\" Bool=\"true\"/></Annotations>"
        let model = try EntityDataModel.v4(b + block)
        #expect(model.schemas[0].annotationsBlocks.isEmpty)
        #expect(model.defects.map(\.code) == [.invalidAnnotation])
        #expect(model.defects.first?.omitted?.kind == "Annotations")
        #expect(model.findEntityType("S.B") != nil)
    }

    @Test func `an invalid facet is omitted and restricts no values, and the remaining facets apply`() throws {
        let property = #"<Property Name="P" Type="Edm.String" MaxLength="long" Unicode="false" Nullable="perhaps"/>"#
        let model = try EntityDataModel.v4(CSDLSource.entityType("A", property))
        let p = try #require(model.findEntityType("S.A")?.findProperty("P"))
        #expect(p.facets.maxLength == nil)
        #expect(p.facets.isUnicode == false)
        #expect(p.isNullable)
        #expect(Set(omitted(model)) == ["MaxLength S.A/P", "Nullable S.A/P"])
    }

    @Test func `a partner that does not exist is omitted`() throws {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType("A", #"<NavigationProperty Name="N" Type="S.B" Partner="X"/>"#) + b)
        #expect(model.findEntityType("S.A")?.findProperty("N")?.navigation?.partner == nil)
        #expect(omitted(model) == ["Partner S.A/N"])
    }

    @Test func `two different declarations of one name are both omitted`() throws {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType(
                "A",
                #"<Property Name="P" Type="Edm.String"/><Property Name="P" Type="Edm.Int32"/>"#
                    + #"<Property Name="Q" Type="Edm.String"/><Property Name="Q" Type="Edm.String"/>"#)
                + b + container(set("Xs", "A") + set("Xs", "B") + set("Bs", "B") + set("Bs", "B")))
        let a = try #require(model.findEntityType("S.A"))
        #expect(a.properties.map(\.name) == ["ID", "Q"])
        #expect(!a.isOpen(to: "P"))
        #expect(model.entitySets.map(\.name) == ["Bs"])
    }

    @Test func `a key that a derived type repeats is the inherited key`() throws {
        let derived = #"<EntityType Name="D" BaseType="S.B"><Key><PropertyRef Name="ID"/></Key></EntityType>"#
        let model = try EntityDataModel.v4(b + derived)
        #expect(model.findEntityType("S.D")?.keyProperties.map(\.name) == ["ID"])
        #expect(omitted(model) == ["Key S.D/Key"])
    }

    @Test func `a V2 navigation property of an invalid association is omitted`() throws {
        let legacy = `A metadata document is refused`.legacy
        let model = try EntityDataModel.v2(legacy.replacing("Multiplicity='*'", with: "Multiplicity='many'"))
        #expect(model.findEntityType("S.A")?.unusableProperties == ["N"])
        #expect(model.entitySets.map(\.name) == ["As", "Bs"])
        #expect(omitted(model) == ["Association S.R", "NavigationProperty S.A/N", "AssociationSet S.C/Rs"])
    }

    @Test func `a document without any usable element is rejected with the first error`() throws {
        let error = try #require(throws: CSDLError.self) {
            try EntityDataModel.v4(
                "<EntityType Name=\"A\"><Key><PropertyRef Name=\"K\"/></Key>\n<Property Name=\"K\" Type=\"S.X\"/></EntityType>"
            )
        }
        #expect(error.code == .unresolvedName)
        #expect(error.line == 3)
    }

    @Test func `at most a thousand defects are reported, and all invalid elements are omitted`() throws {
        let properties = (0..<3_000).map { "<Property Name=\"P\($0)\" Type=\"S.X\"/>" }.joined()
        let model = try EntityDataModel.v4(CSDLSource.entityType("A", properties))
        #expect(model.defects.count == 1_000)
        #expect(model.findEntityType("S.A")?.properties.map(\.name) == ["ID"])
        #expect(model.findEntityType("S.A")?.unusableProperties.count == 3_000)
    }

    @Test func `the difference between a valid document and one with defects consists of the omitted elements`() throws
    {
        func document(_ type: String) throws -> EntityDataModel {
            try EntityDataModel.v4(
                CSDLSource.entityType("A", "<Property Name=\"P\" Type=\"\(type)\"/>")
                    + "<ComplexType Name=\"V\"><Property Name=\"Q\" Type=\"Edm.Int32\"/></ComplexType>")
        }
        let (right, wrong) = (try document("S.V"), try document("S.W"))
        let appears = ModelDifference(from: right, to: wrong)
        #expect(appears.changes.map(\.description) == ["Property S.A/P: removed"])
        #expect(!appears.changes.allSatisfy { $0.rule.isCompatible })
        let goes = ModelDifference(from: wrong, to: right)
        #expect(goes.changes.map(\.description) == ["Property S.A/P: added"])
        #expect(goes.changes.allSatisfy { $0.rule.isCompatible })
    }
}

/// `Using` and the aliases of V2 and V3, which are valid within one schema.
@Suite struct `Aliases of one schema` {
    private func read(_ first: String, _ second: String, aliases: (String, String) = ("Self", "Self")) throws
        -> EntityDataModel
    {
        let text = CSDLSource.v2(first).replacing("Alias=\"Self\"", with: "Alias=\"\(aliases.0)\"").replacing(
            "</Schema>",
            with: "</Schema><Schema xmlns=\"http://schemas.microsoft.com/ado/2008/09/edm\" Namespace=\"T.Common\" "
                + "Alias=\"\(aliases.1)\">\(second)</Schema>")
        return try CSDLReader.read(Array(text.utf8))
    }

    private let common =
        #"<ComplexType Name="Money"><Property Name="Amount" Type="Edm.Decimal"/></ComplexType>"#
        + CSDLSource.entityType("Base")

    @Test func `an alias of Using is resolved in types, base types, ends of associations and sets`() throws {
        let model = try read(
            #"""
            <Using Namespace="T.Common" Alias="Common"/>
            <EntityType Name="A" BaseType="Common.Base"><Property Name="P" Type="Common.Money"/>
            <NavigationProperty Name="N" Relationship="Self.R" FromRole="A" ToRole="B"/></EntityType>
            <Association Name="R"><End Role="A" Type="Self.A" Multiplicity="*"/><End Role="B" Type="Common.Base" Multiplicity="1"/></Association>
            <EntityContainer Name="C"><EntitySet Name="As" EntityType="Self.A"/><EntitySet Name="Bases" EntityType="Common.Base"/>
            <FunctionImport Name="F" ReturnType="Collection(Common.Money)"/></EntityContainer>
            """#, common, aliases: ("Self", "Common2"))
        #expect(model.defects == [])
        let a = try #require(model.findEntityType("S.A"))
        #expect(a.baseType == "T.Common.Base")
        #expect(a.keyProperties.map(\.name) == ["ID"])
        #expect(a.findProperty("P")?.type.kind == .complex(name: "T.Common.Money"))
        #expect(a.findProperty("N")?.navigation?.targetType == "T.Common.Base")
        #expect(model.findEntitySet("Bases")?.entityType.name == "T.Common.Base")
        #expect(model.schemas[0].containers[0].functionImports[0].returnType?.type.name == "T.Common.Money")
    }

    @Test func `two schemas may declare the same alias for themselves`() throws {
        let name = #"<ComplexType Name="V"><Property Name="Q" Type="Edm.Int32"/></ComplexType>"#
        let own = name + CSDLSource.entityType("A", #"<Property Name="P" Type="Self.V"/>"#)
        let model = try read(own, own)
        #expect(model.defects == [])
        #expect(model.findEntityType("S.A")?.findProperty("P")?.type.kind == .complex(name: "S.V"))
        #expect(model.findEntityType("T.Common.A")?.findProperty("P")?.type.kind == .complex(name: "T.Common.V"))
    }

    @Test func `an alias that two schemas declare for different namespaces is resolved per schema`() throws {
        let model = try read(
            #"<Using Namespace="T.Common" Alias="X"/>"#
                + CSDLSource.entityType("A", #"<Property Name="P" Type="X.Money"/>"#),
            common + #"<Using Namespace="S" Alias="X"/><EntityType Name="B" BaseType="X.A"/>"#, aliases: ("S1", "S2"))
        #expect(model.defects == [])
        #expect(model.findEntityType("S.A")?.findProperty("P")?.type.kind == .complex(name: "T.Common.Money"))
        #expect(model.findEntityType("T.Common.B")?.baseType == "S.A")
    }

    @Test func `an alias of Using without a namespace is a defect`() throws {
        let model = try read(#"<Using Alias="X"/>"# + CSDLSource.entityType("A"), common, aliases: ("S1", "S2"))
        #expect(model.defects.map(\.code) == [.missing])
    }
}

@Suite struct `The facets of type definitions` {
    private static let definitions = #"""
        <TypeDefinition Name="Code" UnderlyingType="Edm.String" MaxLength="3" Unicode="false"/>
        <TypeDefinition Name="Sum" UnderlyingType="Edm.Decimal" Precision="5" Scale="2"/>
        <ComplexType Name="V"><Property Name="Inner" Type="S.Code"/></ComplexType>
        """#

    @Test(
        arguments: [
            (#"Type="S.Code""#, Value.string("abcd"), "is longer than MaxLength 3"),
            (#"Type="S.Code""#, .string("é"), "contains characters that are not ASCII"),
            (#"Type="S.Code" MaxLength="5""#, .string("abcd"), nil), (#"Type="S.Code""#, .string("abc"), nil),
            (#"Type="Collection(S.Code)""#, .collection([.string("abcd")]), "[0] is longer than MaxLength 3"),
            (
                #"Type="S.V""#, .complex(ComplexValue(properties: ["Inner": .string("abcd")])),
                "/Inner is longer than MaxLength 3"
            ),
        ] as [(String, Value, String?)])
    func `the facets of a type definition apply if the property declares none`(
        attributes: String, value: Value, reason: String?
    ) throws {
        let property = "<Property Name=\"P\" \(attributes)/>"
        let model = try EntityDataModel.v4(Self.definitions + CSDLSource.entityType("A", property))
        let p = try #require(model.findEntityType("S.A")?.findProperty("P"))
        #expect(value.mismatch(with: p.type, facets: p.facets, in: model) == reason)
    }
}
