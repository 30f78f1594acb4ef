import EDM
import HTTPTypes
import ODataSandbox
import Synchronization
import TestSupport
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// Services whose metadata are in several documents.
struct ReferencedMetadataTests {
    private static func document(_ namespace: String, _ body: String, references: [(String, String)] = []) -> String {
        let references = references.map {
            #"<edmx:Reference Uri="\#($0.0)"><edmx:Include Namespace="\#($0.1)"/></edmx:Reference>"#
        }
        return """
            <?xml version="1.0"?><edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
            \(references.joined())<edmx:DataServices>
            <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="\(namespace)">\(body)</Schema>
            </edmx:DataServices></edmx:Edmx>
            """
    }

    private static let main = document(
        "Main",
        #"""
        <EntityType Name="Place"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Address" Type="Types.Address"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Places" EntityType="Main.Place"/></EntityContainer>
        """#,
        references: [
            ("types.xml", "Types"), ("https://other.test/terms.xml", "Terms"), ("unused.xml", "Unused"),
        ])
    private static let types = document(
        "Types",
        #"""
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/><Property Name="Code" Type="Codes.Code"/>
        <Property Name="Term" Type="Terms.Term"/></ComplexType>
        """#,
        references: [("/v4/codes.xml", "Codes"), ("https://other.test/terms.xml", "Terms")])
    private static let codes = document("Codes", #"<TypeDefinition Name="Code" UnderlyingType="Edm.String"/>"#)

    /// Returns a session with a service of these documents by path, and the requests that it receives.
    private static func session(
        _ documents: [String: String], failing: Int = 404
    ) throws -> (session: ServiceSession, requests: @Sendable () -> [String]) {
        let requests = Mutexed()
        let transport = HookedTransport(SandboxTransport(try Sandbox.shop())) { request, _ in
            let path = request.path ?? ""
            requests.append((request.authority ?? "") + path)
            guard let document = documents[path] else {
                return (HTTPResponse(status: HTTPResponse.Status(code: failing)), [])
            }
            return (HTTPResponse(status: 200, headerFields: [.contentType: "application/xml"]), Array(document.utf8))
        }
        return (ServiceSession(root: "http://shop.test/v4/", transport: transport), { requests.values })
    }

    private final class Mutexed: Sendable {
        private let state = Mutex<[String]>([])
        func append(_ value: String) { state.withLock { $0.append(value) } }
        var values: [String] { state.withLock { $0 } }
    }

    @Test func `referenced documents of the same server that declare needed types are read, and no others`()
        async throws
    {
        let (session, requests) = try Self.session([
            "/v4/$metadata": Self.main, "/v4/types.xml": Self.types, "/v4/codes.xml": Self.codes,
        ])
        let (bytes, model) = try await MetadataReading.read(session)
        #expect(model.findComplexType("Types.Address")?.findProperty("Code")?.type.name == "Codes.Code")
        #expect(model.unresolvedNames == ["Terms.Term"])
        #expect(requests() == ["/v4/$metadata", "/v4/types.xml", "/v4/codes.xml"].map { "shop.test" + $0 })
        // The store reads the same model from the logged bytes.
        #expect(try CSDLReader.read(bytes).findEntityType("Main.Place")?.findProperty("Address") != nil)
        #expect(try CSDLReader.read(bytes).unresolvedNames == ["Terms.Term"])
    }

    @Test func `elements that need a missing referenced document are omitted`() async throws {
        let (session, _) = try Self.session(["/v4/$metadata": Self.main])
        let (bytes, model) = try await MetadataReading.read(session)
        #expect(bytes == Array(Self.main.utf8))
        #expect(model.findEntityType("Main.Place")?.findProperty("ID") != nil)
        #expect(model.unresolvedNames == ["Types.Address"])
    }

    @Test func `a failure while a referenced document is read is an error, not other metadata`() async throws {
        let (session, _) = try Self.session(["/v4/$metadata": Self.main], failing: 503)
        await #expect(throws: TidelogError.self) { _ = try await MetadataReading.read(session) }
    }

    @Test func `documents that refer to each other are read once`() async throws {
        let types = Self.types.replacing("/v4/codes.xml", with: "types.xml")
        let (session, requests) = try Self.session(["/v4/$metadata": Self.main, "/v4/types.xml": types])
        #expect(try await MetadataReading.read(session).model.unresolvedNames.contains("Codes.Code"))
        #expect(requests().count == 2)
    }

    @Test func `client-only metadata are added to referenced ones`() throws {
        let service = ReferencedMetadata.joined(
            Array(Self.main.utf8), references: [Array(Self.types.utf8), Array(Self.codes.utf8)])
        let additions = Self.document(
            "Local",
            #"""
            <EntityType Name="Note"><Key><PropertyRef Name="ID"/></Key>
            <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
            <EntityContainer Name="C"><EntitySet Name="Notes" EntityType="Local.Note"/></EntityContainer>
            """#)
        let joined = try ClientOnlyMetadata.joined(service: service, additions: Array(additions.utf8))
        let model = try CSDLReader.read(joined)
        #expect(model.findEntitySet("Notes") != nil && model.findEntitySet("Places") != nil)
        #expect(model.findComplexType("Types.Address") != nil)
        #expect(ReferencedMetadata.parts(ClientOnlyMetadata.parts(joined).service).count == 3)
    }
}
