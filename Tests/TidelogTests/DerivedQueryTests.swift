import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Defining queries whose path contains a type cast.
struct DerivedQueryTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityType Name="Boss" BaseType="S.Person"><Property Name="Level" Type="Edm.Int32"/></EntityType>
        <EntityType Name="Chief" BaseType="S.Boss"/>
        <EntityContainer Name="C"><EntitySet Name="People" EntityType="S.Person"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    @Test func `entities without a type have the type of the query's path`() async throws {
        let metadata = Array(Self.metadata.utf8)
        var sandbox = try Sandbox(v4Metadata: metadata, v2Metadata: metadata, configuration: SandboxConfiguration())
        sandbox.origin = "http://shop.test"
        let transport = SandboxTransport(sandbox)
        let body =
            ##"{"@odata.context":"http://shop.test/v4/$metadata#People/S.Boss","value":[{"ID":1,"Level":3},{"@odata.type":"#S.Chief","ID":2,"Level":4}]}"##
        transport.add(
            Fault(
                .replace(contentType: "application/json", body: Array(body.utf8)), times: 9, method: "GET",
                urlPart: "S.Boss"))
        let store = OfflineODataProvider(
            serviceRoot: "http://shop.test/v4/",
            parameters: OfflineODataParameters(storePath: OfflineODataParameters.inMemory, transport: transport))
        try await store.add(definingQuery: OfflineODataDefiningQuery(name: "Bosses", query: "People/S.Boss"))
        try await store.open()
        try await store.download()
        let service = DataService(provider: store)
        let found = try await service.executeQuery(DataQuery().withURL("People/S.Boss?$orderby=ID")).entityList()
        #expect(found.map(\.entityType.name) == ["S.Boss", "S.Chief"])
        #expect(found.map { $0["Level"] } == [.integer(3), .integer(4)])
        // The second download finds both entities unchanged.
        let report = try await store.download()
        #expect(report.queries.map(\.tally.unchanged) == [2])
    }
}
