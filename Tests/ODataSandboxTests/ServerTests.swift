import Foundation
import ODataWire
import Testing

/// The real executable on a free port.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ServerTests {
    private final class Server {
        let process = Process()
        let output = Pipe()
        private(set) var lines: [String] = []

        init(_ arguments: [String] = ["--quiet"]) throws {
            // The test bundle stands beside the executables that were built with it.
            let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
            var folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
            while folder.path != "/", !FileManager.default.isExecutableFile(atPath: folder.path + "/odata-sandbox") {
                folder.deleteLastPathComponent()
            }
            process.executableURL = folder.appendingPathComponent("odata-sandbox")
            process.arguments = arguments
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            lines = readLines(2)
        }

        deinit { if process.isRunning { process.terminate() } }

        var port: UInt16 { lines.first?.split(separator: ":").last.flatMap { UInt16($0.prefix { $0 != "/" }) } ?? 0 }

        func stop(_ signal: Int32) -> Int32 {
            kill(process.processIdentifier, signal)
            process.waitUntilExit()
            return process.terminationStatus
        }

        private func readLines(_ count: Int) -> [String] {
            var text = ""
            while text.filter({ $0 == "\n" }).count < count {
                let chunk = output.fileHandleForReading.availableData
                if chunk.isEmpty { break }
                text += String(decoding: chunk, as: UTF8.self)
            }
            return text.split(separator: "\n").map(String.init)
        }
    }

    @Test func `the program prints both services and answers any method until it is interrupted`() throws {
        let server = try Server()
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
        #expect(server.stop(SIGINT) == 0)
    }

    @Test func `a termination ends the program well too`() throws {
        let server = try Server(["--quiet", "--page-size", "2"])
        var connection = try HTTPConnection(port: server.port)
        let page = try connection.send(WireRequest(method: "GET", url: "/v4/Orders"))
        #expect(page.text.contains("@odata.nextLink"))
        #expect(server.stop(SIGTERM) == 0)
    }

    @Test func `a port that is taken is an error of one sentence`() throws {
        let first = try Server()
        let second = try Server(["--port", String(first.port)])
        #expect(second.lines.isEmpty)
        second.process.waitUntilExit()
        #expect(second.process.terminationStatus == 1)
        #expect(first.stop(SIGTERM) == 0)
    }
}
