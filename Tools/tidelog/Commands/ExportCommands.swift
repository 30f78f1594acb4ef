internal import ArgumentParser
import EDM
internal import LogInspection
internal import OfflineStore
internal import OperationLog

struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export the log as JSON Lines, as CSV, or as a trace for Perfetto.",
        discussion: """
            jsonl contains every record with its bytes, and 'tidelog import' creates the same store from it; csv has a \
            row for each record, and cells that a spreadsheet would read as a formula begin with an apostrophe; trace \
            opens in Perfetto (ui.perfetto.dev), with a track for each entity set and each batch. Reads the log only; \
            needs no lock. The contents of streams are not exported. If the log is damaged, it exports the readable \
            records and exits with 2.

            Example: tidelog export -o monday.jsonl
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case jsonl, csv, trace
    }

    @Option(help: "The format: jsonl, csv or trace.")
    var format = Format.jsonl
    @Option(
        help: ArgumentHelp("Begin with this operation, or after this time.", valueName: "seq|time"))
    var from: PointArgument?
    @Option(help: ArgumentHelp("End with this operation, or at this time.", valueName: "seq|time"))
    var to: PointArgument?
    @Option(name: [.short, .long], help: "The file to write; standard output by default.")
    var output: String?
    @Flag(help: "With --output: print the file and its size as JSON.")
    var json = false
    @OptionGroup var options: StoreOptions

    func run() throws {
        let store = try options.inspected
        let range = ExportRange(from: from?.point, to: to?.point)
        if store.isEncrypted {
            Console.printError("tidelog: The store is encrypted, but the export is not.")
        }
        let file = try OutputFile(output)
        let isSound: Bool
        switch format {
        case .jsonl:
            let summary = try LogExport(store, range: range).writeLines { try file.write($0 + "\n") }
            if !summary.isComplete {
                Console.printError(
                    "tidelog: The export does not contain the beginning of the log, so it cannot be imported.")
            } else if summary.missingStreams > 0 {
                Console.printError(
                    "tidelog: The export does not contain the contents of streams; "
                        + "\(Self.streams(summary.missingStreams)) that the service does not have.")
            }
            isSound = !summary.isDamaged
        case .csv: isSound = try CSVExport(store, range: range).writeRows { try file.write($0) }
        case .trace: isSound = try TraceExport(store, range: range).write { try file.write($0) }
        }
        try file.finish()
        if json, let output, !file.isStandardOutput {
            var json = JSONWriter()
            json.beginObject()
            json.member("file", output)
            json.member("bytes", file.byteCount)
            json.endObject()
            try Console.print(json.text)
        }
        guard isSound else {
            Console.printError("tidelog: The log is damaged; the readable records were exported.")
            throw ReportedFailure(status: .damage)
        }
    }

    /// Returns text such as `2 operations write one`.
    static func streams(_ count: Int) -> String {
        counted(count, "operation writes one", "operations write one")
    }
}

struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Create a store from an export.",
        discussion: """
            The new store has the same records with the same numbers, and so the same state. It is created after the \
            export was read completely; if a line is invalid, the error names the line and no store is created. With \
            TIDELOG_KEY the new store is encrypted.

            Example: tidelog import monday.jsonl --store copy
            """)

    @Argument(help: "The export in the format jsonl, or '-' for standard input.")
    var file: String
    @Option(help: "The directory of the new store, which must not exist.")
    var store: String
    @OptionGroup var format: FormatOptions

    func run() throws {
        var reader = try LineReader(path: file)
        let target = try LogImport(to: store, keys: try .fromEnvironment())
        while let line = try reader.next() { try target.add(line: line) }
        let summary = try target.finish()
        if summary.missingStreams > 0 {
            Console.printError(
                "tidelog: An export does not contain the contents of streams; "
                    + "\(ExportCommand.streams(summary.missingStreams)) that the service does not have. Copy the files from "
                    + "'streams' in the exported store to \(store)/streams, or write them again before the next push.")
        }
        guard format.json else {
            return try Console.print(
                "\(counted(summary.records, "record", "records")) in \(store), the last one \(summary.lastSequence).")
        }
        var json = JSONWriter()
        json.beginObject()
        json.member("store", store)
        json.member("records", summary.records)
        json.member("lastSequence", summary.lastSequence)
        if summary.missingStreams > 0 { json.member("missingStreams", summary.missingStreams) }
        json.endObject()
        try Console.print(json.text)
    }
}
