import EDM
import SeededRandom
import Testing

/// CSDL JSON, which results in the same model as CSDL XML.
@Suite struct `Metadata in JSON` {
    static let xml = #"""
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.01">
        <edmx:Reference Uri="https://x.test/Core.json"><edmx:Include Namespace="Org.OData.Core.V1" Alias="Core"/>
        <edmx:IncludeAnnotations TermNamespace="T.N" Qualifier="q" TargetNamespace="NS"/></edmx:Reference>
        <edmx:DataServices><Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="NS" Alias="self">
        <EntityType Name="Base" Abstract="true"><Key><PropertyRef Name="ID"/><PropertyRef Name="Place/Zip" Alias="Zip"/></Key>
        <Property Name="ID" Type="Edm.Int64" Nullable="false"><Annotation Term="Core.Computed" Bool="true"/></Property>
        <Property Name="Place" Type="self.Address" Nullable="false"/></EntityType>
        <EntityType Name="Order" BaseType="self.Base" OpenType="true" HasStream="true">
        <Property Name="Name" Type="Edm.String" Nullable="true" MaxLength="40" Unicode="false" DefaultValue="x"/>
        <Property Name="Price" Type="Edm.Decimal" Nullable="false" Precision="10" Scale="2"/>
        <Property Name="Rest" Type="Edm.Decimal" Nullable="false" Scale="variable"/>
        <Property Name="Size" Type="self.Size" Nullable="false"/>
        <Property Name="Colors" Type="Collection(self.Color)" Nullable="false"/>
        <Property Name="At" Type="Edm.DateTimeOffset" Nullable="true" Precision="3"/>
        <Property Name="Where" Type="Edm.GeographyPoint" Nullable="true" SRID="4326"/>
        <NavigationProperty Name="Parent" Type="self.Order" Nullable="true" Partner="Children">
        <ReferentialConstraint Property="Name" ReferencedProperty="Name"/></NavigationProperty>
        <NavigationProperty Name="Children" Type="Collection(self.Order)" Nullable="false" Partner="Parent"><OnDelete Action="Cascade"/></NavigationProperty>
        <NavigationProperty Name="Items" Type="Collection(self.Order)" Nullable="false" ContainsTarget="true"/>
        <Annotation Term="Core.Description" Qualifier="short" String="An order"/></EntityType>
        <ComplexType Name="Address"><Property Name="Zip" Type="Edm.String" Nullable="false"/></ComplexType>
        <EnumType Name="Color" UnderlyingType="Edm.Byte" IsFlags="true"><Member Name="Red" Value="1"><Annotation Term="Core.Description" String="warm"/></Member><Member Name="Blue" Value="2"/></EnumType>
        <TypeDefinition Name="Size" UnderlyingType="Edm.Decimal" Precision="4" Scale="1"/>
        <Term Name="Important" Type="Edm.Boolean" Nullable="false" DefaultValue="true" AppliesTo="Property EntityType"/>
        <Function Name="Find"><Parameter Name="text" Type="Edm.String" Nullable="false" MaxLength="9"/><ReturnType Type="Collection(self.Order)"/></Function>
        <Function Name="Find" IsBound="true" IsComposable="true" EntitySetPath="it"><Parameter Name="it" Type="self.Order" Nullable="false"/><ReturnType Type="self.Order" Nullable="true"/></Function>
        <Action Name="Close" IsBound="true"><Parameter Name="it" Type="self.Order" Nullable="false"/><Parameter Name="why" Type="self.Color" Nullable="true"/></Action>
        <EntityContainer Name="Container">
        <EntitySet Name="Orders" EntityType="self.Order" IncludeInServiceDocument="true"><NavigationPropertyBinding Path="Parent" Target="Orders"/><NavigationPropertyBinding Path="Children" Target="Orders"/>
        <Annotation Term="Core.AlternateKeys"><Collection><Record><PropertyValue Property="Key"><Collection><Record><PropertyValue Property="Name" String="Name"/><PropertyValue Property="Alias" String="name"/></Record></Collection></PropertyValue></Record></Collection></Annotation></EntitySet>
        <Singleton Name="Main" Type="self.Order"/>
        <FunctionImport Name="Find" Function="self.Find" EntitySet="Orders"/><ActionImport Name="Close" Action="self.Close"/></EntityContainer>
        <Annotations Target="self.Order/Name"><Annotation Term="Core.Permissions"><Record Type="Core.X"><PropertyValue Property="Read" Bool="false"/><PropertyValue Property="Path" Path="Name"/><PropertyValue Property="Rank" Int="7"/></Record></Annotation></Annotations>
        </Schema></edmx:DataServices></edmx:Edmx>
        """#

    static let json = #"""
        {"$Version":"4.01","$EntityContainer":"NS.Container",
        "$Reference":{"https://x.test/Core.json":{"$Include":[{"$Namespace":"Org.OData.Core.V1","$Alias":"Core"}],
          "$IncludeAnnotations":[{"$TermNamespace":"T.N","$Qualifier":"q","$TargetNamespace":"NS"}]}},
        "NS":{"$Alias":"self",
        "Base":{"$Kind":"EntityType","$Abstract":true,"$Key":["ID",{"Zip":"Place/Zip"}],
          "ID":{"$Type":"Edm.Int64","@Core.Computed":true},"Place":{"$Type":"self.Address"}},
        "Order":{"$Kind":"EntityType","$BaseType":"self.Base","$OpenType":true,"$HasStream":true,
          "Name":{"$Nullable":true,"$MaxLength":40,"$Unicode":false,"$DefaultValue":"x"},
          "Price":{"$Type":"Edm.Decimal","$Precision":10,"$Scale":2},
          "Rest":{"$Type":"Edm.Decimal"},
          "Size":{"$Type":"self.Size"},
          "Colors":{"$Collection":true,"$Type":"self.Color"},
          "At":{"$Type":"Edm.DateTimeOffset","$Nullable":true,"$Precision":3},
          "Where":{"$Type":"Edm.GeographyPoint","$Nullable":true,"$SRID":"4326"},
          "Parent":{"$Kind":"NavigationProperty","$Type":"self.Order","$Nullable":true,"$Partner":"Children","$ReferentialConstraint":{"Name":"Name"}},
          "Children":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"self.Order","$Partner":"Parent","$OnDelete":"Cascade"},
          "Items":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"self.Order","$ContainsTarget":true},
          "@Core.Description#short":"An order"},
        "Address":{"$Kind":"ComplexType","Zip":{}},
        "Color":{"$Kind":"EnumType","$UnderlyingType":"Edm.Byte","$IsFlags":true,"Red":1,"Red@Core.Description":"warm","Blue":2},
        "Size":{"$Kind":"TypeDefinition","$UnderlyingType":"Edm.Decimal","$Precision":4,"$Scale":1},
        "Important":{"$Kind":"Term","$Type":"Edm.Boolean","$DefaultValue":true,"$AppliesTo":["Property","EntityType"]},
        "Find":[{"$Kind":"Function","$Parameter":[{"$Name":"text","$MaxLength":9}],"$ReturnType":{"$Collection":true,"$Type":"self.Order"}},
          {"$Kind":"Function","$IsBound":true,"$IsComposable":true,"$EntitySetPath":"it","$Parameter":[{"$Name":"it","$Type":"self.Order"}],"$ReturnType":{"$Type":"self.Order","$Nullable":true}}],
        "Close":[{"$Kind":"Action","$IsBound":true,"$Parameter":[{"$Name":"it","$Type":"self.Order"},{"$Name":"why","$Type":"self.Color","$Nullable":true}]}],
        "Container":{"$Kind":"EntityContainer",
          "Orders":{"$Collection":true,"$Type":"self.Order","$IncludeInServiceDocument":true,"$NavigationPropertyBinding":{"Parent":"Orders","Children":"Orders"},
            "@Core.AlternateKeys":[{"Key":[{"Name":"Name","Alias":"name"}]}]},
          "Main":{"$Type":"self.Order"},
          "Find":{"$Function":"self.Find","$EntitySet":"Orders"},"Close":{"$Action":"self.Close"}},
        "$Annotations":{"self.Order/Name":{"@Core.Permissions":{"@type":"https://x.test/Core.json#Core.X","Read":false,"Path":{"$Path":"Name"},"Rank":7}}}
        }}
        """#

    private func read(_ text: String) throws -> EntityDataModel { try CSDLReader.read(Array(text.utf8)) }

    /// Returns a line for each element of the model.
    private func lines(_ model: EntityDataModel) -> [String] {
        var lines = ["\(model.version)"]
        for reference in model.references {
            lines.append("\(reference.uri) \(reference.includes) \(reference.annotationIncludes)")
            lines += reference.annotations.map(line)
        }
        for schema in model.schemas {
            lines.append("schema \(schema.namespace) \(schema.alias ?? "")")
            for type in schema.entityTypes + schema.complexTypes {
                lines.append(
                    "\(type) \(type.kind) \(type.baseType ?? "") \(type.isAbstract) \(type.isOpen) \(type.hasStream)")
                lines += type.keyReferences.map { "\($0)" } + type.annotations.map(line)
                for property in type.properties + type.navigationProperties {
                    lines.append("\(property) \(property.type) \(property.isNullable) \(property.facets)")
                    lines.append(String(describing: property.navigation))
                    lines += property.annotations.map(line)
                }
            }
            for type in schema.enumerationTypes {
                lines.append("\(type.name) \(type.underlyingType) \(type.isFlags)")
                for member in type.members {
                    lines += ["\(member.name) \(member.value)"] + member.annotations.map(line)
                }
            }
            lines += schema.typeDefinitions.map { "\($0.name) \($0.underlyingType) \($0.facets)" }
            lines += schema.terms.map { "\($0.name) \($0.type) \($0.isNullable) \($0.facets) \($0.appliesTo)" }
            for operation in schema.functions + schema.actions {
                lines.append("\(operation.name) \(operation.kind) \(operation.isBound) \(operation.isComposable)")
                lines.append("\(operation.entitySetPath ?? "") \(String(describing: operation.returnType))")
                lines += operation.parameters.map { "\($0.name) \($0.type) \($0.isNullable) \($0.facets)" }
            }
            for block in schema.annotationsBlocks { lines += [block.target] + block.annotations.map(line) }
            for container in schema.containers {
                lines.append("container \(container.name) \(container.extends ?? "")")
                for set in container.entitySets + container.singletons {
                    lines.append("\(set) \(set.entityType) \(set.isSingleton) \(set.alternateKeys)")
                    lines += set.bindings.sorted { $0.key < $1.key }.map { "\($0) \($1)" } + set.annotations.map(line)
                }
                for offered in container.functionImports + container.actionImports {
                    lines.append(
                        "\(offered.name) \(offered.kind) \(offered.operation ?? "") \(offered.entitySet ?? "")")
                }
            }
        }
        return lines
    }

    private func line(_ annotation: Annotation) -> String {
        func text(_ element: Annotation.Element) -> String {
            let attributes = element.attributes.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
            return "<\(element.name) \(attributes) \(element.text)\(element.children.map(text))>"
        }
        return
            "@\(annotation.term)#\(annotation.qualifier ?? "") \(annotation.value ?? "") \(annotation.expression.map(text))"
    }

    @Test func `a JSON document yields the same model as the XML document, including facets and annotations`() throws {
        let (xml, json) = (try read(Self.xml), try read(Self.json))
        #expect(xml.defects == [])
        #expect(json.defects == [])
        #expect(ModelDifference(from: xml, to: json).description == "")
        let (expected, found) = (lines(xml), lines(json))
        for (expected, found) in zip(expected, found) { #expect(found == expected) }
        #expect(expected.count == found.count)
        for (name, count) in xml.counts.list { #expect(json.counts[name] == count, "\(name)") }
    }

    @Test func `a JSON document may begin with a byte order mark and white space`() throws {
        let text = "\u{FEFF} \r\n" + Self.json
        #expect(try read(text).findEntitySet("Orders") != nil)
    }

    @Test(arguments: [
        (#"{"value":[]}"#, CSDLError.Code.notMetadata, 1, 1),
        (#"{"error":{"code":"x","message":"y"}}"#, .notMetadata, 1, 1),
        ("[]", .notMetadata, 1, 1), (#"{"$Version":"2.0","N":{}}"#, .unknownVersion, 1, 1),
        ("{\"$Version\":\"4.0\",\n \"N\":{},}", .malformedJSON, 2, 9), (#"{"$Version":"4.0"}"#, .notMetadata, 1, 1),
        ("{\"$Version\":\"4.0\",\n\"N\":{\"T\":{\"$Kind\":\"EntityType\"", .malformedJSON, 2, 31),
        (#"{"$Version":"4.0","$Version":"4.01","N":{}}"#, .invalidValue, 1, 1),
    ])
    func `a document that is not metadata or not JSON is rejected`(
        text: String, code: CSDLError.Code, line: Int, column: Int
    ) throws {
        let error = try #require(throws: CSDLError.self) { try read(text) }
        #expect(error.code == code, "\(error)")
        #expect((error.line, error.column) == (line, column), "\(error)")
    }

    @Test(arguments: [
        (#""P":{"$Type":5}"#, "Property N.T/P"), (#""P":7"#, "Property N.T/P"),
        (#""P":{"$Type":"N.X"}"#, "Property N.T/P"),
        (#""P":{"$Type":["Edm.Int32"]}"#, "Property N.T/P"), (#""P":{"$Collection":[]}"#, "Property N.T/P"),
        (#""P":{"$Kind":"Field"}"#, "Field N.T/P"),
        (#""P":{"$Type":"Edm.Int32","$Type":"Edm.String"}"#, "Property N.T/P"),
        (#""P":{"$MaxLength":"long"}"#, "MaxLength N.T/P"), (#""P":{"$MaxLength":[1]}"#, "Property N.T/P"),
    ])
    func `a document with an invalid property is read without the property`(member: String, omitted: String) throws {
        let text =
            "{\"$Version\":\"4.0\",\"N\":{\"T\":{\"$Kind\":\"EntityType\",\"$Key\":[\"ID\"],\"ID\":{},\n\(member)}}}"
        let model = try read(text)
        #expect(model.defects.compactMap { $0.omitted.map(\.description) } == [omitted])
        #expect(model.defects.first?.line == 2)
        #expect(model.findEntityType("N.T")?.findProperty("ID") != nil)
    }

    @Test(arguments: [
        (#""X":{"$Kind":"Table"}"#, "Table N.X"), (#""X":3"#, "Declaration N.X"), (#""X":{}"#, "Declaration N.X"),
        (#""X":[{"$Kind":"Sub"}]"#, "Sub N.X"),
        (#""X":[{"$Kind":"Action","$Parameter":[{"$Name":"p","$Type":{}}]}]"#, "Action N.X"),
        (#""X":[{"$Kind":"Action","$Parameter":{}}]"#, "Action N.X"),
        (#""X":{"$Kind":"EnumType","A":"one"}"#, "EnumType N.X"),
        (#""X":{"$Kind":"EnumType","A":{}}"#, "EnumType N.X"),
        (#""X":{"$Kind":"EntityType","$Key":"ID","ID":{}}"#, "EntityType N.X"),
        (#""X":{"$Kind":"EntityType","$Key":[1],"ID":{}}"#, "EntityType N.X"),
        (#""C":{"$Kind":"EntityContainer","X":{"$EntityType":"N.T"}}"#, "EntitySet N.C/X"),
        (#""C":{"$Kind":"EntityContainer","X":{"$Collection":true,"$Type":"N.Y"}}"#, "EntitySet N.C/X"),
        (#""C":{"$Kind":"EntityContainer","X":true}"#, "EntitySet N.C/X"),
    ])
    func `a document with an invalid declaration is read without the declaration`(member: String, omitted: String)
        throws
    {
        let text =
            "{\"$Version\":\"4.0\",\"N\":{\"T\":{\"$Kind\":\"EntityType\",\"$Key\":[\"ID\"],\"ID\":{}},\n\(member)}}"
        let model = try read(text)
        #expect(model.defects.compactMap { $0.omitted.map(\.description) } == [omitted])
        #expect(model.defects.first?.line == 2)
        #expect(model.findEntityType("N.T")?.keyProperties.map(\.name) == ["ID"])
    }

    @Test func `a JSON document that exceeds a limit of depth or size is rejected`() throws {
        let deep =
            #"{"$Version":"4.0","N":{"@T":"# + String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
            + "}}"
        #expect(try #require(throws: CSDLError.self) { try read(deep) }.code == .tooDeep)
        var limits = CSDLReader.Limits()
        limits.elements = 50
        let error = try #require(throws: CSDLError.self) { try CSDLReader(limits: limits).read(Array(Self.json.utf8)) }
        #expect(error.code == .tooLarge)
        limits = CSDLReader.Limits()
        limits.bytes = 100
        let large = try #require(throws: CSDLError.self) { try CSDLReader(limits: limits).read(Array(Self.json.utf8)) }
        #expect(large.code == .tooLarge)
    }

    @Test func `truncated and randomly changed documents never trap`() throws {
        let bytes = Array(Self.json.utf8)
        for length in stride(from: 0, to: bytes.count, by: 7) {
            #expect(throws: CSDLError.self, "\(length) bytes") { try CSDLReader.read(Array(bytes[..<length])) }
        }
        let seed = UInt64.testSeed()
        var random = SeededRandom(seed: seed)
        for _ in 0..<1_000 {
            var damaged = bytes
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let position = Int.random(in: 0..<damaged.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: damaged[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 1: damaged.remove(at: position)
                default: damaged[position] = damaged.randomElement(using: &random) ?? 0
                }
            }
            if let model = try? CSDLReader.read(damaged) { _ = model.counts }
        }
    }

    @Test(.enabled(if: CSDLCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
    func `the JSON documents of the corpus yield the same models as their XML`() throws {
        for name in ["csdl-16.1", "csdl-16.2", "special-characters"] {
            let json = try CSDLReader.read(CSDLCorpus.bytes("json/csdl-json/examples-\(name).json"))
            let file =
                name == "special-characters" ? "csdl/v4/oasis-special-characters.xml" : "csdl/v4/oasis-\(name).xml"
            let xml = try CSDLReader.read(CSDLCorpus.bytes(file))
            #expect(ModelDifference(from: xml, to: json).description == "", "\(name)")
            for count in ["entityTypes", "entitySets", "structuralProperties", "navigationProperties", "keys"] {
                #expect(json.counts[count] == xml.counts[count], "\(name): \(count)")
            }
        }
        // A document of a service that deviates from the standard. The omitted elements are reported as defects.
        let other = try CSDLReader.read(
            CSDLCorpus.bytes(
                "json/v4/lodata/Protocol-ServiceMetadataTest__test_has_flight_metadata_document_at_document_root__3.json"
            ))
        #expect(other.allSets.isEmpty)
        #expect(other.defects.contains { $0.omitted?.path.hasSuffix("passengers") == true })
    }
}
