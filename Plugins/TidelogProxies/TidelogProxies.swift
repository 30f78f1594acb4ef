import Foundation
import PackagePlugin

/// A plugin that generates Swift classes from the metadata documents in a target, at each build after a change.
///
/// A document is a file of the target that ends in `.csdl`, `.edmx` or `.metadata.xml`; its classes are written to one
/// source file, which is compiled with the target. A file `tidelog-proxygen.json` next to it contains options.
@main
struct TidelogProxies: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let tool = try context.tool(named: "tidelog-proxygen").url
        let files = target.sourceFiles.map(\.url)
        let documents = files.filter { file in
            Self.endings.contains { file.lastPathComponent.lowercased().hasSuffix($0) }
        }.sorted { $0.path < $1.path }
        var sources: Set<String> = []
        return try documents.map { document in
            let folder = document.deletingLastPathComponent()
            let options = try DocumentOptions(folder: folder, document: document.lastPathComponent)
            let source = Self.sourceName(document.lastPathComponent, besides: &sources)
            // A separate folder for each document, because the generator removes files in its folder.
            let output = context.pluginWorkDirectoryURL.appending(path: source.dropLast(".swift".count))
            return .buildCommand(
                displayName: "Generating classes for \(document.lastPathComponent)",
                executable: tool,
                arguments: [
                    "--metadata", document.path, "--destination", output.path, "--single-file", source,
                ] + options.arguments,
                // Referenced documents and annotations are next to the document, so changes of these files have to
                // start a build too.
                inputFiles: [document]
                    + files.filter { $0 != document && Self.isInput($0, of: folder) }
                    + options.files.filter { !files.contains($0) },
                outputFiles: [output.appending(path: source)])
        }
    }

    private static let endings = [".csdl", ".edmx", ".metadata.xml"]

    private static func isInput(_ file: URL, of folder: URL) -> Bool {
        file.path.hasPrefix(folder.path) && ["csdl", "edmx", "xml", "json"].contains(file.pathExtension.lowercased())
    }

    /// Returns the name of the source, such as `ShopProxies.swift` for `Shop.csdl`. The names of a target's sources
    /// have to be unique regardless of their folders, so the name for a second document contains a number.
    private static func sourceName(_ document: String, besides sources: inout Set<String>) -> String {
        let ending = endings.first { document.lowercased().hasSuffix($0) } ?? ""
        let name = String(document.dropLast(ending.count).map { $0.isLetter || $0.isNumber ? $0 : "_" }) + "Proxies"
        var candidate = name
        var number = 1
        while !sources.insert(candidate.lowercased()).inserted {
            number += 1
            candidate = "\(name)_\(number)"
        }
        return candidate + ".swift"
    }
}
