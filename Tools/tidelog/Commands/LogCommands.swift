internal import ArgumentParser
internal import LogInspection
internal import OperationLog

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "List the operations in order, with their outcomes.",
        discussion: """
            Reads only the log: it needs no lock, and works while another process writes. If the log is damaged, it \
            lists the readable records and exits with 2. With --follow it continues with appended records until it is \
            interrupted.

            The other options select records that meet all of them. With --entity, --kind, --batch and \
            --code, all records are considered, as with --all.

              tidelog log --entity "Customers('ALFKI')" --since 2026-11-21T07:00:00
              tidelog log --state rejected --code 409
              tidelog log --graph
            """)

    @Flag(help: "List every record: operations, downloads, batches, responses.")
    var all = false

    @Flag(help: "Continue with appended records, until SIGINT.")
    var follow = false

    @Flag(help: "Show below each operation the earlier operations that it depends on, and its batches.")
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
