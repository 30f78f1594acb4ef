import Foundation
import TestSupport

/// What the compiler says of samples.
enum Compiler {
    static var path: String? { SwiftCompiler.path }

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

    /// Compiles up to SIL, because only its passes find objects that several tasks share.
    private static func check(_ samples: [Sample], _ options: [String]) throws -> [String] {
        let files = samples.enumerated().map { (name: "Sample\($0).swift", text: $1.source(number: $0)) }
        let (status, output) = try SwiftCompiler.run(
            [
                "-emit-sil", "-o", "/dev/null", "-whole-module-optimization", "-suppress-warnings",
                "-diagnostic-style", "llvm",
            ] + options,
            files)
        let errors = output.split(separator: "\n").map(String.init).filter { $0.contains(": error: ") }
        if status == 0 { return [] }
        return errors.isEmpty ? [output + "exit \(status)"] : errors
    }

    /// As an app's own code is compiled that turns on nothing in particular.
    private static func moduleOptions(_ isolation: Isolation) -> [String] {
        [
            "-swift-version", "6", "-default-isolation", isolation.rawValue, "-parse-as-library", "-module-name",
            "Samples",
        ] + SwiftCompiler.searchPaths
    }

    private static var manifestOptions: [String] {
        let toolchain = URL(filePath: path ?? "/").resolvingSymlinksInPath().appending(path: "../..").standardized
        return [
            "-swift-version", "6", "-package-description-version", "6.2", "-I",
            toolchain.appending(path: "lib/swift/pm/ManifestAPI").path,
        ]
    }
}
