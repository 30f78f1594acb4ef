import EDM
import Operations
import SyncCore
import Testing

@testable import Views

/// Faults of the views that SQLite has written, so that no checksum of a page detects them.
struct ViewsVerificationTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="A"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="As" EntityType="S.A"/></EntityContainer></Schema>
        </edmx:DataServices></edmx:Edmx>
        """

    /// Returns views with an entity.
    private func filled() throws -> SQLiteState {
        let state = try SQLiteState(path: nil, store: "test")
        try state.install(CSDLReader.read(Array(Self.metadata.utf8)))
        let row = EntityRow(
            id: EntityID(rawValue: 1), set: "As", type: "S.A", values: ["ID": .integer(1), "Name": .string("a")],
            origin: .service)
        try state.register(row.id, set: row.set)
        try state.putRow(row)
        try ViewsVerification(state).verify()
        return state
    }

    @Test(arguments: ["'b'", "NULL", "1"])
    func `a column with another value than the entity is detected`(_ value: String) throws {
        let state = try filled()
        let layout = try #require(state.rowTables.layouts["As"])
        let column = try #require(layout.column(["Name"]))
        try state.connection.run("UPDATE \(layout.table) SET \(column.name) = \(value)")
        let error = #expect(throws: StateError.self) { try ViewsVerification(state).verify() }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("Name") == true)
    }

    @Test func `a fault that SQLite reports is detected`() throws {
        let state = try filled()
        try state.connection.execute(
            """
            CREATE TABLE faulty (value INTEGER CHECK (value > 0)); PRAGMA ignore_check_constraints = ON;
            INSERT INTO faulty VALUES (0); PRAGMA ignore_check_constraints = OFF
            """)
        let error = #expect(throws: StateError.self) { try ViewsVerification(state).verify() }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("faulty") == true)
    }
}
