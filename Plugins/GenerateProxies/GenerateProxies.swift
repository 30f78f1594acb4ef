import Foundation
import PackagePlugin

/// The command `swift package generate-odata-proxies [--target NAME] OPTIONS`, which runs the generator with these
/// options. With a target, the sources are written to its folder `Proxies`, unless the options name a destination.
@main
struct GenerateProxies: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        var options = extractor.remainingArguments
        guard names.count < 2 else { throw CommandError(description: "Name exactly one --target.") }
        if let name = names.first {
            guard let target = try context.package.targets(named: [name]).first as? any SourceModuleTarget else {
                throw CommandError(description: "The target \(name) has no sources.")
            }
            if !options.contains(where: { $0 == "-d" || $0.hasPrefix("--destination") }) {
                options += ["--destination", target.directoryURL.appending(path: "Proxies").path]
            }
        }
        let process = Process()
        process.executableURL = try context.tool(named: "tidelog-proxygen").url
        process.arguments = options
        process.currentDirectoryURL = context.package.directoryURL
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CommandError(description: "Nothing was generated.")
        }
    }
}

struct CommandError: Error, CustomStringConvertible {
    let description: String
}
