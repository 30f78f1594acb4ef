import EDM
import Operations
import SyncCore
import Testing

/// Comparison of a create in doubt with the entity that the service returns for its key.
struct StoredValueTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Material"><Key><PropertyRef Name="Number"/></Key>
        <Property Name="Number" Type="Edm.String"/><Property Name="Name" Type="Edm.String"/>
        <Property Name="Note" Type="Edm.String"/><Property Name="IsActive" Type="Edm.Boolean"/></EntityType>
        <EntityContainer Name="Container"><EntitySet Name="Materials" EntityType="Shop.Material"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private let type: EntityType

    init() throws {
        let service = ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array(Self.metadata.utf8))
        type = try #require(TestStore(service).model.findEntityType("Shop.Material"))
    }

    private func matches(_ sent: PropertyValues, _ found: PropertyValues) -> Bool {
        sent.areStored(as: found, of: type)
    }

    @Test func `a key in another notation, and normalized values, are those of the create`() {
        let sent: PropertyValues = ["Number": .string("42"), "Name": .string("steel"), "Note": .null]
        #expect(matches(sent, ["Number": .string("000000000000000042"), "Name": .string("steel")]))
        #expect(matches(sent, ["Number": .string("0042"), "Name": .string("STEEL "), "Note": .string("default")]))
    }

    @Test func `another value, or none besides the key, proves nothing`() {
        let sent: PropertyValues = ["Number": .string("42"), "Name": .string("steel")]
        #expect(!matches(sent, ["Number": .string("42"), "Name": .string("wood")]))
        #expect(!matches(sent, ["Number": .string("0042")]))
        #expect(!matches(["Number": .string("42"), "Name": .null], ["Number": .string("0042"), "Name": .null]))
    }

    @Test func `values that many entities share prove nothing, whatever was null`() {
        let sent: PropertyValues = ["Number": .string("42"), "IsActive": .boolean(true), "Name": .null]
        #expect(!matches(sent, ["Number": .string("42"), "IsActive": .boolean(true), "Name": .string("wood")]))
    }

    @Test func `an entity with another key is not the created one`() {
        let sent: PropertyValues = ["Number": .string("42"), "Name": .string("steel")]
        #expect(matches(sent, ["Number": .string("0042"), "Name": .string("steel")]))
        #expect(!matches(sent, ["Number": .string("420"), "Name": .string("steel")]))
        #expect(!matches(sent, ["Number": .string("17"), "Name": .string("steel")]))
    }
}
