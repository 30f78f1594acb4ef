import Foundation
import TestSupport
import Testing

/// The order of system calls that makes acknowledged operations survive a loss of power. The simulated disk checks the
/// calls of the log to its file system; these tests check that the calls reach the operating system.
@Suite(
    .enabled(if: SystemCalls.isAvailable, "skipped: there is no strace that may trace processes"),
    .timeLimit(.minutes(20)))
struct SystemCallTests {
    @Test func `store.json is synced before it is renamed`() throws {
        let server = try SandboxServer()
        let calls = try SystemCalls(of: "init", server.root(.v4), in: Workspace())
        let rename = try #require(calls.last("rename", "store.json.new\""))
        let sync = try #require(calls.first("fsync", "/store.json.new>"), "\(calls.calls)")
        #expect(sync < rename)
        #expect(try #require(calls.last("write", "/store.json.new>")) < sync)
    }

    @Test func `the directory of store.json is synced after the file is renamed`() throws {
        let server = try SandboxServer()
        let calls = try SystemCalls(of: "init", server.root(.v4), in: Workspace())
        let rename = try #require(calls.last("rename", "store.json.new\""))
        #expect(calls.first("fsync", "/.tidelog>", after: rename) != nil)
    }

    @Test func `the directory of a new log is synced after its first segment is renamed`() throws {
        let server = try SandboxServer()
        let calls = try SystemCalls(of: "init", server.root(.v4), in: Workspace())
        let rename = try #require(calls.first("rename", ".segment.new\""))
        #expect(calls.first("fsync", "/.tidelog/log>", after: rename) != nil)
    }

    @Test func `a segment is synced after an operation is written and before the command prints it`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["C=Customers"])
        let segments = try FileManager.default.contentsOfDirectory(atPath: workspace.path(".tidelog/log"))
        let segment = "/.tidelog/log/\(try #require(segments.filter { $0 != "END" }.max()))>"
        let calls = try SystemCalls(of: "create", "Customers", #"{"Name":"Ada"}"#, in: workspace)
        let write = try #require(calls.last("pwrite", segment), "\(calls.calls)")
        let sync = try #require(calls.first("fdatasync", segment, after: write), "\(calls.calls)")
        #expect(sync < (try #require(calls.first("write", "/dev/null>"))))
    }

    @Test func `a stream is synced before it is renamed, and its directory after it`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["P=Photos"])
        try workspace.write("first", to: "a.txt")
        let calls = try SystemCalls(of: "media", "create", "Photos", "a.txt", "--type", "text/plain", in: workspace)
        let rename = try #require(calls.first("rename", "/streams/new-"), "\(calls.calls)")
        let sync = try #require(calls.first("fsync", "/streams/new-"), "\(calls.calls)")
        #expect(try #require(calls.last("write", "/streams/new-")) < sync)
        #expect(sync < rename)
        #expect(calls.first("fsync", "/streams>", after: rename) != nil)
    }

    @Test func `the parent of a new directory of streams is synced before the stream`() throws {
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, .v4, queries: ["P=Photos"])
        try workspace.write("first", to: "a.txt")
        let calls = try SystemCalls(of: "media", "create", "Photos", "a.txt", "--type", "text/plain", in: workspace)
        let made = try #require(calls.first("mkdir", "/streams\""), "\(calls.calls)")
        let sync = try #require(calls.first("fsync", "/.tidelog>", after: made))
        #expect(sync < (try #require(calls.first("fsync", "/streams/new-"))))
    }
}
