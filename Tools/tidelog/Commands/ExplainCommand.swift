internal import ArgumentParser
internal import Tidelog

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Show how the store evaluates a query.",
        discussion: """
            Evaluates the query and prints the SQL statements with their query plans: SEARCH uses an index, SCAN reads \
            the whole table. tl_test stands for conditions that SQL cannot express; they are evaluated row by row. \
            Values are not printed.
            """)

    @Argument(help: ArgumentHelp("The query, as for 'tidelog query'.", valueName: "url"))
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
