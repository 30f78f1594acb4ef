internal import ArgumentParser
internal import EDM
internal import Tidelog

struct MetadataCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metadata", abstract: "Print the content of a metadata document.",
        discussion: """
            Reads CSDL of OData 2, 3, 4 and 4.01, in XML or JSON. A URL may be the service root or the document \
            itself. Elements that cannot be used are listed at the end, with the reason and the place.
            """)

    @Argument(help: ArgumentHelp("A file, a URL, or - for standard input.", valueName: "file|url")) var source: String
    @OptionGroup var format: FormatOptions

    func run() async throws {
        let text = ModelText(try await model())
        for line in format.json ? [text.json] : text.lines { try Console.print(line) }
    }

    private func model() async throws -> EntityDataModel {
        if source.hasPrefix("http://") || source.hasPrefix("https://") {
            return try await ServiceMetadata.read(
                from: source, credentials: try EnvironmentCredentials().credentials(typed: source))
        }
        var reader = try LineReader(path: source)
        let name = reader.name
        let bytes = try reader.rest()
        do throws(CSDLError) {
            return try CSDLReader.read(bytes)
        } catch {
            throw CommandFailure("\(name), line \(error.line), column \(error.column): \(error.message)")
        }
    }
}
