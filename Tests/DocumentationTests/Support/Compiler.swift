import Foundation
import TestSupport

/// The errors of the compiler for samples.
enum Compiler {
    static var path: String? { SwiftCompiler.path }

    /// The default isolation of the app's module. Xcode's templates select the main actor.
    enum Isolation: String, CaseIterable {
        case nonisolated
        case mainActor = "MainActor"
    }

    /// Returns the errors for the samples, each as `file:line:column: error: …`. All samples except manifests form one
    /// module.
    static func complaints(_ samples: [Sample], _ isolation: Isolation = .nonisolated) throws -> [String] {
        let manifests = samples.filter { $0.kind != .statements && $0.kind != .file }
        let others = samples.filter { $0.kind == .statements || $0.kind == .file }
        let views = hasSwiftUI ? [] : others.filter(\.needsSwiftUI)
        let usual = views.isEmpty ? others : others.filter { !$0.needsSwiftUI }
        var complaints = usual.isEmpty ? [] : try check(usual, moduleOptions(isolation) + SwiftCompiler.searchPaths)
        if !views.isEmpty {
            let stub = try SwiftUIStub.shared()
            complaints += try check(views, moduleOptions(isolation) + stub.searchPaths)
        }
        for manifest in manifests { complaints += try check([manifest], manifestOptions) }
        return complaints
    }

    /// Returns the errors for the text of a `main.swift` with these samples.
    static func complaints(program samples: [Sample], _ isolation: Isolation = .nonisolated) throws -> [String] {
        let text = samples.map { $0.block.lines.joined(separator: "\n") }.joined(separator: "\n")
        let options = moduleOptions(isolation).filter { $0 != "-parse-as-library" }
        let (status, output) = try SwiftCompiler.run(
            ["-emit-sil", "-o", "/dev/null"] + options + SwiftCompiler.searchPaths, [("main.swift", text)])
        return status == 0 ? [] : [output]
    }

    /// Compiles up to SIL, because only its passes find objects that several tasks share.
    private static func check(_ samples: [Sample], _ options: [String]) throws -> [String] {
        let files = samples.enumerated().map { (name: "Sample\($0).swift", text: $1.source(number: $0)) }
        let (status, output) = try SwiftCompiler.run(
            ["-emit-sil", "-o", "/dev/null", "-suppress-warnings", "-diagnostic-style", "llvm"] + options, files)
        let errors = output.split(separator: "\n").map(String.init).filter { $0.contains(": error: ") }
        if status == 0 { return [] }
        return errors.isEmpty ? [output + "exit \(status)"] : errors
    }

    /// Returns the options for an app that enables no additional features.
    private static func moduleOptions(_ isolation: Isolation) -> [String] {
        [
            "-swift-version", "6", "-default-isolation", isolation.rawValue, "-parse-as-library", "-module-name",
            "Samples",
        ]
    }

    /// Whether the system has SwiftUI; otherwise its samples are compiled with ``SwiftUIStub``.
    private static var hasSwiftUI: Bool {
        #if canImport(SwiftUI)
            true
        #else
            false
        #endif
    }

    private static var manifestOptions: [String] {
        let toolchain = URL(filePath: path ?? "/").resolvingSymlinksInPath().appending(path: "../..").standardized
        return [
            "-swift-version", "6", "-package-description-version", "6.2", "-I",
            toolchain.appending(path: "lib/swift/pm/ManifestAPI").path,
        ]
    }
}
