import EDM
import ODataQuery
import Operations
import SyncCore
import Testing
import Views
@testable import OfflineStore

/// Expansion of a relationship of an entity type with itself.
struct LocalExpansionTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Node"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <NavigationProperty Name="Children" Type="Collection(S.Node)" Partner="Parent"/>
        <NavigationProperty Name="Parent" Type="S.Node" Partner="Children"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Nodes" EntityType="S.Node"/></EntityContainer></Schema>
        </edmx:DataServices></edmx:Edmx>
        """

    /// Creates nodes 1 to 4 in a chain, with the additional nodes of `extra`, and returns the result of a query, in the
    /// form `1(2(3))`.
    private func expand(_ query: String, extra: [(parent: UInt64, child: UInt64)] = []) throws -> [String] {
        let views = try SQLiteState(path: nil, store: "test")
        let state = WorkingSet(over: views)
        let model = try CSDLReader.read(Array(Self.metadata.utf8))
        try state.install(model)
        let children = try #require(model.findEntityType("S.Node")?.findProperty("Children")?.navigation)
        for id in 1...4 as ClosedRange<UInt64> {
            let entity = EntityID(rawValue: id)
            try state.register(entity, set: "Nodes")
            try state.putRow(
                EntityRow(
                    id: entity, set: "Nodes", type: "S.Node", values: ["ID": .integer(Int64(id))], origin: .service))
        }
        for (parent, child) in [(1, 2), (2, 3), (3, 4)] + extra {
            let (parent, child) = (EntityID(rawValue: parent), EntityID(rawValue: child))
            let isForward = children.relationship.isForward
            try state.putLink(
                LinkRow(
                    relationship: children.relationship.name, first: isForward ? parent : child,
                    second: isForward ? child : parent, inBase: true, inLocal: true))
        }
        let request = try ServiceRequest.parse(query, model: model, version: .v401)
        try state.flush()
        let forms = LinkForms(state: state, model: model, root: "")
        return try LocalQuery(views: views, state: state, forms: forms, time: 0).answer(request).entities.map(Self.text)
    }

    private static func text(_ entity: EntitySnapshot) -> String {
        let id = entity.values["ID"]?.integerValue ?? 0
        let inner = entity.expanded.map { level in
            level.form == .count ? "#\(level.count ?? -1)" : level.entities.map(text).joined(separator: ",")
        }
        return "\(id)" + (inner.isEmpty ? "" : "(\(inner.joined(separator: ";")))")
    }

    @Test(arguments: [
        ("Nodes(1)?$expand=Children", "1(2)"), ("Nodes(1)?$expand=Children($levels=2)", "1(2(3))"),
        ("Nodes(1)?$expand=Children($levels=max)", "1(2(3(4())))"),
        ("Nodes(2)?$expand=Children($levels=2),Parent", "2(3(4);1)"),
        ("Nodes(2)?$expand=*", "2(3;1)"), ("Nodes(2)?$expand=*/$ref", "2(0;0)"),
        ("Nodes(2)?$expand=Children/$count", "2(#1)"), ("Nodes(2)?$expand=Children/S.Node/$count", "2(#1)"),
        ("Nodes(1)?$expand=Children($expand=Children($expand=Parent))", "1(2(3(2)))"),
    ])
    func `an expansion reaches as many levels as $levels states`(query: String, expected: String) throws {
        #expect(try expand(query) == [expected])
    }

    @Test func `an expansion with $levels=max ends at cycles`() throws {
        #expect(try expand("Nodes(1)?$expand=Children($levels=max)", extra: [(4, 1)]) == ["1(2(3(4(1))))"])
        #expect(try expand("Nodes(1)?$expand=Children($levels=5)", extra: [(4, 1)]) == ["1(2(3(4(1(2)))))"])
    }
}
