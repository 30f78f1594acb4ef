import EDM
import Foundation
import ODataSandbox
import TestSupport
import Testing
import Tidelog

/// Compatibility of the metadata in generated classes with the current metadata of the service.
///
/// Features: MR-01, MR-02, PG-21.
struct ClassMetadataTests {
    private final class Classes: DataService, @unchecked Sendable {
        static let document = ClassMetadataTests.metadata(entity: #"<Property Name="Name" Type="Edm.String"/>"#)

        override var embeddedMetadata: EmbeddedMetadata? { EmbeddedMetadata(Self.document) }
    }

    fileprivate static func metadata(entity: String) -> String {
        """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>\(entity)</EntityType>
        <EntityContainer Name="C"><EntitySet Name="Things" EntityType="S.Thing"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """
    }

    private static func transport(_ entity: String) throws -> SandboxTransport {
        let metadata = Array(metadata(entity: entity).utf8)
        var sandbox = try Sandbox(v4Metadata: metadata, v2Metadata: metadata, configuration: SandboxConfiguration())
        sandbox.origin = "http://s.test"
        return SandboxTransport(sandbox)
    }

    private static let same = #"<Property Name="Name" Type="Edm.String"/>"#
    private static let more = same + #"<Property Name="Note" Type="Edm.String"/>"#
    private static let other = #"<Property Name="Name" Type="Edm.Int32"/>"#

    // MARK: Online

    @Test func `an online refresh without earlier metadata compares the service with the classes`() async throws {
        let transport = try Self.transport(Self.more)
        let service = Classes(provider: OnlineODataProvider(serviceRoot: "http://s.test/v4/", transport: transport))
        let refresh = try await service.refreshMetadata()
        #expect(refresh.difference.changes.map(\.path) == ["S.Thing/Note"])
        #expect(try service.metadata.findEntityType("S.Thing")?.findProperty("Note") != nil)
    }

    @Test
    func `an online service whose metadata are incompatible with the classes is refused when its metadata are loaded`()
        async throws
    {
        let transport = try Self.transport(Self.other)
        let service = Classes(provider: OnlineODataProvider(serviceRoot: "http://s.test/v4/", transport: transport))
        let error = await #expect(throws: TidelogError.self) { try await service.loadMetadata() }
        #expect(error?.code == .incompatibleMetadata)
        let refreshed = await #expect(throws: TidelogError.self) { try await service.refreshMetadata() }
        #expect(refreshed?.code == .incompatibleMetadata)
    }

    // MARK: Offline

    @Test(arguments: [(same, 0), (more, 0), (other, 1)])
    func `opening a store reports whether its metadata are compatible with the classes`(
        _ entity: String, _ incompatible: Int
    )
        async throws
    {
        let directory = try TemporaryDirectory()
        let provider = OfflineODataProvider(
            serviceRoot: "http://s.test/v4/",
            parameters: OfflineODataParameters(storePath: directory.path, transport: try Self.transport(entity)))
        _ = Classes(provider: provider)
        #expect(provider.classCompatibility == nil)
        try await provider.open()
        #expect(provider.classCompatibility?.incompatible.count == incompatible)
    }

    @Test func `an offline refresh is refused if the service's metadata are incompatible with the classes`()
        async throws
    {
        // An app without these classes created the store, when the service already had the other type.
        let directory = try TemporaryDirectory()
        let transport = try Self.transport(Self.other)
        let parameters = OfflineODataParameters(storePath: directory.path, transport: transport)
        let provider = OfflineODataProvider(serviceRoot: "http://s.test/v4/", parameters: parameters)
        try await provider.open()
        try await DataService(provider: provider).refreshMetadata()
        let service = Classes(provider: provider)
        let error = await #expect(throws: TidelogError.self) { try await service.refreshMetadata() }
        #expect(error?.code == .incompatibleMetadata)
        #expect((error?.cause as? IncompatibleMetadata)?.changes.map(\.path) == ["S.Thing/Name"])
    }
}
