import ProxyGenerator
import TestSupport

#if os(macOS) || os(Linux)
    /// What the compiler says of generated sources.
    enum Compiler {
        static var path: String? { SwiftCompiler.path }
        static var hasModules: Bool { SwiftCompiler.modules != nil }

        /// What it says against the syntax of the sources; empty where it is content.
        static func complaints(_ files: [GeneratedFile]) throws -> String { try run(["-frontend", "-parse"], files) }

        /// What it says against the sources as a module of their own, warnings included; empty where it is content. All
        /// files go through one run: thousands of them would each be parsed for each other.
        static func typeComplaints(_ files: [GeneratedFile], _ options: String...) throws -> String {
            let features = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault"]
            return try run(
                [
                    "-typecheck", "-wmo", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library",
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
