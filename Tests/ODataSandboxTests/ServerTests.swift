import Foundation
import ODataWire
import TestSupport
import Testing

/// The `odata-sandbox` executable on a free port.
@Suite(.timeLimit(.minutes(30))) struct ServerTests {
    @Test func `the program prints both service roots and answers any method until it is interrupted`() throws {
        let server = try ChildProcess("odata-sandbox", ["--quiet"], lines: 2)
        #expect(server.lines == ["V2 http://127.0.0.1:\(server.port)/v2/", "V4 http://127.0.0.1:\(server.port)/v4/"])
        var connection = try HTTPConnection(port: server.port)
        let created = try connection.send(
            WireRequest(
                method: "POST", url: "/v4/Orders", headers: ["Content-Type": "application/json"],
                body: Array(#"{"Note":"over the wire","CustomerID":1}"#.utf8)))
        #expect(created.status == 201)
        #expect(created.headers["Location"] == "http://127.0.0.1:\(server.port)/v4/Orders(5)")
        let token = try connection.send(WireRequest(method: "GET", url: "/v2/", headers: ["X-CSRF-Token": "Fetch"]))
        let headers: HTTPHeaders = [
            "X-CSRF-Token": token.headers["X-CSRF-Token"] ?? "", "If-Match": "*",
            "Cookie": String((token.headers["Set-Cookie"] ?? "").prefix { $0 != ";" }),
            "Content-Type": "application/json",
        ]
        let merged = try connection.send(
            WireRequest(
                method: "MERGE", url: "/v2/Orders(5)", headers: headers, body: Array(#"{"Note":"merged"}"#.utf8)))
        #expect(merged.status == 204)
        let deleted = try connection.send(
            WireRequest(method: "DELETE", url: "/v4/Orders(1)", headers: ["If-Match": "*"]))
        #expect(deleted.status == 204)
        let read = try connection.send(WireRequest(method: "GET", url: "/v4/Orders(5)?$select=Note"))
        #expect(read.text.contains("merged"))
        let head = try connection.send(WireRequest(method: "GET", url: "/v4/Orders/$count"))
        #expect(head.text == "4")
        #expect(server.terminate(SIGINT) == 0)
    }

    @Test func `SIGTERM ends the program with exit code 0`() throws {
        let server = try ChildProcess("odata-sandbox", ["--quiet", "--page-size", "2"], lines: 2)
        var connection = try HTTPConnection(port: server.port)
        let page = try connection.send(WireRequest(method: "GET", url: "/v4/Orders"))
        #expect(page.text.contains("@odata.nextLink"))
        #expect(server.terminate(SIGTERM) == 0)
    }

    @Test func `a port in use is an error`() throws {
        let server = try SandboxServer()
        let (status, text) = try ChildProcess.run("odata-sandbox", ["--port", String(server.port)])
        #expect(status == 1)
        #expect(text.contains("Port \(server.port) cannot be opened"), "\(text)")
    }

    // MARK: - Faults

    private func create(_ name: String) -> WireRequest {
        WireRequest(
            method: "POST", url: "/v4/Suppliers", headers: ["Content-Type": "application/json"],
            body: Array("{\"Name\":\"\(name)\"}".utf8))
    }

    private func count(_ server: SandboxServer, _ name: String) throws -> String {
        try server.get("/v4/Suppliers/$count?$filter=Name%20eq%20'\(name)'")
    }

    @Test func `a reset restores the data and the faults of the start`() throws {
        let server = try SandboxServer()
        let before = try server.get("/v4/Suppliers")
        var connection = try HTTPConnection(port: server.port)
        #expect(try connection.send(create("new")).status == 201)
        try server.script(#"{"effect":"refuse","status":500,"method":"POST"}"#)
        #expect(try connection.send(WireRequest(method: "POST", url: "/reset")).status == 204)
        #expect(try server.get("/v4/Suppliers") == before)
        #expect(try server.pendingFaults() == "[]")
        #expect(try connection.send(create("new")).status == 201)
    }

    @Test func `a response can be cut after any number of bytes, and its request is executed`() throws {
        let server = try SandboxServer()
        for bytes in [0, 1, 17, 200] {
            try server.script(#"{"effect":"cutAnswer","after":\#(bytes)}"#)
            var connection = try HTTPConnection(port: server.port)
            try connection.write(create("cut-\(bytes)"))
            let answer = connection.rest()
            #expect(answer.count == bytes)
            #expect("HTTP/1.1 201 Created\r\n".utf8.starts(with: answer.prefix(22)))
            #expect(try count(server, "cut-\(bytes)") == "1")
        }
    }

    @Test func `a request that is cut while it is sent is not executed`() throws {
        let server = try SandboxServer()
        try server.script(#"{"effect":"cutRequest","after":4,"method":"POST","url":"Suppliers"}"#)
        var connection = try HTTPConnection(port: server.port)
        try connection.write(create("half"))
        #expect(connection.rest().isEmpty)
        #expect(try count(server, "half") == "0")
        try server.script(#"{"effect":"dropAnswer","method":"POST","url":"Suppliers"}"#)
        connection = try HTTPConnection(port: server.port)
        try connection.write(create("dropped"))
        #expect(connection.rest().isEmpty)
        #expect(try count(server, "dropped") == "1")
    }

    @Test func `a response can be delayed while other requests are answered`() throws {
        let server = try SandboxServer()
        try server.script(#"{"effect":"delay","milliseconds":400,"method":"POST"}"#)
        var slow = try HTTPConnection(port: server.port)
        let start = ContinuousClock.now
        try slow.write(create("slow"))
        // The request is carried out at once, but its response is sent after the responses to later requests.
        while try count(server, "slow") == "0" {}
        #expect(try slow.response().status == 201)
        #expect(start.duration(to: .now) >= .milliseconds(400))
    }

    @Test func `options configure repeatability, asynchronous requests, deltas and faults`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("faults-\(UUID().uuidString).json")
        try Data(#"[{"effect":"refuse","status":429,"method":"POST"}]"#.utf8).write(to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try SandboxServer(
            [
                "--repeatable", "oasis", "--remember", "3600", "--async", "0", "--deltas", "4.01", "--faults",
                folder.path,
            ], isReused: false)
        var connection = try HTTPConnection(port: server.port)
        var request = create("once")
        #expect(try connection.send(request).status == 429)
        request.headers["Repeatability-Request-ID"] = "a1"
        request.headers["Repeatability-First-Sent"] = HTTPDate.text(
            millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
        for _ in 0..<2 { #expect(try connection.send(request).headers["Repeatability-Result"] == "accepted") }
        #expect(try count(server, "once") == "1")
        request.headers["Repeatability-First-Sent"] = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(try connection.send(request).status == 412)
        request = create("later")
        request.headers["Prefer"] = "respond-async"
        let accepted = try connection.send(request)
        #expect(accepted.status == 202 && accepted.headers["Location"]?.hasSuffix("/v4/$async/1") == true)
    }

    @Test func `a reset also forgets the responses to repeatable requests`() throws {
        let server = try SandboxServer(["--repeatable", "oasis"])
        var connection = try HTTPConnection(port: server.port)
        var request = create("once")
        request.headers["Repeatability-Request-ID"] = "a1"
        request.headers["Repeatability-First-Sent"] = HTTPDate.text(
            millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
        #expect(try connection.send(request).status == 201)
        #expect(try connection.send(WireRequest(method: "POST", url: "/reset")).status == 204)
        #expect(try connection.send(request).status == 201)
        #expect(try count(server, "once") == "1")
    }

    @Test(arguments: [
        ["--faults", "/nowhere"], ["--remember", "-1"], ["--async", "-1"], ["--repeatable", "never"],
        ["--deltas", "5"],
    ])
    func `invalid options end the program before the service starts`(_ arguments: [String]) throws {
        #expect(try ChildProcess.run("odata-sandbox", arguments).status != 0)
    }
}
