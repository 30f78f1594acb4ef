import Foundation
import ODataWire
import TestSupport
import Testing

/// The option `--metadata` of the program `odata-sandbox`.
@Suite(.timeLimit(.minutes(30))) struct MetadataFileTests {
    private static let v4 = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">
        <edmx:DataServices>
        <Schema Namespace="Field" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="WorkOrder">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Title" Type="Edm.String"/>
        </EntityType>
        <EntityContainer Name="C"><EntitySet Name="WorkOrders" EntityType="Field.WorkOrder"/></EntityContainer>
        </Schema>
        </edmx:DataServices>
        </edmx:Edmx>
        """

    private static let v2 = """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
        <edmx:DataServices m:DataServiceVersion="2.0"
            xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <Schema Namespace="Field" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">
        <EntityType Name="WorkOrder">
        <Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="Title" Type="Edm.String"/>
        </EntityType>
        <EntityContainer Name="C"><EntitySet Name="WorkOrders" EntityType="Field.WorkOrder"/></EntityContainer>
        </Schema>
        </edmx:DataServices>
        </edmx:Edmx>
        """

    /// Calls `body` with the path of a file with this text.
    private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString).csdl")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try body(file.path)
    }

    private func failure(_ arguments: [String]) throws -> String {
        let (status, message) = try ChildProcess.run("odata-sandbox", arguments)
        #expect(status == 1, "\(message)")
        return message
    }

    @Test func `the sets of a V4 document are served without entities, and assign integer keys`() throws {
        try withFile(Self.v4) { path in
            let program = try ChildProcess(
                "odata-sandbox", ["--quiet", "--metadata", path, "--etags", "WorkOrders"], lines: 1)
            #expect(program.lines == ["V4 http://127.0.0.1:\(program.port)/v4/"])
            var connection = try HTTPConnection(port: program.port)
            let metadata = try connection.send(WireRequest(method: "GET", url: "/v4/$metadata"))
            #expect(metadata.text == Self.v4)
            let empty = try connection.send(WireRequest(method: "GET", url: "/v4/WorkOrders/$count"))
            #expect(empty.text == "0")
            let created = try connection.send(
                WireRequest(
                    method: "POST", url: "/v4/WorkOrders", headers: ["Content-Type": "application/json"],
                    body: Array(#"{"Title":"Pump"}"#.utf8)))
            #expect(created.status == 201)
            #expect(created.headers["Location"] == "http://127.0.0.1:\(program.port)/v4/WorkOrders(1)")
            #expect(created.headers["ETag"] != nil)
            #expect(program.terminate() == 0)
        }
    }

    @Test func `a V2 document is served in V2`() throws {
        try withFile(Self.v2) { path in
            let program = try ChildProcess("odata-sandbox", ["--quiet", "--metadata", path], lines: 1)
            #expect(program.lines == ["V2 http://127.0.0.1:\(program.port)/v2/"])
            var connection = try HTTPConnection(port: program.port)
            let page = try connection.send(WireRequest(method: "GET", url: "/v2/WorkOrders?$format=json"))
            #expect(page.status == 200)
            #expect(page.text.contains(#""results":[]"#), "\(page.text)")
        }
    }

    @Test func `the error for a missing file and for a directory names the path`() throws {
        #expect(
            try failure(["--metadata", "/nowhere/Model.csdl"]).contains("/nowhere/Model.csdl cannot be read: No such"))
        let folder = FileManager.default.temporaryDirectory.path
        #expect(try failure(["--metadata", folder]).contains("\(folder) cannot be read: Is a directory"))
    }

    @Test func `the error for invalid metadata names the file, the line and a remedy`() throws {
        let invalid = Self.v4.replacingOccurrences(
            of: "EntityType=\"Field.WorkOrder\"", with: "EntityType=\"Field.Order\"")
        try withFile(invalid) { path in
            let message = try failure(["--metadata", path])
            #expect(message.contains("\(path), line 9, column "), "\(message)")
            #expect(message.contains("Field.Order"), "\(message)")
            #expect(message.contains("Correct the document"), "\(message)")
        }
        try withFile("<html>Please log in</html>") { path in
            let message = try failure(["--metadata", path])
            #expect(message.contains("\(path), line 1"), "\(message)")
        }
    }

    @Test func `a set with a defect is omitted with a warning, and the others are served`() throws {
        let set = #"<EntitySet Name="WorkOrders" EntityType="Field.WorkOrder"/>"#
        let partly = Self.v4.replacingOccurrences(
            of: set, with: set + #"<EntitySet Name="Tools" EntityType="Field.Tool"/>"#)
        try withFile(partly) { path in
            let errors = path + ".errors"
            defer { try? FileManager.default.removeItem(atPath: errors) }
            let program = try ChildProcess(
                URL(filePath: "/bin/sh"),
                ["-c", "exec \"$0\" --quiet --metadata \"$1\" 2>\"$1.errors\""]
                    + [ChildProcess.executable("odata-sandbox").path, path], lines: 1)
            var connection = try HTTPConnection(port: program.port)
            #expect(try connection.send(WireRequest(method: "GET", url: "/v4/WorkOrders")).status == 200)
            #expect(try connection.send(WireRequest(method: "GET", url: "/v4/Tools")).status == 404)
            let message = try String(contentsOfFile: errors, encoding: .utf8)
            #expect(message.contains("warning: \(path), line 9, column "), "\(message)")
            #expect(message.contains("The EntitySet Field.C/Tools is not served."), "\(message)")
        }
    }

    @Test func `the error for an unknown set lists the sets of the document`() throws {
        try withFile(Self.v4) { path in
            let message = try failure(["--metadata", path, "--etags", "Orders"])
            #expect(message.contains("no entity set Orders"), "\(message)")
            #expect(message.contains("WorkOrders"), "\(message)")
        }
    }

    @Test func `ETags without a document are an error of the command line`() throws {
        let (status, message) = try ChildProcess.run("odata-sandbox", ["--etags", "Orders"])
        #expect(status == 64)
        #expect(message.contains("--etags requires --metadata"), "\(message)")
    }
}
