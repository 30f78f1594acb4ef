internal import ArgumentParser
internal import LogInspection
internal import ODataWire
internal import OperationLog
internal import SyncEngine

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Write the store as one page of HTML, to be read without a network.",
        discussion: """
            The page has the operations and what became of them, a timeline, the history of each entity, batches with their \
            requests, conflicts, the error archive, and where the log's bytes are; all of it can be searched. It holds the data \
            of the store in the clear. It stays below 5 MB: where that is short, long values and the bodies of requests are \
            cut, and the page says so. Needs no lock. Where the log is damaged it shows what can be read, and exits with 2.

            Example: tidelog report -o monday.html
            """)

    @Option(name: [.short, .long], help: "The file to write; '-' is standard output.")
    var output: String
    @Flag(help: "Replace the values, as 'tidelog redact' does.")
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
            Console.printError("tidelog: The store is encrypted; the report holds its data in the clear.")
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
