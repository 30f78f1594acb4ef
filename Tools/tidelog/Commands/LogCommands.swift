internal import ArgumentParser
internal import LogInspection

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show the operations in order, and what became of each.",
        discussion: """
            Reads the log only: it needs no lock, and works while another process writes. Where the log is damaged it shows \
            what can be read, and exits with 2.
            """)

    @Flag(help: "Show every record: downloads, batches, answers.")
    var all = false

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let history = try options.history
        let isSound = try mappingLogErrors {
            let fates = try history.fates()
            let cursor = history.items()
            var isSound = true
            while let item = try cursor.next() {
                let text = HistoryText(item, fates: fates)
                if text.isDamage { isSound = false }
                guard all || text.isOperation || text.isDamage || text.isLoss else { continue }
                try Console.print(format.json ? item.json(fates: fates) : text.line)
            }
            return isSound
        }
        if !isSound { throw QuietFailure(status: .damage) }
    }
}
