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

    /// The test targets and suites of a pass, which a variable of the script contains.
    private struct Pass {
        let name: String
        var targets: [String]
        var suites: [String] = []
    }

    /// Returns the passes of the script with an expression for their tests.
    private func passes() throws -> [Pass] {
        let script = try PackageSources.text("Tools/test")
        func names(_ alternatives: Substring) -> [String] { alternatives.split(separator: "|").map(String.init) }
        return script.matches(of: /^ *(\w+)='\^\(?([\w|]+)\)?\\\.(?:\(?([\w|]+)\)?\/)?'$/.anchorsMatchLineEndings()).map
        {
            Pass(name: String($0.1), targets: names($0.2), suites: names($0.3 ?? ""))
        }
    }

    /// Returns the test targets that the first pass skips because of their processes.
    private func skipped() throws -> Set<String> {
        Set(try passes().filter { ["processes", "servers"].contains($0.name) }.flatMap(\.targets))
    }

    @Test func `each target and suite of a pass exists`() throws {
        let passes = try passes()
        #expect(passes.map(\.name) == ["processes", "servers", "nodes", "proofs"])
        let paths = try PackageSources.swiftFiles("Tests")
        for pass in passes {
            #expect(!pass.targets.isEmpty, "\(pass.name)")
            for target in pass.targets {
                let files = paths.filter { $0.hasPrefix("Tests/\(target)/") }
                #expect(!files.isEmpty, "Tools/test, \(pass.name): \(target)")
                let texts = try files.map { try PackageSources.text($0) }
                for suite in pass.suites {
                    #expect(
                        texts.contains { $0.contains("struct \(suite) ") || $0.contains("class \(suite) ") },
                        "Tools/test, \(pass.name): \(target).\(suite)")
                }
            }
        }
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
