import EDM
import ODataQuery
import Operations
import SyncCore
import Testing

@testable import Views

/// Views of a service with customers, their orders, and a property of each type that queries treat specially.
final class SmallShop {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Customer" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        <NavigationProperty Name="Orders" Type="Collection(S.Order)" Partner="Customer"/></EntityType>
        <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Number" Type="Edm.Int64"/>
        <Property Name="Text" Type="Edm.String"/><Property Name="Weight" Type="Edm.Double"/>
        <Property Name="Ratio" Type="Edm.Single"/><Property Name="Mood" Type="S.Mood"/>
        <Property Name="Price" Type="Edm.Decimal" Scale="variable"/><Property Name="Day" Type="Edm.Date"/>
        <Property Name="Placed" Type="Edm.DateTimeOffset" Precision="12"/><Property Name="Took" Type="Edm.Duration"/>
        <Property Name="Paid" Type="Edm.Boolean"/><Property Name="Token" Type="Edm.Guid"/>
        <NavigationProperty Name="Customer" Type="S.Customer" Partner="Orders"/></EntityType>
        <EnumType Name="Mood"><Member Name="Bad" Value="0"/><Member Name="Awful" Value="1"/></EnumType>
        <EntityContainer Name="C"><EntitySet Name="Customers" EntityType="S.Customer"/>
        <EntitySet Name="Orders" EntityType="S.Order"/></EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """

    let state: SQLiteState
    let model: EntityDataModel
    var query: RowQuery { RowQuery(state: state, model: model) }

    init() throws {
        state = try SQLiteState(path: nil, store: "test")
        model = try CSDLReader.read(Array(Self.metadata.utf8))
        try state.install(model)
    }

    /// Stores an entity, with its ID as the key.
    func put(_ set: String, _ id: UInt64, _ values: PropertyValues = [:]) throws {
        let type = try #require(model.findEntitySet(set)).entityType.name
        var values = values
        values["ID"] = .integer(Int64(id))
        try state.register(EntityID(rawValue: id), set: set)
        try state.putRow(EntityRow(id: EntityID(rawValue: id), set: set, type: type, values: values, origin: .service))
    }

    func link(_ order: UInt64, to customer: UInt64) throws {
        let end = try #require(model.findEntityType("S.Order")?.findProperty("Customer")?.navigation)
        let ends = end.relationship.isForward ? (order, customer) : (customer, order)
        try state.putLink(
            LinkRow(
                relationship: end.relationship.name, first: EntityID(rawValue: ends.0),
                second: EntityID(rawValue: ends.1), inBase: true, inLocal: true))
    }

    func request(_ url: String) throws -> ServiceRequest {
        try ServiceRequest.parse(url.replacing(" ", with: "%20"), model: model, version: .v401)
    }

    func ids(_ answer: RowQuery.Answer) throws -> [UInt64] {
        guard case .entities(let rows) = answer.content else {
            Issue.record("These are no entities.")
            return []
        }
        return rows.map(\.id.rawValue)
    }

    func find(_ url: String) throws -> [UInt64] { try ids(query.answer(request(url))) }

    /// Returns the result of the evaluator.
    func findInMemory(_ url: String) throws -> [UInt64] { try ids(query.answerInMemory(request(url))) }
}
