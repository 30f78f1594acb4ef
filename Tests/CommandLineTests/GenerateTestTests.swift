import Foundation
import Testing

/// The tests that `generate-test` writes compile with the built modules.
@Suite(.timeLimit(.minutes(30))) struct GenerateTestTests {
    private static let compiler: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let found = folders.map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        if found == nil { print("skipped: there is no swiftc on the search path") }
        return found
    }()

    private static let checkout = URL(filePath: #filePath).appending(path: "../../..").standardized

    /// Returns the module maps of the C modules that the built modules import. Modules built a second time for plugins
    /// are excluded.
    private static func moduleMaps() throws -> [String] {
        let sources = checkout.appending(path: "Sources")
        let folders = [Executable.folder.resolvingSymlinksInPath(), sources]
        return try folders.flatMap { folder in
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .filter { !$0.lastPathComponent.hasSuffix("-tool.build") }
                .map { $0.appending(path: "module.modulemap").path }
                .filter { FileManager.default.fileExists(atPath: $0) }
        }
    }

    /// Returns the errors of the compiler for the source, or an empty string if it compiles.
    private func complaints(_ file: String, _ workspace: Workspace) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.compiler ?? "/usr/bin/false")
        process.arguments =
            [
                "-typecheck", "-swift-version", "6", "-parse-as-library", "-I", Executable.folder.path + "/Modules",
                "-Xcc", "-I/usr/include/libxml2",
            ] + (try Self.moduleMaps().flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }) + [workspace.path(file)]
        try workspace.write("", to: "complaints")
        process.standardError = try FileHandle(forWritingTo: workspace.folder.appendingPathComponent("complaints"))
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? "" : workspace.read("complaints") + "exit \(process.terminationStatus)"
    }

    private func workspace(_ server: SandboxServer, _ version: SandboxServer.Version) throws -> Workspace {
        let workspace = try Workspace.pulled(server, version, queries: ["C=Customers", "O=Orders"])
        _ = try workspace.output("update", "Customers(1)", #"{"Name":"E\"v\\e"}"#)
        _ = try workspace.output("create", "Customers", #"{"Name":"Neu"}"#)
        _ = try workspace.output("create", "Orders", #"{"Note":"x"}"#, "--bind", "Customer=Customers(~8)")
        _ = try workspace.output("delete", "Orders(1)")
        return workspace
    }

    private static let condition = "Orders?$filter=Note eq 'x' and Customer/Name eq 'Neu'"

    /// The generated files are compiled and run with the tests of `Tidelog`.
    @Test(arguments: SandboxServer.Version.allCases)
    func `the generated source equals the test in TidelogTests`(_ version: SandboxServer.Version) throws {
        let server = try SandboxServer()
        let workspace = try workspace(server, version)
        let name = version == .v2 ? "SandboxLogV2" : "SandboxLogV4"
        let source = try workspace.output("generate-test", "--when", Self.condition, "--name", name)
        let file = Self.checkout.appending(path: "Tests/TidelogTests/Generated/\(name)Tests.swift")
        #expect(source == (try? String(contentsOf: file, encoding: .utf8)))
        withExtendedLifetime(server) {}
    }

    @Test(arguments: SandboxServer.Version.allCases)
    func `a generated test compiles`(_ version: SandboxServer.Version) throws {
        guard Self.compiler != nil else { return }
        let server = try SandboxServer()
        let workspace = try workspace(server, version)
        let run = try workspace.output("generate-test", "--when", Self.condition, "--output", "LogTests.swift")
        #expect(run == "Wrote the test to LogTests.swift.\n")
        let source = workspace.read("LogTests.swift")
        #expect(source.contains(#"        entity8["Name"] = .string("Neu")"#))
        #expect(source.contains("        try await service.createEntity(entity9)"))
        #expect(source.contains("        try await service.deleteEntity(entity4)"))
        let complaints = try self.complaints("LogTests.swift", workspace)
        #expect(complaints == "")
        try workspace.write(source.replacing("executeQuery", with: "executeNothing"), to: "Wrong.swift")
        let deserved = try self.complaints("Wrong.swift", workspace)
        #expect(deserved.contains("executeNothing"))
        let counting = try workspace.output("generate-test", "--name", "Counting")
        #expect(counting.contains("@Suite struct CountingTests {"))
        #expect(counting.contains(#"DataQuery().withURL("Orders/$count")).value == .integer(4))"#))
        let zero = " && value != .integer(0)"
        #expect(!(try workspace.output("generate-test", "--when", "Orders(2)/Quantity").contains(zero)))
        #expect(try workspace.output("generate-test", "--when", "Orders/$count?$filter=Note eq 'x'").contains(zero))
        let again = try workspace.tidelog("generate-test", "--output", "LogTests.swift")
        #expect(again.error == "tidelog: LogTests.swift already exists. Choose another name.\n")
        withExtendedLifetime(server) {}
    }

    /// AX-18: deep inserts in generated tests.
    @Test(arguments: SandboxServer.Version.allCases)
    func `a generated test contains deep inserts and compiles`(_ version: SandboxServer.Version) throws {
        guard Self.compiler != nil else { return }
        let server = try SandboxServer()
        let workspace = try Workspace.pulled(server, version, queries: ["C=Customers", "O=Orders"])
        _ = try workspace.output("create", "Orders", #"{"Note":"deep","Customer":{"Name":"Inner"}}"#)
        _ = try workspace.output("generate-test", "--output", "DeepTests.swift")
        let source = workspace.read("DeepTests.swift")
        #expect(source.contains(#"["Name"] = .string("Inner")"#))
        #expect(source.contains(#"findProperty("Customer")).setEntityValue(in: "#))
        #expect(try complaints("DeepTests.swift", workspace) == "")
        withExtendedLifetime(server) {}
    }
}
