internal import ArgumentParser
internal import LogInspection
internal import OperationLog

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show the operations in order, and what became of each.",
        discussion: """
            Reads the log only: it needs no lock, and works while another process writes. Where the log is damaged it shows \
            what can be read, and exits with 2. With --follow it goes on with what is appended, until it is interrupted.
            """)

    @Flag(help: "Show every record: downloads, batches, answers.")
    var all = false

    @Flag(help: "Then wait for more, until SIGINT.")
    var follow = false

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let history = try options.history
        if follow { Interruption.prepare() }
        let isSound = try mappingLogErrors { try show(history) }
        if !isSound { throw QuietFailure(status: .damage) }
    }

    /// Whether all could be read.
    private func show(_ history: LogHistory) throws -> Bool {
        var fates = try history.fates()
        let cursor = history.items()
        var isSound = true
        var pause = PollingPause()
        while !Interruption.hasCome {
            guard let item = try cursor.next() else {
                guard follow else { break }
                try Console.flush()
                Interruption.wait(milliseconds: pause.next())
                continue
            }
            pause.end()
            fates.apply(item)
            let text = HistoryText(item, fates: fates)
            if text.isDamage { isSound = false }
            if all || text.isAlwaysShown { try Console.print(format.json ? item.json(fates: fates) : text.line) }
            if text.isEnd { break }
        }
        return isSound
    }
}
