internal import ArgumentParser
internal import LogInspection
internal import OperationLog

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show the operations in order, and what became of each.",
        discussion: """
            Reads the log only: it needs no lock, and works while another process writes. Where the log is damaged it shows \
            what can be read, and exits with 2. With --follow it goes on with what is appended, until it is interrupted.

            The other options choose what is shown; all that are given have to hold. With --entity, --kind, --batch and \
            --code all records are looked at, as with --all.

              tidelog log --entity "Customers('ALFKI')" --since 2026-11-21T07:00:00
              tidelog log --state rejected --code 409
              tidelog log --graph
            """)

    @Flag(help: "Show every record: downloads, batches, answers.")
    var all = false

    @Flag(help: "Then wait for more, until SIGINT.")
    var follow = false

    @Flag(help: "Show below each operation which earlier ones it needs, and which batches carried it.")
    var graph = false

    @OptionGroup(title: "Filters") var filters: RecordFilterOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let store = try options.inspected
        let filter = try filters.filter(store)
        if follow { Interruption.prepare() }
        let isSound = try mappingLogErrors { try show(store.history, filter) }
        if !isSound { throw ReportedFailure(status: .damage) }
    }

    /// Prints the log. Returns whether everything could be read.
    private func show(_ history: LogHistory, _ filter: RecordFilter) throws -> Bool {
        var filter = filter
        var dependences = OperationDependences()
        var outcomes = try history.outcomes()
        let cursor = history.items()
        var isSound = true
        var pause = PollingBackoff()
        while !Interruption.hasCome {
            guard let item = try cursor.next() else {
                guard follow else { break }
                try Console.flush()
                Interruption.wait(milliseconds: pause.next())
                continue
            }
            pause.end()
            outcomes.apply(item)
            let edges = graph ? dependences.edges(of: item) : []
            let text = HistoryText(item, outcomes: outcomes)
            if text.isDamage { isSound = false }
            let isShown = filter.shows(item, outcomes, of: cursor)
            if isShown, all || filter.asksForFacts || text.isAlwaysShown {
                if format.json {
                    try Console.print(item.json(outcomes: outcomes, dependsOn: graph ? edges : nil))
                } else {
                    try Console.print(text.line)
                    for line in graph ? text.graphLines(edges) : [] { try Console.print(line) }
                }
            }
            if text.isEnd { break }
        }
        return isSound
    }
}
