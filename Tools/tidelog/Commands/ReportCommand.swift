internal import ArgumentParser
import EDM
internal import LogInspection
internal import OfflineStore
internal import OperationLog

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Write a report of the store as one HTML page that needs no network.",
        discussion: """
            The page contains the operations with their outcomes, a timeline, the history of each entity, batches with \
            their requests, conflicts, the error archive, and the sizes of the log, with a search. It contains the \
            data of the store without encryption. It stays below 5 MB: if necessary, long values and the bodies of \
            requests are cut, with a notice. Needs no lock. If the log is damaged, it shows the readable records and \
            exits with 2.

            Example: tidelog report -o monday.html
            """)

    @Option(name: [.short, .long], help: "The file to write, or '-' for standard output.")
    var output: String
    @Flag(help: "Replace the values like 'tidelog redact'.")
    var redacted = false
    @OptionGroup var point: PointOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        var store = try options.inspected
        var isDamaged = false
        if redacted {
            let made = try StoreRedaction(store).inMemory()
            (store, isDamaged) = (made.store, made.summary.isDamaged)
        } else if store.isEncrypted {
            Console.printError("tidelog: The store is encrypted, but the report is not.")
        }
        let file = try OutputFile(output)
        let page = try await Report(store, at: point.at?.point, isRedacted: redacted, isDamaged: isDamaged).page()
        try file.write(page.html)
        try file.finish()
        if !file.isStandardOutput { try printReport(page, file.byteCount) }
        if page.isDamaged { throw ReportedFailure(status: .damage) }
    }

    private func printReport(_ page: Report.Page, _ bytes: Int) throws {
        guard format.json else {
            try Console.print("\(output): \(bytes) bytes.")
            for notice in page.notices { try Console.print(oneLine(notice)) }
            return
        }
        var json = JSONWriter()
        json.beginObject()
        json.member("file", output)
        json.member("bytes", bytes)
        json.name("notices")
        json.beginArray()
        for notice in page.notices { json.string(notice) }
        json.endArray()
        json.endObject()
        try Console.print(json.text)
    }
}
