import EDM
import Testing

/// MD-14: options of the metadata reader. MD-15: annotations of V4 in a document of V2.
@Suite struct `Options of the metadata reader` {
    /// A service of V2, whose annotations are elements of V4 and attributes of SAP.
    static let mixed = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"
          xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns:sap="http://www.sap.com/Protocols/SAPData">
        <edmx:DataServices m:DataServiceVersion="2.0"><Schema Namespace="S" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
        <EntityType Name="Order" m:HasStream="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Quantity" Type="Edm.Int16" sap:label="Quantity"/><Property Name="State" Type="Edm.String"/>
        <Property Name="Amount" Type="Edm.Decimal"/></EntityType>
        <EntityType Name="Secret"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.String" Nullable="false"/>
        <Annotation xmlns="http://docs.oasis-open.org/odata/ns/edm" Term="com.sap.cloud.server.odata.sql.v1.ServerOnly"/></EntityType>
        <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Orders" EntityType="S.Order"/></EntityContainer>
        <Annotations Target="S.Order/Quantity" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <Annotation Term="Org.OData.Validation.V1.Minimum" Int="1"/>
        <Annotation Term="Org.OData.Validation.V1.Maximum" Int="100">
        <Annotation Term="Org.OData.Validation.V1.Exclusive" Bool="true"/></Annotation></Annotations>
        <Annotations Target="S.Order/State" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <Annotation Term="Org.OData.Validation.V1.Pattern" String="^[A-Z]$"/>
        <Annotation Term="Org.OData.Validation.V1.AllowedValues"><Collection>
        <Record><PropertyValue Property="Value" String="A"/></Record>
        <Record><PropertyValue Property="Value"><String>B</String></PropertyValue></Record></Collection></Annotation></Annotations>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private func model(_ options: CSDLReader.Options = CSDLReader.Options()) throws -> EntityDataModel {
        var reader = CSDLReader()
        reader.options = options
        return try reader.read(Array(Self.mixed.utf8))
    }

    private func property(_ name: String, _ options: CSDLReader.Options = CSDLReader.Options()) throws -> Property {
        try #require(try model(options).findEntityType("S.Order")?.findProperty(name))
    }

    @Test func `MD-15: annotations of V4 in a document of V2 constrain values`() throws {
        let model = try model()
        #expect(model.version == .v2)
        #expect(model.defects.isEmpty, "\(model.defects)")
        let quantity = try property("Quantity").constraints
        #expect(quantity.minimum == DecimalValue("1") && quantity.maximum == DecimalValue("100"))
        for (value, isAllowed) in [(0, false), (1, true), (99, true), (100, false)] as [(Int64, Bool)] {
            #expect(quantity.admits(.integer(value)) == isAllowed, "\(value)")
        }
        #expect(quantity.admits(.null))
        let state = try property("State").constraints
        #expect(state.pattern == "^[A-Z]$" && state.allowedValues == ["A", "B"])
        #expect(state.admits(.string("B")) && !state.admits(.string("C")))
        #expect(try property("Amount").constraints == property("ID").constraints)
    }

    @Test func `annotations can be ignored, as elements, as attributes or both`() throws {
        let terms: [CSDLReader.Options.Annotations: (labels: Int, limits: Int)] = [
            .all: (1, 2), .elements: (0, 2), .attributes: (1, 0), .none: (0, 0),
        ]
        for (choice, expected) in terms {
            let annotations = try property("Quantity", CSDLReader.Options(annotations: choice)).annotations
            #expect(annotations.count { $0.term == "sap:label" } == expected.labels, "\(choice)")
            #expect(annotations.count { $0.term.hasPrefix("Org.") } == expected.limits, "\(choice)")
            // Declarations of the protocol are no annotations.
            #expect(try model(CSDLReader.Options(annotations: choice)).findEntityType("S.Order")?.hasStream == true)
        }
    }

    @Test func `elements of a different version than the first schema can be ignored`() throws {
        let options = CSDLReader.Options(readsMixedVersions: false)
        #expect(try property("Quantity", options).annotations.map(\.term) == ["sap:label"])
        #expect(try property("Quantity", options).constraints.maximum == nil)
    }

    @Test func `elements for the server only can be ignored`() throws {
        #expect(try model().findEntityType("S.Secret") != nil)
        let options = CSDLReader.Options(excludesServerOnlyElements: true)
        #expect(try model(options).findEntityType("S.Secret") == nil)
        #expect(try model(options).findEntityType("S.Order") != nil)
    }

    @Test func `questionable facets are reported by name`() throws {
        let warnings = try model().facetWarnings.map(\.description)
        #expect(
            warnings == [
                "S.Order/Amount: Edm.Decimal has no Scale, which means 0 by the standard.",
                "S.Order/Amount: Edm.Decimal has no Precision.",
                "S.Secret/ID: The string is part of the key and has no MaxLength.",
            ])
    }

    @Test func `names that differ only in case are refused by option`() throws {
        let text = Self.mixed.replacing("Name=\"Secret\"", with: "Name=\"ORDER\"")
        #expect(try CSDLReader().read(Array(text.utf8)).findEntityType("S.ORDER") != nil)
        let error = #expect(throws: CSDLError.self) {
            try CSDLReader(refusesCaseConflicts: true).read(Array(text.utf8))
        }
        #expect(error?.code == .caseConflict)
    }
}
