import EDM
import Testing

@Suite struct `Annotations in CSDL` {
    @Test func `attributes of other namespaces are read as annotations with the usual prefix of the namespace`() throws
    {
        let model = try EntityDataModel.v2(
            #"<ComplexType Name="C"><Property Name="P" Type="Edm.String" sap:label="Name" xmlns:x="urn:x" x:y="z"/>"#
                + #"<Property Name="Q" Type="Edm.String" xmlns:s="http://www.sap.com/Protocols/SAPData" s:label="L"/>"#
                + "</ComplexType>")
        let properties = try #require(model.findComplexType("S.C")).properties
        #expect(
            properties[0].annotations == [
                Annotation(term: "sap:label", value: "Name"), Annotation(term: "x:y", value: "z"),
            ])
        #expect(properties[1].annotations == [Annotation(term: "sap:label", value: "L")])
    }

    @Test func `the predefined entities and character references are decoded in attributes and text`() throws {
        let text = "&amp;&lt;&gt;&quot;&apos;&#38;&#x41;&amp;#38;"
        let model = try EntityDataModel.v4(
            #"<ComplexType Name="C"><Property Name="P" Type="Edm.String" DefaultValue="\#(text)"/>"#
                + #"<Annotation Term="O.A" String="\#(text)"/><Annotation Term="O.B"><String>\#(text)</String></Annotation>"#
                + "</ComplexType>")
        let type = try #require(model.findComplexType("S.C"))
        let expected = "&<>\"'&A&#38;"
        #expect(type.annotations.map(\.value) == [expected, expected])
        #expect(type.properties[0].facets.defaultValue == expected)
    }

    @Test func `a constant expression is the value of the annotation, as attribute and as element`() throws {
        let model = try EntityDataModel.v4(
            #"<ComplexType Name="C"><Annotation Term="Self.A" Qualifier="q" Bool="true"/>"#
                + #"<Annotation Term="Other.B"><String> text </String></Annotation></ComplexType>"#)
        let annotations = try #require(model.findComplexType("S.C")).annotations
        #expect(annotations[0] == Annotation(term: "S.A", qualifier: "q", value: "true"))
        #expect(annotations[1].term == "Other.B")
        #expect(annotations[1].value == " text ")
    }

    @Test func `a dynamic expression is stored as its elements`() throws {
        let model = try EntityDataModel.v4(
            #"<ComplexType Name="C"><Annotation Term="O.A"><Record Type="O.R"><PropertyValue Property="P" Path="X"/>"#
                + "</Record></Annotation></ComplexType>")
        let record = try #require(model.findComplexType("S.C")?.annotations.first?.expression.first)
        #expect(record.name == "Record")
        #expect(record.attributes == ["Type": "O.R"])
        #expect(record.children.map(\.attributes) == [["Property": "P", "Path": "X"]])
    }

    @Test func `annotations with a target are also annotations of the target element`() throws {
        let model = try EntityDataModel.v4(
            CSDLSource.entityType("A") + #"<Function Name="F"><Parameter Name="p" Type="Self.A"/>"#
                + #"<ReturnType Type="Edm.Int32"/></Function>"#
                + #"<EntityContainer Name="C"><EntitySet Name="As" EntityType="S.A"/></EntityContainer>"#
                + #"<Annotations Target="Self.A/ID" Qualifier="q"><Annotation Term="O.P"/></Annotations>"#
                + #"<Annotations Target="S.C/As"><Annotation Term="O.S"/></Annotations>"#
                + #"<Annotations Target="Self.F(Self.A)"><Annotation Term="O.F"/></Annotations>"#)
        #expect(
            model.findEntityType("S.A")?.findProperty("ID")?.annotations == [Annotation(term: "O.P", qualifier: "q")])
        #expect(model.findEntitySet("As")?.annotations == [Annotation(term: "O.S")])
        #expect(model.schemas[0].functions[0].annotations == [Annotation(term: "O.F")])
        #expect(model.schemas[0].annotationsBlocks.map(\.target) == ["S.A/ID", "S.C/As", "S.F(S.A)"])
    }

    @Test func `references to documents are stored, and the aliases that they declare are resolved`() throws {
        let text = CSDLSource.v4(#"<ComplexType Name="C"><Annotation Term="Core.Description"/></ComplexType>"#)
            .replacing(
                "<edmx:DataServices>",
                with: #"<edmx:Reference Uri="u"><edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/>"#
                    + #"<edmx:IncludeAnnotations TermNamespace="T"/></edmx:Reference><edmx:DataServices>"#)
        let model = try CSDLReader.read(Array(text.utf8))
        #expect(
            model.references == [
                DocumentReference(
                    uri: "u", includes: [.init(namespace: "Org.OData.Core.V1", alias: "Core")],
                    annotationIncludes: [.init(termNamespace: "T")])
            ])
        #expect(model.findComplexType("S.C")?.annotations.map(\.term) == ["Org.OData.Core.V1.Description"])
    }
}
