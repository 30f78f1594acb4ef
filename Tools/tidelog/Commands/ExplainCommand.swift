internal import ArgumentParser
internal import ODataWire
internal import Tidelog

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Show how the store answers a query.",
        discussion: """
            Answers the query and shows what SQLite was asked and how it goes about that: SEARCH goes by an index, SCAN reads \
            everything. Conditions that SQL has no words for are behind tl_test, and decided row by row. No values are shown.
            """)

    @Argument(help: ArgumentHelp("As for 'tidelog query'.", valueName: "url"))
    var url: String

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await options.withStore { provider in
            let explanation = try await provider.explain(url)
            let text = ExplanationText(explanation)
            for line in format.json ? text.json : text.lines { try Console.print(line) }
        }
    }
}
