import Foundation
import Testing

/// `generate-test`: what it writes compiles against the built modules.
@Suite(.timeLimit(.minutes(10))) struct GenerateTestTests {
    private static let compiler: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let found = folders.map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        if found == nil { print("skipped: there is no swiftc on the search path") }
        return found
    }()

    /// The modules of C that the built modules lean on; those of the system are found by themselves.
    private static var moduleMaps: [String] {
        let build = Executable.folder.path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: build)) ?? []
        return names.filter { $0.hasSuffix(".build") }.map { "\(build)/\($0)/module.modulemap" }
            .filter { FileManager.default.fileExists(atPath: $0) }
    }

    /// What the compiler has against the source; empty where it is content.
    private func complaints(_ file: String, _ workspace: Workspace) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.compiler ?? "/usr/bin/false")
        let toolchain = URL(fileURLWithPath: Self.compiler ?? "").deletingLastPathComponent()
            .deletingLastPathComponent().path
        process.arguments =
            [
                "-typecheck", "-swift-version", "6", "-parse-as-library", "-I", Executable.folder.path + "/Modules",
                "-I", toolchain + "/lib/swift/linux/testing",
                "-plugin-path", toolchain + "/lib/swift/host/plugins/testing",
            ] + Self.moduleMaps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] } + [workspace.path(file)]
        try workspace.write("", to: "complaints")
        process.standardError = try FileHandle(forWritingTo: workspace.folder.appendingPathComponent("complaints"))
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? "" : workspace.read("complaints") + "exit \(process.terminationStatus)"
    }

    @Test(arguments: SandboxServer.Version.allCases)
    func `a generated test compiles`(_ version: SandboxServer.Version) throws {
        guard Self.compiler != nil else { return }
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, version, queries: ["C=Customers", "O=Orders"])
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"E\"v\\e"}"#)
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#)
        _ = try workspace.output("create", "Orders", #"{"Note":"x"}"#, "--bind", "Customer=Customers(~8)")
        _ = try workspace.output("delete", "Orders(1)")
        let run = try workspace.output(
            "generate-test", "--when", "Orders?$filter=Note eq 'x'", "--output", "LogTests.swift")
        #expect(run == "The test is in LogTests.swift.\n")
        let source = workspace.read("LogTests.swift")
        #expect(source.contains(#"@Test func `Orders?$filter=Note eq 'x' holds`() async throws {"#))
        #expect(source.contains(#"        entity8["Name"] = .string("Neu")"#))
        #expect(source.contains("        try await service.createEntity(entity9)"))
        #expect(source.contains("        try await service.deleteEntity(entity4)"))
        #expect(try complaints("LogTests.swift", workspace) == "")
        let counting = try workspace.output("generate-test", "--name", "Counting")
        #expect(counting.contains("@Suite struct CountingTests {"))
        #expect(counting.contains(#"DataQuery().withURL("Orders/$count")).value == .integer(4))"#))
        let again = try workspace.tidelog("generate-test", "--output", "LogTests.swift")
        #expect(again.error == "tidelog: LogTests.swift is there already. Give a name that nothing has.\n")
        withExtendedLifetime(server) {}
    }
}
