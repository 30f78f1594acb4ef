import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct MetadataTests {
    @Test func `metadata prints counts, sets and types of a document`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace()
        for version in SandboxServer.Version.allCases {
            let lines = try workspace.tidelog("metadata", server.root(version)).lines
            #expect(lines.first == (version == .v2 ? "OData 2.0" : "OData 4.0"))
            #expect(lines.contains("   15  entitySets"))
            #expect(lines.contains("entity set Customers of Shop.Customer"))
            #expect(lines.contains("entity type Shop.Order"))
            #expect(lines.contains("  OrderID: Edm.Int32 (key)"))
            #expect(lines.contains("  Customer -> Shop.Customer (* to 0..1), partner Orders, CustomerID = CustomerID"))
        }
        // The command also accepts the URL of the document itself. The JSON output has the same counts.
        let json = try workspace.output("metadata", server.root(.v4) + "$metadata", "--json")
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        #expect(object?["odataVersion"] as? String == "4.0")
        #expect(object?["entitySets"] as? Int == 15)
        #expect((object?["types"] as? [[String: Any]])?.first?["name"] as? String == "Shop.Customer")
    }

    private static let defective = """
        <edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0"><edmx:DataServices>
        <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="N">
        <EntityType Name="T"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32"/>
        <Property Name="P" Type="N.Nothing"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="Ts" EntityType="N.T"/>
        <EntitySet Name="Us" EntityType="N.U"/></EntityContainer>
        </Schema></edmx:DataServices></edmx:Edmx>
        """

    private static let defects = [
        "2 defects in the metadata; 2 elements are omitted:",
        "  line 4, column 1: The type \"N.Nothing\" is not declared. Omitted: Property N.T/P.",
        "  line 6, column 1: The type \"N.U\" is not declared. Omitted: EntitySet N.C/Us.",
    ]

    @Test func `init and metadata list the unusable elements of a document`() throws {
        let service = try CannedService(status: "200 OK", body: Self.defective)
        let workspace = try Workspace()
        let made = try workspace.tidelog("init", service.root)
        #expect(made.status == 0, "\(made.error)")
        #expect(made.lines.suffix(4) == Self.defects + ["Run 'tidelog pull' to download them."])
        #expect(made.lines.contains("  Ts = Ts"))
        let printed = try workspace.tidelog("metadata", service.root)
        #expect(printed.lines.suffix(3) == Self.defects)
        #expect(!printed.lines.contains { $0.contains("Us of") })
        let json = try workspace.output("metadata", service.root, "--json")
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        let first = (object?["defects"] as? [[String: Any]])?.first
        #expect(first?["code"] as? String == "unresolvedName")
        #expect(first?["line"] as? Int == 4)
        #expect((first?["leftOut"] as? [String: String]) == ["kind": "Property", "path": "N.T/P"])
        let queried = try workspace.tidelog("query", "Us")
        #expect(queried.status == 1)
        #expect(queried.error.contains("cannot be used (line 6, column 1: The type \"N.U\" is not declared.)"))
    }

    @Test func `metadata reads a document in JSON`() throws {
        let body =
            #"{"$Version":"4.01","N":{"T":{"$Kind":"EntityType","$Key":["ID"],"ID":{}},"C":{"$Kind":"EntityContainer","Ts":{"$Collection":true,"$Type":"N.T"}}}}"#
        let service = try CannedService(status: "200 OK", headers: ["Content-Type: application/json"], body: body)
        let lines = try Workspace().tidelog("metadata", service.root).lines
        #expect(lines.first == "OData 4.01")
        #expect(lines.contains("entity set Ts of N.T"))
        #expect(lines.contains("  ID: Edm.String (key)"))
    }

    @Test func `refresh-metadata reads the metadata again, and pull reads download settings from a file`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace()
        _ = try workspace.output("init", server.root(.v4), "--query", "Orders=Orders")
        #expect(try workspace.tidelog("refresh-metadata").lines == ["The metadata has not changed."])
        let json = try workspace.output("refresh-metadata", "--dry-run", "--json")
        let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
        #expect((object?["changes"] as? [String])?.isEmpty == true)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).conf")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("[defining_query]\nname = Orders\nrefresh = 3\n".utf8).write(to: file)
        let refused = try workspace.tidelog("pull", "--config", file.path)
        #expect(refused.status == 1)
        #expect(refused.error.contains("line 3"), "\(refused.error)")
        try Data("[defining_query]\nname = Orders\ntrack_deltas = ALWAYS\n".utf8).write(to: file)
        #expect(try workspace.tidelog("pull", "--config", file.path).status == 0)
    }

    @Test(.enabled(if: Corpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
    func `metadata prints the counts of the corpus under the same names`() throws {
        let workspace = try Workspace()
        // Every eighth document. The reader has a separate test with all of them.
        for (index, line) in Corpus.documents.enumerated() where index.isMultiple(of: 8) {
            guard let entry = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let file = entry["file"] as? String, entry["kind"] as? String == "csdl-xml"
            else { continue }
            let path = Corpus.folder.appendingPathComponent(file).path
            let run = try workspace.tidelog("metadata", path, "--json")
            guard entry["wellFormed"] as? Bool == true, let facts = entry["facts"] as? [String: Any] else {
                #expect(run.status == 1, "\(file)")
                continue
            }
            guard run.status == 0 else { continue }
            let printed = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
            for name in [
                "entityTypes", "complexTypes", "entitySets", "navigationProperties", "structuralProperties", "keys",
            ] {
                #expect(printed[name] as? Int == facts[name] as? Int, "\(file) \(name)")
            }
        }
    }
}

/// The metadata documents of the conformance corpora, if these are in a directory next to the checkout.
enum Corpus {
    static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["TIDELOG_CONFORMANCE"] { return URL(fileURLWithPath: path) }
        return URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("../shared/conformance").standardizedFileURL
    }()

    static let isPresent: Bool = {
        let isPresent = FileManager.default.fileExists(atPath: folder.appendingPathComponent("csdl/index.jsonl").path)
        if !isPresent { print("skipped: the conformance corpora are not next to the checkout") }
        return isPresent
    }()

    /// The lines of the index.
    static var documents: [String] {
        let data = try? Data(contentsOf: folder.appendingPathComponent("csdl/index.jsonl"))
        return data.map { String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init) } ?? []
    }
}
