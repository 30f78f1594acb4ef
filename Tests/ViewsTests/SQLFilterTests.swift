import EDM
import ODataQuery
import Operations
import SyncCore
import Testing

@testable import Views

struct SQLFilterTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="A"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Name" Type="Edm.String"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="As" EntityType="S.A"/></EntityContainer></Schema>
        </edmx:DataServices></edmx:Edmx>
        """

    private func state() throws -> SQLiteState {
        let state = try SQLiteState(path: ":memory:", store: "test")
        try state.install(CSDLReader.read(Array(Self.metadata.utf8)))
        for id in 1...5 {
            let values: PropertyValues = ["ID": .integer(Int64(id)), "Name": .string(id % 2 == 0 ? "even" : "odd")]
            try state.register(EntityID(rawValue: UInt64(id)), set: "As")
            try state.putRow(
                EntityRow(id: EntityID(rawValue: UInt64(id)), set: "As", type: "S.A", values: values, origin: .service))
        }
        return state
    }

    private func find(_ query: String, in state: SQLiteState) throws -> [UInt64] {
        let set = try #require(state.model?.findEntitySet("As"))
        return try state.entityQueries.entities(in: set, QueryOptions.parse(query, version: .v4)).map(\.rawValue)
    }

    @Test func `filter, order, skip and top are evaluated by SQLite`() throws {
        let state = try state()
        #expect(try find("$filter=Name eq 'odd'", in: state) == [1, 3, 5])
        #expect(try find("$filter=Name eq 'odd'&$orderby=ID desc&$skip=1&$top=1", in: state) == [3])
        #expect(try find("$orderby=Name,ID desc", in: state) == [4, 2, 5, 3, 1])
        #expect(try find("$top=0", in: state).isEmpty)
        let set = try #require(state.model?.findEntitySet("As"))
        #expect(
            try state.entityQueries.count(in: set, QueryOptions.parse("$filter=ID mod 2 eq 0&$top=1", version: .v4))
                == 2)
    }

    @Test func `a failed evaluation is reported as that error, not as damage`() throws {
        let state = try state()
        let error = #expect(throws: EvaluationError.self) { try find("$filter=1 div (ID sub 3) gt 0", in: state) }
        #expect(error?.code == .divisionByZero)
        #expect(try find("$filter=ID eq 3", in: state) == [3])
    }

    @Test func `a new model gets its own SQL functions`() throws {
        let state = try state()
        #expect(try find("$filter=length(Name) eq 4", in: state) == [2, 4])
        try state.install(CSDLReader.read(Array(Self.metadata.utf8)))
        #expect(try find("$filter=length(Name) eq 4", in: state) == [2, 4])
    }
}
