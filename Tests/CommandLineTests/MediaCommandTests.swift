import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20))) struct MediaCommandTests {
    @Test func `media commands create, read, replace and verify a stream`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["P=Photos"])
        try workspace.write("first", to: "a.txt")
        try workspace.write("second", to: "b.txt")
        let link = try workspace.output("media", "create", "Photos", "a.txt", "--type", "text/plain").lines[0]
        #expect(try workspace.output("media", "get", link) == "first")
        // The bytes of the content; the request has no other body.
        #expect(try workspace.output("push").hasSuffix("(1 batch, 5 bytes sent).\n"))
        _ = try workspace.output("media", "put", link, "b.txt", "--type", "text/plain")
        #expect(try workspace.output("media", "get", link) == "second")
        #expect(try workspace.output("media", "verify") == "No stream is missing or damaged.\n")
        _ = try workspace.output("push")
        #expect(try workspace.output("media", "get", link, "--refresh") == "second")

        let folder = workspace.path(".tidelog/streams")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try Data("other!".utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        let damaged = try workspace.tidelog("media", "verify")
        #expect(damaged.status == 2)
        #expect(damaged.lines.contains { $0.hasPrefix("The stream of ") && $0.contains("damaged") })
        let none = try workspace.tidelog("media", "get", "Photos(999)")
        #expect(none.status == 1)
        _ = server
    }

    @Test func `clear deletes a store, and needs --force if operations are pending`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#)
        let refused = try workspace.tidelog("clear")
        #expect(refused.status == 1)
        #expect(refused.error.contains("an operation that the service has not confirmed"))
        #expect(try workspace.output("clear", "--force") == "Deleted the store .tidelog.\n")
        #expect(try workspace.tidelog("clear").status == 1)
        #expect(!FileManager.default.fileExists(atPath: workspace.path(".tidelog")))
        _ = server
    }
}

extension String {
    fileprivate var lines: [String] { split(separator: "\n").map(String.init) }
}
