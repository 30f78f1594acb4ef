import EDM
import ODataQuery
import Operations
import Testing

@testable import SyncCore

/// Links that follow from a key, so that the store does not keep them.
struct ConventionalLinkTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Part"><Key><PropertyRef Name="Name"/></Key><Property Name="Name" Type="Edm.String"/>
        <NavigationProperty Name="Pieces" Type="Collection(Shop.Part)" ContainsTarget="true"/></EntityType>
        <EntityContainer Name="Container"><EntitySet Name="Parts" EntityType="Shop.Part"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private let store: TestStore
    private let links: EntityLinks

    init() throws {
        store = try TestStore(ServiceDescription(root: "http://127.0.0.1/v4/", metadata: Array(Self.metadata.utf8)))
        links = EntityLinks(model: store.model, serviceRoot: "http://127.0.0.1/v4/")
    }

    private func isConventional(_ url: String, _ set: EntitySet, _ name: String) -> Bool {
        links.isConventional(url, set, KeyPredicate([(name: "Name", value: .string(name))]))
    }

    @Test func `a key as a segment is not conventional, even with parentheses`() throws {
        let parts = try #require(store.model.findEntitySet("Parts"))
        #expect(isConventional("Parts('a(1)')", parts, "a(1)"))
        #expect(isConventional("http://127.0.0.1/v4/Parts(Name='a')", parts, "a"))
        #expect(!isConventional("Parts/a(1)", parts, "a(1)"))
        #expect(!isConventional("Parts/a", parts, "a"))
    }

    @Test func `a key as a segment is not conventional in a contained set`() throws {
        let pieces = try #require(store.model.findEntitySet("Parts/Pieces"))
        #expect(isConventional("Parts('a')/Pieces('b')", pieces, "b"))
        #expect(!isConventional("Parts('a')/Pieces/b", pieces, "b"))
    }
}
