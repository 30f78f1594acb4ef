import EDM
import Testing

/// Documents that are read together.
@Suite struct `Several CSDL documents` {
    private func document(
        _ name: String, _ namespace: String, _ body: String, references: String = ""
    ) -> CSDLReader.Document {
        let text = """
            <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">\(references)<edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="\(namespace)" Alias="Self">\(body)</Schema>
            </edmx:DataServices></edmx:Edmx>
            """
        return CSDLReader.Document(name: name, bytes: Array(text.utf8))
    }

    private func reference(_ namespace: String, alias: String) -> String {
        #"<edmx:Reference Uri="x"><edmx:Include Namespace="\#(namespace)" Alias="\#(alias)"/></edmx:Reference>"#
    }

    private func read(
        _ main: CSDLReader.Document, _ others: CSDLReader.Document...
    ) throws(CSDLError) -> EntityDataModel {
        try CSDLReader().read(main, references: others)
    }

    private let person = CSDLSource.entityType("Person", #"<Property Name="Name" Type="Self.Name"/>"#)
    private let name = #"<ComplexType Name="Name"><Property Name="First" Type="Edm.String"/></ComplexType>"#

    @Test func `a type inherits the properties and the key of a base type in another document`() throws {
        let model = try read(
            document("a", "A", #"<EntityType Name="E" BaseType="O.Person"/>"#, references: reference("B", alias: "O")),
            document("b", "B", person + name))
        let type = try #require(model.findEntityType("A.E"))
        #expect(type.properties.map(\.name) == ["ID", "Name"])
        #expect(type.keyProperties.map(\.name) == ["ID"])
        #expect(model.unresolvedNames == [])
    }

    @Test func `an alias is resolved in the document that uses it`() throws {
        let model = try read(
            document("a", "A", name + CSDLSource.entityType("E", #"<Property Name="P" Type="Self.Name"/>"#)),
            document("b", "B", person + name))
        #expect(model.findEntityType("A.E")?.findProperty("P")?.type.kind == .complex(name: "A.Name"))
        #expect(model.findEntityType("B.Person")?.findProperty("Name")?.type.kind == .complex(name: "B.Name"))
    }

    @Test func `an alias of another document is not resolved`() throws {
        let model = try read(
            document("a", "A", CSDLSource.entityType("E", #"<Property Name="P" Type="O.Name"/>"#)),
            document("b", "B", name, references: reference("B", alias: "O")))
        #expect(model.unresolvedNames == ["O.Name"])
    }

    @Test func `a name without a namespace is resolved in its own document`() throws {
        let model = try read(
            document("a", "A", CSDLSource.entityType("E", #"<Property Name="P" Type="B.C"/>"#)),
            document("b", "B", name + #"<ComplexType Name="C"><Property Name="N" Type="Name"/></ComplexType>"#))
        #expect(model.findComplexType("B.C")?.findProperty("N")?.type.kind == .complex(name: "B.Name"))
    }

    private func container(_ name: String, _ set: String, attributes: String = "") -> String {
        CSDLSource.entityType("E\(set)")
            + #"<EntityContainer Name="\#(name)" \#(attributes)><EntitySet Name="\#(set)" EntityType="Self.E\#(set)"/>"#
            + "</EntityContainer>"
    }

    @Test func `the container of another document is not part of the service`() throws {
        let model = try read(
            document("a", "A", container("C", "Ours")), document("b", "B", container("D", "Theirs")))
        #expect(model.entitySets.map(\.name) == ["Ours"])
        #expect(model.schemas.flatMap(\.containers).map(\.name) == ["A.C"])
    }

    @Test func `a container of another document is part of the service if the service's container extends it`() throws {
        let model = try read(
            document("a", "A", container("C", "Ours", attributes: #"Extends="B.D""#)),
            document("b", "B", container("D", "Theirs")))
        #expect(model.entitySets.map(\.name) == ["Ours", "Theirs"])
    }

    @Test func `containers that extend each other are read without an endless loop`() throws {
        let model = try read(
            document("a", "A", container("C", "Ours", attributes: #"Extends="B.D""#)),
            document("b", "B", container("D", "Theirs", attributes: #"Extends="A.C""#)))
        #expect(model.entitySets.count == 2)
    }

    @Test func `each of two documents that refer to each other is read once`() throws {
        let model = try read(
            document(
                "a", "A", #"<EntityType Name="E" BaseType="B.Person"/>"#, references: reference("B", alias: "O")),
            document("b", "B", person + name, references: reference("A", alias: "P")))
        #expect(model.schemas.map(\.namespace) == ["A", "B"])
        #expect(model.references.count == 2)
    }

    @Test func `a defect names its document`() throws {
        let defects = try read(document("a.xml", "A", name), document("b.xml", "B", "\n<ComplexType/>")).defects
        #expect(defects.map(\.document) == ["b.xml"])
        #expect(defects.map(\.line) == [3])
        #expect(defects.first?.description.hasPrefix("b.xml: line 3, column 1: ") == true)
    }

    @Test func `the error for invalid XML names the document`() throws {
        let error = #expect(throws: CSDLError.self) {
            try read(document("a.xml", "A", name), CSDLReader.Document(name: "b.xml", bytes: Array("{".utf8)))
        }
        #expect(error?.document == "b.xml")
    }

    @Test func `a type that two documents declare identically is used once, and the defect names both places`() throws {
        let model = try read(document("a", "A", name), document("b", "A", name))
        let defect = try #require(model.defects.first)
        #expect(defect.code == .duplicateName)
        #expect(defect.message.contains("in line 2 of a"))
        #expect(model.findComplexType("A.Name")?.properties.map(\.name) == ["First"])
    }

    @Test func `a type that two documents declare differently is omitted with one defect for each document`() throws {
        let other = name.replacing("First", with: "Last")
        let model = try read(document("a", "A", name + person), document("b", "A", other))
        #expect(model.findComplexType("A.Name") == nil)
        #expect(model.defects.filter { $0.omitted?.path == "A.Name" }.map(\.document) == ["a", "b"])
        #expect(model.findEntityType("A.Person")?.properties.map(\.name) == ["ID"])
    }

    @Test func `types of two documents that derive from each other are omitted`() throws {
        let model = try read(
            document("a", "A", #"<ComplexType Name="C" BaseType="B.C"/>"# + name),
            document("b", "B", #"<ComplexType Name="C" BaseType="A.C"/>"#))
        #expect(model.defects.map(\.code) == [.inheritanceCycle, .inheritanceCycle])
        #expect(model.schemas.flatMap(\.complexTypes).map(\.name) == ["A.Name"])
    }

    @Test func `names that no document declares are listed as unresolved`() throws {
        let model = try read(
            document(
                "a", "A",
                CSDLSource.entityType("E", #"<Property Name="P" Type="Collection(X.C)"/>"#)
                    + #"<EntityType Name="D" BaseType="Y.Base"/>"#
                    + #"<Function Name="F"><Parameter Name="p" Type="X.A"/><ReturnType Type="X.B"/></Function>"#
                    + #"<EntityContainer Name="C" Extends="Z.C"><EntitySet Name="S" EntityType="Y.T"/></EntityContainer>"#
            ))
        #expect(model.unresolvedNames == ["X.A", "X.B", "X.C", "Y.Base", "Y.T", "Z.C"])
    }
}

/// Names that differ only in case.
@Suite struct `Case conflicts in CSDL` {
    private func error(_ body: String) -> CSDLError? {
        do throws(CSDLError) {
            let document = CSDLReader.Document(bytes: Array(CSDLSource.v4(body).utf8))
            _ = try CSDLReader(refusesCaseConflicts: true).read(document, references: [])
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        CSDLSource.entityType("E") + "\n" + CSDLSource.entityType("e"),
        CSDLSource.entityType(
            "E", "<Property Name=\"P\" Type=\"Edm.String\"/>\n<Property Name=\"p\" Type=\"Edm.String\"/>"),
        CSDLSource.entityType("E")
            + "<EntityType Name=\"D\" BaseType=\"S.E\">\n<Property Name=\"id\" Type=\"Edm.String\"/></EntityType>",
        "<EnumType Name=\"N\"><Member Name=\"A\"/>\n<Member Name=\"a\"/></EnumType>",
        CSDLSource.entityType("E")
            + "<EntityContainer Name=\"C\"><EntitySet Name=\"Es\" EntityType=\"S.E\"/>\n<Singleton Name=\"ES\" Type=\"S.E\"/></EntityContainer>",
    ])
    func `names that differ in case only are refused at the second name, and the error names the first line`(
        body: String
    ) {
        let error = error(body)
        #expect(error?.code == .caseConflict)
        #expect(error?.line == 3)
        #expect(error?.message.contains("in line 2 differ only in case") == true)
    }

    @Test func `names in different scopes may differ in case only`() {
        #expect(
            error(
                CSDLSource.entityType("E")
                    + "<EntityContainer Name=\"e\"><EntitySet Name=\"E\" EntityType=\"S.E\"/></EntityContainer>") == nil
        )
    }

    @Test func `a reader without the option accepts names that differ in case only`() throws {
        #expect(
            try EntityDataModel.v4(CSDLSource.entityType("E") + CSDLSource.entityType("e")).schemas[0].entityTypes.count
                == 2)
    }
}

/// Annotations with their positions.
@Suite struct `Placed annotations in CSDL` {
    private func read(_ body: String, references: String = "") throws -> (
        found: [PlacedAnnotation], includesNamespace: Bool
    ) {
        let text = CSDLSource.v4(body).replacing("<edmx:DataServices>", with: references + "<edmx:DataServices>")
        return try CSDLReader().annotations(
            of: CSDLReader.Document(name: "d", bytes: Array(text.utf8)), in: "n.names", alias: "N")
    }

    private let include = #"<edmx:Reference Uri="x"><edmx:Include Namespace="n.names" Alias="M"/></edmx:Reference>"#

    @Test func `annotations in blocks and elements are found with target, value and line`() throws {
        let (found, includes) = try read(
            """
            <EntityType Name="E"><Annotation Term="M.A" String="1"/>
            <Property Name="P" Type="Edm.String"><Annotation Term="M.B"><String>2</String></Annotation></Property></EntityType>
            <Annotations Target="Self.E/Q"><Annotation Term="n.names.C" Bool="true"/></Annotations>
            """, references: include)
        #expect(includes)
        #expect(found.map(\.target) == ["S.E", "S.E/P", "S.E/Q"])
        #expect(found.map(\.term) == ["n.names.A", "n.names.B", "n.names.C"])
        #expect(found.map(\.value) == ["1", "2", "true"])
        #expect(found.map(\.line) == [2, 3, 4])
        #expect(found.map(\.kind) == [.element("EntityType"), .element("Property"), .target])
    }

    @Test func `annotations with terms of other namespaces are ignored`() throws {
        let (found, _) = try read(#"<EntityType Name="E"><Annotation Term="Other.A" String="1"/></EntityType>"#)
        #expect(found == [])
    }

    @Test func `an annotation with an undeclared alias keeps its term as written`() throws {
        let (found, includes) = try read(#"<EntityType Name="E"><Annotation Term="N.A" String="1"/></EntityType>"#)
        #expect(found.map(\.term) == ["N.A"])
        #expect(!includes)
    }
}
