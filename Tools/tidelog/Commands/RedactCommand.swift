internal import ArgumentParser
internal import LogInspection
internal import ODataWire
internal import OperationLog
internal import SyncEngine

struct RedactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redact",
        abstract: "Make a store with replaced values, to show somebody who must not see the data.",
        discussion: """
            Whatever is not a name of the model is replaced: values by their rank among all of their sort, texts by numbered \
            placeholders. So what is equal stays equal, what is in order stays in order, links and keys hold, and the queue is \
            the same queue. Times of records, states and entity IDs stay. Annotations and documentation of the metadata, \
            records of later versions and the contents of streams are left out. Filters by a part of a text, and arithmetic, \
            do not survive. Needs no lock, and memory for each different value twice.

            Example: tidelog redact -o for-support --keep Orders/Status
            """)

    @Option(name: [.short, .long], help: "The directory of the new store, which must not exist.")
    var output: String
    @Option(
        help: ArgumentHelp(
            "Values that stay as they are, with what must equal them; may be repeated.", valueName: "Set/Property"))
    var keep: [String] = []
    @Option(help: ArgumentHelp("Write the redacted log also as an export; see 'tidelog export'.", valueName: "file"))
    var jsonl: String?
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let store = try options.inspected
        let file = try jsonl.map { try OutputFile($0) }
        if store.isEncrypted { Console.printError("tidelog: The store is encrypted; the redacted one is not.") }
        let summary = try StoreRedaction(store, keeping: Set(keep)).write(to: output) { redacted in
            guard let file else { return }
            _ = try LogExport(redacted).writeLines { try file.write($0 + "\n") }
            try file.finish()
        }
        if format.json {
            var json = JSONWriter()
            json.beginObject()
            json.member("store", output)
            json.member("records", summary.records)
            json.endObject()
            try Console.print(json.text)
        } else {
            try Console.print("\(counted(summary.records, "record", "records")) in \(output), values replaced.")
        }
        if summary.isDamaged { throw ReportedFailure(status: .damage) }
    }
}
