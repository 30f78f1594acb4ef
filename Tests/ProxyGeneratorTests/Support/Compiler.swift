import Foundation
import ProxyGenerator

/// The compiler that the tests were built with, as far as the search path tells.
enum Compiler {
    static let path: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let found = folders.map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        if found == nil { print("skipped: there is no swiftc on the search path") }
        return found
    }()

    /// The folder of the modules that these tests were built with; nil without it, or without a compiler.
    static let modules: URL? = {
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

    /// What the compiler says against the syntax of the sources; empty where it is content.
    static func complaints(_ files: [GeneratedFile]) throws -> String { try run(["-frontend", "-parse"], files) }

    /// What the compiler says against the sources as a module of their own, warnings included; empty where it is content.
    /// All files go through one run: thousands of them would each be parsed for each other.
    static func typeComplaints(_ files: [GeneratedFile], _ options: String...) throws -> String {
        let features = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault"]
        return try run(
            [
                "-typecheck", "-wmo", "-swift-version", "6", "-warnings-as-errors", "-parse-as-library", "-module-name",
                "Generated",
            ]
                + features.flatMap { ["-enable-upcoming-feature", $0] } + options + searchPaths, files)
    }

    /// Where the modules are, and the C modules that they refer to.
    private static let searchPaths: [String] = {
        guard let modules else { return [] }
        func contents(_ folder: URL) -> [URL] {
            (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        }
        var arguments = ["-I", modules.path, "-Xcc", "-I/usr/include/libxml2"]
        let sources = contents(Checkout.root.appending(path: "Sources"))
        let checkouts = contents(Checkout.root.appending(path: ".build/checkouts"))
            .flatMap { contents($0.appending(path: "Sources")) }
        for folder in sources + checkouts {
            arguments += ["-Xcc", "-I\(folder.appending(path: "include").path)"]
        }
        // What plugins need is built a second time, and one module may be defined once.
        let built = contents(modules.deletingLastPathComponent().resolvingSymlinksInPath())
            .filter { !$0.lastPathComponent.hasSuffix("-tool.build") }
        for folder in built + sources {
            let map = folder.appending(path: "module.modulemap").path
            if FileManager.default.fileExists(atPath: map) { arguments += ["-Xcc", "-fmodule-map-file=\(map)"] }
        }
        return arguments
    }()

    private static func run(_ arguments: [String], _ files: [GeneratedFile]) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "proxies-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for file in files { try Data(file.text.utf8).write(to: folder.appending(path: file.name)) }
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: path ?? "/usr/bin/false")
        process.arguments = arguments + files.map { folder.appending(path: $0.name).path }
        process.standardError = pipe
        process.standardOutput = pipe
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: output, as: UTF8.self)
        return process.terminationStatus == 0 ? text : text + "exit \(process.terminationStatus)"
    }
}
