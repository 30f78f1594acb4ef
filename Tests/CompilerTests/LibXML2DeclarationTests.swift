import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// The declarations of libxml2 for SDKs whose headers a package cannot find, compared with the headers of the system.
    @Suite(.enabled(if: SwiftCompiler.modules != nil, "skipped: there is no compiler"), .timeLimit(.minutes(10)))
    struct LibXML2DeclarationTests {
        private let own = ["-Xcc", "-DTIDELOG_DECLARE_LIBXML2"]
        private let root = URL(filePath: #filePath).appending(path: "../../..").standardized

        /// Returns the offsets of the members that the module `EDM` accesses.
        private func layout(_ arguments: [String]) throws -> String {
            let members: [(type: String, names: [String])] = [
                (
                    "xmlSAXHandler",
                    [
                        "internalSubset", "characters", "cdataBlock", "initialized", "startElementNs", "endElementNs",
                        "serror",
                    ]
                ), ("xmlError", ["message", "level", "line", "int2"]), ("xmlParserCtxt", ["input"]),
                ("xmlParserInput", ["base", "cur", "line", "col"]),
            ]
            var lines = ["import CLibXML2", "print(MemoryLayout<xmlSAXHandler>.size)"]
            for (type, names) in members {
                lines += names.map { "print(\"\(type).\($0)\", MemoryLayout<\(type)>.offset(of: \\.\($0)) ?? -1)" }
            }
            let folder = TemporaryDirectory()
            let program = "\(folder.path)/layout"
            let compiled = try SwiftCompiler.run(
                ["-o", program] + arguments + SwiftCompiler.searchPaths,
                [("main.swift", lines.joined(separator: "\n"))])
            guard compiled.status == 0 else { return compiled.output }
            return try SwiftCompiler.run(program, []).output
        }

        @Test func `the layouts equal those of the headers`() throws {
            let system = try layout([])
            #expect(system.contains("xmlParserInput.col"), "\(system)")
            #expect(try layout(own) == system)
        }

        @Test func `the module EDM compiles with the declarations`() throws {
            let folder = root.appending(path: "Sources/EDM").path
            let paths = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
            let files = try paths.sorted().map { path in
                (
                    path.replacing("/", with: "-"),
                    try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
                )
            }
            let result = try SwiftCompiler.run(
                ["-typecheck", "-module-name", "EDM", "-package-name", "tidelog", "-swift-version", "6"]
                    + ["-parse-as-library"] + SwiftUIStub.features + own + SwiftCompiler.searchPaths, files)
            #expect(result.status == 0, "\(result.output)")
        }
    }
#endif
