import Testing

/// The passes of `Tools/test`.
///
/// `Process` of Foundation on Linux may crash in a process with more than about 500 open files
/// (swift-corelibs-foundation, pull request 5472), and the first pass opens more. Therefore, tests that start
/// processes run in other passes.
@Suite struct TestPassTests {
    /// Text in the source of a test that starts a process itself or through `TestSupport`.
    private let signs = [
        "Process()", "SwiftCompiler", "SwiftUIStub", "URLSessionStub", "AppPackage", "ChildProcess", "SandboxServer",
        "GatewayProcess",
    ]

    /// Returns the test targets that the first pass skips.
    private func skipped() throws -> Set<String> {
        let script = try PackageSources.text("Tools/test")
        var names: Set<String> = []
        for match in script.matches(of: /^ *(?:processes|servers)='\^\(?([\w|]+)\)?\\\.'$/.anchorsMatchLineEndings()) {
            names.formUnion(match.1.split(separator: "|").map(String.init))
        }
        return names
    }

    @Test func `tests that start processes are not in the first pass`() throws {
        let skipped = try skipped()
        #expect(skipped.contains("CompilerTests"), "Tools/test: \(skipped)")
        for path in try PackageSources.swiftFiles("Tests") where !path.hasSuffix("/TestPassTests.swift") {
            let target = path.split(separator: "/")[1]
            guard target != "TestSupport", !skipped.contains(String(target)) else { continue }
            let text = try PackageSources.text(path)
            for sign in signs {
                #expect(!text.contains(sign), "\(path) starts a process: add its target to `processes` in Tools/test")
            }
        }
    }
}
