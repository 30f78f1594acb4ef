import Foundation

#if os(macOS) || os(Linux)
    /// A package of an app in a temporary directory, which depends on this checkout.
    package struct AppPackage {
        private let directory = TemporaryDirectory()
        private let swift: String

        /// The text of the manifest in the README.
        package static func readmeManifest() throws -> String {
            let text = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
            guard let start = text.range(of: "```swift\n// swift-tools-version"),
                let end = text[start.upperBound...].range(of: "\n```")
            else { throw CocoaError(.fileReadCorruptFile) }
            return "// swift-tools-version" + text[start.upperBound..<end.lowerBound]
        }

        private static let root = URL(filePath: #filePath).appending(path: "../../..").standardized

        /// Creates the package. In `manifest`, the path of the dependency is replaced by that of this checkout.
        ///
        /// Returns nil if there is no compiler, which is printed.
        package init?(_ manifest: String) throws {
            guard let compiler = SwiftCompiler.path else { return nil }
            swift = URL(filePath: compiler).deletingLastPathComponent().appending(path: "swift").path
            let text = manifest.replacing("\"../tidelog\"", with: "\"\(Self.root.path)\"")
            try Data(text.utf8).write(to: URL(filePath: "\(directory.path)/Package.swift"))
            let sources = "\(directory.path)/Sources/Shopping"
            try FileManager.default.createDirectory(atPath: sources, withIntermediateDirectories: true)
            try Data("print(1)\n".utf8).write(to: URL(filePath: "\(sources)/main.swift"))
        }

        /// Makes the package manager use a local package, with one empty module, instead of the one at `url`.
        package func replace(_ url: String, by product: String, version: String) throws {
            // The name of the folder is the identity of the package.
            let folder = "\(directory.path)/\(url.split(separator: "/").last ?? "")"
            try FileManager.default.createDirectory(
                atPath: "\(folder)/Sources/\(product)", withIntermediateDirectories: true)
            let manifest = """
                // swift-tools-version: 5.9
                import PackageDescription
                let package = Package(
                    name: "replacement", products: [.library(name: "\(product)", targets: ["\(product)"])],
                    targets: [.target(name: "\(product)")])

                """
            try Data(manifest.utf8).write(to: URL(filePath: "\(folder)/Package.swift"))
            try Data().write(to: URL(filePath: "\(folder)/Sources/\(product)/Empty.swift"))
            for command in [
                ["init", "--quiet"], ["add", "--all"],
                ["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "Empty"],
                ["tag", version],
            ] {
                _ = try output("/usr/bin/env", ["git", "-C", folder] + command)
            }
            _ = try output(
                swift,
                ["package", "--package-path", directory.path, "config", "set-mirror"]
                    + ["--original", url, "--mirror", "file://\(folder)"])
        }

        /// Resolves the dependencies. Returns their identities without that of this checkout, sorted.
        package func resolvedPackages() throws -> [String] {
            _ = try output(swift, ["package", "--package-path", directory.path, "resolve"])
            struct Pins: Decodable {
                struct Pin: Decodable { var identity: String }
                var pins: [Pin]
            }
            let pins = try Data(contentsOf: URL(filePath: "\(directory.path)/Package.resolved"))
            return try JSONDecoder().decode(Pins.self, from: pins).pins.map(\.identity).sorted()
        }

        /// The output of a command that fails, as an error.
        package struct CommandError: Error, CustomStringConvertible {
            package let description: String
        }

        private func output(_ program: String, _ arguments: [String]) throws -> String {
            let process = Process()
            let pipe = Pipe()
            process.executableURL = URL(filePath: program)
            process.arguments = arguments
            // The variables that select a part of this package are not those of an app.
            process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TIDELOG_") }
            process.standardOutput = pipe
            process.standardError = pipe
            try process.run()
            let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            let text = String(decoding: bytes, as: UTF8.self)
            if process.terminationStatus != 0 {
                throw CommandError(description: "\(program) \(arguments.joined(separator: " ")): \(text)")
            }
            return text
        }
    }
#endif
