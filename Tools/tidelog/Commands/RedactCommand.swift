internal import ArgumentParser
import EDM
internal import LogInspection
internal import OfflineStore
internal import OperationLog

struct RedactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redact",
        abstract: "Create a copy of the store with replaced values, to share without its data.",
        discussion: """
            Replaces everything except names of the model: values by their rank among all values of their type, texts \
            by numbered placeholders. So equality and order are preserved, links and keys stay valid, and the queue is \
            the same. Times of records, states and entity IDs are kept. Annotations and documentation of the metadata, \
            records of later versions and the contents of streams are removed. Filters by a part of a text, and \
            arithmetic, give different results. Needs no lock, and memory for each different value twice.

            Example: tidelog redact -o for-support --keep Orders/Status
            """)

    @Option(name: [.short, .long], help: "The directory of the new store, which must not exist.")
    var output: String
    @Option(
        help: ArgumentHelp(
            "A property whose values are kept, with the properties that must equal it; may be repeated.",
            valueName: "Set/Property"))
    var keep: [String] = []
    @Option(
        help: ArgumentHelp(
            "Also write an export of the redacted log to this file; see 'tidelog export'.", valueName: "file"))
    var jsonl: String?
    @Flag(
        help: """
            Encrypt the copy with the key in TIDELOG_COPY_KEY, in the format of TIDELOG_KEY. It is independent of the \
            key of the store.
            """)
    var encrypt = false
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let store = try options.inspected
        let file = try jsonl.map { try OutputFile($0) }
        let key = encrypt ? try [LogKey].ofCopy() : nil
        if store.isEncrypted, key == nil {
            Console.printError("tidelog: The store is encrypted, but the redacted copy is not.")
        }
        let summary = try StoreRedaction(store, keeping: Set(keep)).write(to: output, key: key) { redacted in
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
            try Console.print("\(counted(summary.records, "record", "records")) in \(output), with replaced values.")
        }
        if summary.isDamaged { throw ReportedFailure(status: .damage) }
    }
}
