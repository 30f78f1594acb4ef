package import Foundation

#if os(macOS) || os(Linux)
    /// The compiler of the tests, as found on the search path, and the modules that it built.
    package enum SwiftCompiler {
        /// Path of the compiler. Nil if there is none, which is printed.
        package static let path: String? = {
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            let found = folders.map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }
            if found == nil { print("skipped: there is no swiftc on the search path") }
            return found
        }()

        /// Directory of the modules that these tests were built with; nil without it or without a compiler.
        package static let modules: URL? = {
            guard path != nil else { return nil }
            let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
            var folder = URL(filePath: bundle).deletingLastPathComponent()
            while folder.path != "/" {
                let modules = folder.appending(path: "Modules")
                if FileManager.default.fileExists(atPath: modules.appending(path: "Tidelog.swiftmodule").path) {
                    return modules
                }
                folder.deleteLastPathComponent()
            }
            print("skipped: there is no module Tidelog beside the tests")
            return nil
        }()

        /// Arguments for a compilation against the modules: their location, and the C modules that they refer to.
        package static let searchPaths: [String] = {
            guard let modules else { return [] }
            func contents(_ folder: URL) -> [URL] {
                (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
            }
            let root = URL(filePath: #filePath).appending(path: "../../..").standardized
            var arguments = ["-I", modules.path] + libraries.flatMap { ["-Xcc", $0] }
            let sources = contents(root.appending(path: "Sources"))
            // Modules are in <scratch path>/<triple>/<configuration>/Modules.
            let checkouts = contents(
                modules.resolvingSymlinksInPath().appending(path: "../../../checkouts").standardized
            )
            .flatMap { contents($0.appending(path: "Sources")) }
            for folder in sources + checkouts {
                arguments += ["-Xcc", "-I\(folder.appending(path: "include").path)"]
            }
            // The dependencies of plugins are built a second time, but a module may be defined only once.
            let built = contents(modules.deletingLastPathComponent().resolvingSymlinksInPath())
                .filter { !$0.lastPathComponent.hasSuffix("-tool.build") }
            for folder in built + sources {
                let map = folder.appending(path: "module.modulemap").path
                if FileManager.default.fileExists(atPath: map) { arguments += ["-Xcc", "-fmodule-map-file=\(map)"] }
            }
            return arguments
        }()

        /// Locations of the headers of system libraries.
        private static var libraries: [String] {
            let found = try? run("/usr/bin/env", ["pkg-config", "--cflags", "libxml-2.0", "libzstd", "sqlite3"])
            return found?.output.split { $0.isWhitespace }.map(String.init) ?? []
        }

        /// Compiles sources in a temporary directory.
        ///
        /// All files are compiled in one run, because separate runs would parse each file again for every other file.
        package static func run(
            _ arguments: [String], _ files: [(name: String, text: String)]
        ) throws -> (status: Int32, output: String) {
            let folder = FileManager.default.temporaryDirectory.appending(path: "sources-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            for file in files { try Data(file.text.utf8).write(to: folder.appending(path: file.name)) }
            return try run(
                path ?? "/usr/bin/false", arguments + ["-wmo"] + files.map { folder.appending(path: $0.name).path })
        }

        /// Runs a program, and returns its output with that of its errors.
        package static func run(
            _ program: String, _ arguments: [String]
        ) throws -> (status: Int32, output: String) {
            let process = Process()
            let pipe = Pipe()
            process.executableURL = URL(filePath: program)
            process.arguments = arguments
            process.standardOutput = pipe
            process.standardError = pipe
            try process.run()
            let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: output, as: UTF8.self))
        }
    }
#endif
