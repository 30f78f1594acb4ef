import Foundation

/// The compiler that the tests were built with, as far as the search path tells, and the modules that it built.
enum Compiler {
    static let path: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let found = folders.map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        if found == nil { print("skipped: there is no swiftc on the search path") }
        return found
    }()

    /// Where code of the app's module runs that says nothing about it. Xcode's templates choose the main actor.
    enum Isolation: String, CaseIterable {
        case nonisolated
        case mainActor = "MainActor"
    }

    /// What the compiler says against the samples, each as `file:line:column: error: …`; empty where it is content. All
    /// samples but manifests are one module.
    static func complaints(_ samples: [Sample], _ isolation: Isolation = .nonisolated) throws -> [String] {
        let manifests = samples.filter { $0.kind != .statements && $0.kind != .file }
        let others = samples.filter { $0.kind == .statements || $0.kind == .file }
        var complaints = others.isEmpty ? [] : try check(others, moduleOptions(isolation))
        for manifest in manifests { complaints += try check([manifest], manifestOptions) }
        return complaints
    }

    private static func check(_ samples: [Sample], _ options: [String]) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "samples-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var files: [String] = []
        for (number, sample) in samples.enumerated() {
            let file = folder.appending(path: "Sample\(number).swift")
            try Data(sample.source(number: number).utf8).write(to: file)
            files.append(file.path)
        }
        let (status, output) = try run(
            path ?? "/usr/bin/false",
            ["-typecheck", "-whole-module-optimization", "-suppress-warnings", "-diagnostic-style", "llvm"] + options
                + files)
        let errors = output.split(separator: "\n").map(String.init).filter { $0.contains(": error: ") }
        if status == 0 { return [] }
        return errors.isEmpty ? [output + "exit \(status)"] : errors
    }

    // MARK: Options

    /// As an app's own code is compiled that turns on nothing in particular.
    private static func moduleOptions(_ isolation: Isolation) throws -> [String] {
        let maps = try moduleMaps().flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
        let libraries = try run("/usr/bin/env", ["pkg-config", "--cflags", "libxml-2.0", "libzstd", "sqlite3"]).output
        let includes = libraries.split { $0.isWhitespace }.flatMap { ["-Xcc", String($0)] }
        return [
            "-swift-version", "6", "-default-isolation", isolation.rawValue, "-parse-as-library", "-module-name",
            "Samples", "-I", build + "/Modules",
        ] + maps + includes
    }

    private static var manifestOptions: [String] {
        let toolchain = URL(filePath: path ?? "/").resolvingSymlinksInPath().appending(path: "../..").standardized
        return [
            "-swift-version", "6", "-package-description-version", "6.2", "-I",
            toolchain.appending(path: "lib/swift/pm/ManifestAPI").path,
        ]
    }

    /// Where the package was built to.
    private static let build: String = {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        var folder = URL(filePath: bundle).deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.path + "/Modules") {
            folder.deleteLastPathComponent()
        }
        return folder.resolvingSymlinksInPath().path
    }()

    /// The modules of C that the built modules lean on. What the tools of plugins are made of was built a second time, beside
    /// it.
    private static func moduleMaps() throws -> [String] {
        let sources = Article.root.appending(path: "Sources").path
        return try [build, sources].flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasSuffix("-tool.build") }
                .map { "\(folder)/\($0)/module.modulemap" }.filter { FileManager.default.fileExists(atPath: $0) }
        }
    }

    private static func run(_ program: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
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
