import Foundation
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// A store of people with trips and their plan items (as in TripPin), folders within folders (as in Microsoft Graph),
/// and a set of templates with the type of the trips.
final class Travel {
    let store: OfflineODataProvider
    let service: DataService
    let transport: SandboxTransport
    private let directory = TemporaryDirectory()

    /// Creates Ann's trips 0 and 1, Bob's trip 0 and template 0, and downloads everything.
    ///
    /// - Parameter queries: The defining queries, or nil for queries of everything.
    init(queries: [(name: String, query: String)]? = nil, deltas: Deltas? = nil) async throws {
        var sandbox = try Sandbox(
            v4Metadata: Array(Self.metadata.utf8), v2Metadata: Array(Self.legacyMetadata.utf8),
            configuration: SandboxConfiguration(etags: ["People/Trips"]))
        sandbox.origin = "http://travel.test"
        sandbox.options.deltas = deltas
        try sandbox.insert(into: "Me", ["Name": .string("me"), "Title": .string("I")])
        transport = SandboxTransport(sandbox)
        for (path, body) in [
            ("People", #"{"Name":"ann","Title":"Ann"}"#), ("People", #"{"Name":"bob","Title":"Bob"}"#),
            ("People('ann')/Trips", #"{"TripID":0,"Title":"Ann's Rome"}"#),
            ("People('ann')/Trips", #"{"TripID":1,"Title":"Ann's Oslo"}"#),
            ("People('bob')/Trips", #"{"TripID":0,"Title":"Bob's Bonn"}"#),
            ("People('ann')/Trips(0)/Items", #"{"ItemID":7,"Title":"Flight"}"#),
            ("People('bob')/Trips(0)/Items", #"{"ItemID":7,"Title":"Train"}"#),
            ("Templates", #"{"TripID":0,"Title":"Template"}"#),
            ("Me/Trips", #"{"TripID":0,"Title":"My own"}"#),
            ("People('ann')/Folders", #"{"FolderID":1,"Title":"Inbox"}"#),
            ("People('ann')/Folders(1)/Folders", #"{"FolderID":1,"Title":"Inbox below the inbox"}"#),
        ] {
            let answer = transport.direct("POST", "/v4/\(path)", body)
            #expect(answer.status == 201, "\(path): \(String(decoding: answer.body, as: UTF8.self))")
        }
        store = OfflineODataProvider(
            serviceRoot: "http://travel.test/v4/",
            parameters: OfflineODataParameters(storePath: directory.path, transport: transport, durability: .none))
        for (name, query) in queries ?? Self.everything {
            try await store.add(definingQuery: OfflineODataDefiningQuery(name: name, query: query))
        }
        try await store.open()
        try await store.download()
        service = DataService(provider: store)
    }

    static let everything = [
        (name: "People", query: "People?$expand=Trips($expand=Items),Folders($expand=Folders),Passport"),
        (name: "Templates", query: "Templates"), (name: "Me", query: "Me?$expand=Trips"),
    ]

    /// Reopens the store with views that are rebuilt from the log.
    func rebuild() async throws {
        await store.close()
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name.contains("views") {
            try FileManager.default.removeItem(atPath: directory.path + "/" + name)
        }
        try await store.open()
    }

    func query(_ url: String) async throws -> [EntityValue] {
        try await service.executeQuery(DataQuery().withURL(url)).entityList()
    }

    func titles(_ url: String) async throws -> [String] {
        try await query(url).compactMap { $0["Title"]?.stringValue }.sorted()
    }

    func one(_ url: String) async throws -> EntityValue {
        let found = try await query(url)
        return try #require(found.count == 1 ? found[0] : nil, "\(url): \(found.count)")
    }

    func new(_ type: String, _ values: PropertyValues) async throws -> EntityValue {
        let found = try await store.model().findEntityType("Travel.\(type)")
        let entity = EntityValue(try #require(found))
        for (name, value) in values { entity[name] = value }
        return entity
    }

    func property(_ name: String, of entity: EntityValue) throws -> Property {
        try #require(entity.entityType.findProperty(name))
    }

    /// Returns the first lines of the requests in all batches since the last call.
    func sent() -> [String] {
        defer { transport.forgetRequests() }
        return transport.requests.flatMap { request -> [String] in
            guard request.url.hasSuffix("$batch") else { return [] }
            return Self.requests(in: request.body)
        }
    }

    /// Returns the first lines of the requests in a batch.
    static func requests(in batch: [UInt8]) -> [String] {
        String(decoding: batch, as: UTF8.self).split(whereSeparator: \.isNewline).compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 3, words[2] == "HTTP/1.1" else { return nil }
            return "\(words[0]) \(words[1])"
        }
    }

    /// Whether a download neither adds nor removes entities.
    func isSettled() async throws -> Bool {
        let report = try await store.download()
        return report.skipped.isEmpty && report.failures.isEmpty
            && report.queries.allSatisfy { $0.tally.inserted + $0.tally.changed + $0.tally.removed == 0 }
    }

    /// Returns the content of the service at a path.
    func served(_ path: String) -> [String] {
        let answer = transport.direct("GET", "/v4/\(path)")
        guard answer.status == 200 else { return ["\(answer.status)"] }
        let body = String(decoding: answer.body, as: UTF8.self)
        return body.components(separatedBy: "\"Title\":\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
            .sorted()
    }

    static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="Travel" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Person"><Key><PropertyRef Name="Name"/></Key>
          <Property Name="Name" Type="Edm.String" Nullable="false"/><Property Name="Title" Type="Edm.String"/>
          <NavigationProperty Name="Trips" Type="Collection(Travel.Trip)" ContainsTarget="true" Partner="Person"/>
          <NavigationProperty Name="Folders" Type="Collection(Travel.Folder)" ContainsTarget="true"/>
          <NavigationProperty Name="Passport" Type="Travel.Passport" ContainsTarget="true"/>
          <NavigationProperty Name="Favourites" Type="Collection(Travel.Trip)"/>
        </EntityType>
        <EntityType Name="Manager" BaseType="Travel.Person">
          <NavigationProperty Name="Reports" Type="Collection(Travel.Item)" ContainsTarget="true"/>
        </EntityType>
        <EntityType Name="Trip"><Key><PropertyRef Name="TripID"/></Key>
          <Property Name="TripID" Type="Edm.Int32" Nullable="false"/><Property Name="Title" Type="Edm.String"/>
          <NavigationProperty Name="Person" Type="Travel.Person" Partner="Trips"/>
          <NavigationProperty Name="Items" Type="Collection(Travel.Item)" ContainsTarget="true"/>
        </EntityType>
        <EntityType Name="Item"><Key><PropertyRef Name="ItemID"/></Key>
          <Property Name="ItemID" Type="Edm.Int32" Nullable="false"/><Property Name="Title" Type="Edm.String"/>
        </EntityType>
        <EntityType Name="Folder"><Key><PropertyRef Name="FolderID"/></Key>
          <Property Name="FolderID" Type="Edm.Int32" Nullable="false"/><Property Name="Title" Type="Edm.String"/>
          <NavigationProperty Name="Folders" Type="Collection(Travel.Folder)" ContainsTarget="true"/>
        </EntityType>
        <EntityType Name="Passport"><Key><PropertyRef Name="Number"/></Key>
          <Property Name="Number" Type="Edm.Int32" Nullable="false"/><Property Name="Title" Type="Edm.String"/>
        </EntityType>
        <EntityContainer Name="Container">
          <EntitySet Name="People" EntityType="Travel.Person">
            <NavigationPropertyBinding Path="Favourites" Target="Templates"/>
          </EntitySet>
          <EntitySet Name="Templates" EntityType="Travel.Trip"/>
          <Singleton Name="Me" Type="Travel.Person"/>
        </EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    /// An empty model, because V2 has no containment.
    static let legacyMetadata = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
        <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <Schema Namespace="Travel" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
        <EntityType Name="Person"><Key><PropertyRef Name="Name"/></Key>
          <Property Name="Name" Type="Edm.String" Nullable="false"/></EntityType>
        <EntityContainer Name="Container" m:IsDefaultEntityContainer="true">
          <EntitySet Name="People" EntityType="Travel.Person"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
}
