import ProxyGenerator
import TestSupport

#if os(macOS) || os(Linux)
    /// The messages of the compiler for generated sources.
    enum Compiler {
        static var path: String? { SwiftCompiler.path }
        static var hasModules: Bool { SwiftCompiler.modules != nil }

        /// Returns the syntax errors in the sources, or an empty string.
        static func complaints(_ files: [GeneratedFile]) throws -> String { try run(["-frontend", "-parse"], files) }

        /// Returns the errors and warnings for the sources as a separate module, or an empty string.
        static func typeComplaints(_ files: [GeneratedFile], _ options: String...) throws -> String {
            let features = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault"]
            return try run(
                [
                    "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library",
                    "-module-name", "Generated",
                ] + features.flatMap { ["-enable-upcoming-feature", $0] } + options + SwiftCompiler.searchPaths,
                files)
        }

        private static func run(_ arguments: [String], _ files: [GeneratedFile]) throws -> String {
            let (status, output) = try SwiftCompiler.run(arguments, files.map { ($0.name, $0.text) })
            return status == 0 ? output : output + "exit \(status)"
        }
    }
#endif
