internal import ArgumentParser
import EDM
internal import LogInspection
internal import OfflineStore

struct MinimiseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "minimise", abstract: "Create a smaller store that still fails.",
        discussion: """
            Removes records, then downloaded entities, then properties, as many as possible while the failure remains. \
            The failure is a condition as for 'bisect': a query whose result is not empty, or a command. Records get \
            new numbers; entities keep their IDs. All commands work on the new store.

                tidelog minimise --when 'Orders?$filter=Amount lt 0' --output small

            Exit codes: 0 success, 1 failure, 2 damage, 64 usage.
            """)

    @Option(help: ArgumentHelp("A query.", valueName: "url"))
    var when: String?

    @Option(help: ArgumentHelp("A command.", valueName: "command"))
    var run: String?

    @Option(help: ArgumentHelp("The directory of the new store.", valueName: "directory"))
    var output: String

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if (when == nil) == (run == nil) { throw ValidationError("Use either --when or --run.") }
    }

    func run() async throws {
        try ScratchDirectory.check(isFree: output)
        TemporaryFiles.add(output)
        defer { TemporaryFiles.unregister(output) }
        let store = try options.inspected
        let report: MinimiseReport
        defer { if Console.isWatched { Console.writeError("\r\u{1B}[K") } }
        let progress = { (progress: MinimiseProgress) in
            guard Console.isWatched else { return }
            Console.writeError(
                "\r\u{1B}[K\(progress.left) \(progress.of.rawValue) left after \(progress.trials) trials …")
        }
        if let run {
            let scratch = try ScratchDirectory()
            defer { scratch.remove() }
            let test = FailureTest.judge(scratch: scratch.path) { directory throws(TidelogError) in
                defer { ScratchDirectory.remove(directory) }
                return try ShellTest(run).verdict(on: directory)
            }
            report = try await store.minimised(test, to: output, progress: progress)
        } else {
            report = try await store.minimised(.condition(StateCondition(when ?? "")), to: output, progress: progress)
        }
        if format.json {
            var json = JSONWriter()
            json.beginObject()
            json.member("output", output)
            json.member("recordsBefore", report.recordsBefore)
            json.member("recordsAfter", report.recordsAfter)
            json.member("operationsAfter", report.operationsAfter)
            json.member("trials", report.trials)
            json.numbers("kept", report.kept)
            json.endObject()
            return try Console.print(json.text)
        }
        try Console.print(
            "\(counted(report.recordsAfter, "record", "records")) of \(report.recordsBefore) left, "
                + "\(counted(report.operationsAfter, "operation", "operations")) among them, "
                + "after \(counted(report.trials, "trial", "trials")).")
        try Console.print("The new store is in \(output).")
    }
}
