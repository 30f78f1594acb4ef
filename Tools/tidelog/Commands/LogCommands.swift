internal import ArgumentParser
internal import LogInspection
internal import OperationLog
internal import SyncEngine

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
        let history = try LogHistory(logDirectory: options.logDirectory, keys: .fromEnvironment())
        let isSound = try mappingLogErrors {
            let fates = try history.fates()
            let cursor = history.items()
            var isSound = true
            while let item = try cursor.next() {
                let text = HistoryText(item, fates: fates)
                if text.isDamage { isSound = false }
                guard all || text.isOperation || text.isDamage else { continue }
                try Console.print(format.json ? item.json(fates: fates) : text.line)
            }
            return isSound
        }
        if !isSound { throw QuietFailure(status: .damage) }
    }
}

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read every byte of the log and check it. Changes nothing.",
        discussion: "Needs no lock. Exits with 2 where something is damaged.")

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let directory = options.logDirectory
        let keys = try [LogKey].fromEnvironment()
        let verification = try mappingLogErrors { try LogVerification.verify(directory: directory, keys: keys) }
        let text = VerificationText(verification)
        for line in format.json ? [text.json] : text.lines { try Console.print(line) }
        if !verification.isSound { throw QuietFailure(status: .damage) }
    }
}

extension StoreOptions {
    /// Where the log is. The commands that only look at it open no store.
    fileprivate var logDirectory: String {
        StoreFiles(directory: store).log
    }
}

/// Errors of the log in their public form.
private func mappingLogErrors<T>(_ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as LogError {
        throw TidelogError(error)
    }
}
