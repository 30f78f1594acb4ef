import Foundation
import TestSupport
import Testing

/// The tests that `generate-test` writes compile with the built modules.
@Suite(.timeLimit(.minutes(30))) struct GenerateTestTests {
    private static let checkout = URL(filePath: #filePath).appending(path: "../../..").standardized

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
    }

    /// AX-18: deep inserts in generated tests. All files are compiled in one run, in which only the third one is wrong.
    @Test(
        .enabled(if: SwiftCompiler.modules != nil, "skipped: there is no compiler"),
        arguments: SandboxServer.Version.allCases)
    func `generated tests compile, also those with deep inserts`(_ version: SandboxServer.Version) throws {
        let server = try SandboxServer()
        let workspace = try workspace(server, version)
        let run = try workspace.output("generate-test", "--when", Self.condition, "--output", "LogTests.swift")
        #expect(run == "Wrote the test to LogTests.swift.\n")
        let source = workspace.read("LogTests.swift")
        #expect(source.contains(#"        entity8["Name"] = .string("Neu")"#))
        #expect(source.contains("        try await service.createEntity(entity9)"))
        #expect(source.contains("        try await service.deleteEntity(entity4)"))
        let deepWorkspace = try Workspace.pulled(server, version, queries: ["C=Customers", "O=Orders"])
        _ = try deepWorkspace.output("create", "Orders", #"{"Note":"deep","Customer":{"Name":"Inner"}}"#)
        let deep = try deepWorkspace.output("generate-test", "--name", "Deep")
        #expect(deep.contains(#"["Name"] = .string("Inner")"#))
        #expect(deep.contains(#"findProperty("Customer")).setEntityValue(in: "#))
        let wrong = try workspace.output("generate-test", "--when", Self.condition, "--name", "Wrong")
            .replacing("executeQuery", with: "executeNothing")
        let result = try SwiftCompiler.run(
            ["-typecheck", "-swift-version", "6", "-parse-as-library", "-diagnostic-style", "llvm"]
                + SwiftCompiler.searchPaths,
            [("LogTests.swift", source), ("DeepTests.swift", deep), ("WrongTests.swift", wrong)])
        let errors = result.output.split(separator: "\n").filter { $0.contains(" error: ") }
        #expect(errors.contains { $0.contains("executeNothing") }, "\(result.output)")
        #expect(errors.allSatisfy { $0.contains("WrongTests.swift:") }, "\(result.output)")
    }

    @Test func `a generated test without a condition counts, and a condition on a value requires that value`() throws {
        let workspace = try workspace(try SandboxServer(), .v4)
        let counting = try workspace.output("generate-test", "--name", "Counting")
        #expect(counting.contains("@Suite struct CountingTests {"))
        #expect(counting.contains(#"DataQuery().withURL("Orders/$count")).value == .integer(4))"#))
        let zero = " && value != .integer(0)"
        #expect(!(try workspace.output("generate-test", "--when", "Orders(2)/Quantity").contains(zero)))
        #expect(try workspace.output("generate-test", "--when", "Orders/$count?$filter=Note eq 'x'").contains(zero))
    }

    @Test func `generate-test does not replace a file`() throws {
        let workspace = try workspace(try SandboxServer(), .v4)
        try workspace.write("", to: "LogTests.swift")
        let run = try workspace.tidelog("generate-test", "--output", "LogTests.swift")
        #expect(run.error == "tidelog: LogTests.swift already exists. Choose another name.\n")
    }
}
