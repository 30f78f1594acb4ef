internal import ArgumentParser
import EDM
internal import LogInspection
internal import OfflineStore
internal import Operations

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Find the first operation that changes the value of a condition.",
        discussion: """
            Folds the log and evaluates the query after each operation that may have changed its result. The condition \
            is true if the result contains an entity, is a count above 0, or is neither null nor false. Prints the \
            first operation that changes it, with --all every one, with --reverse the last.

                tidelog watch 'Orders?$filter=Amount lt 0' --from 8
                tidelog watch 'Customers(3)' --reverse --to 2026-11-21T08:00:00Z

            Exit codes: 0 changed, 1 not changed or failure, 2 damage, 64 usage.
            """)

    @Argument(help: ArgumentHelp("A query.", valueName: "url"))
    var condition: String

    @Option(help: ArgumentHelp("Begin after this place; the earliest by default.", valueName: "seq|time"))
    var from: PointArgument?

    @Option(help: ArgumentHelp("End with this place; the end of the log by default.", valueName: "seq|time"))
    var to: PointArgument?

    @Flag(help: "Print the last operation that changes the condition.")
    var reverse = false

    @Flag(help: "Print every operation that changes the condition.")
    var all = false

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if reverse, all { throw ValidationError("Use either --reverse or --all.") }
    }

    func run() async throws {
        let store = try options.inspected
        let (from, to) = (try from?.point ?? store.earliestPlace, to?.point ?? .sequence(.max))
        let condition = StateCondition(condition)
        let (isJSON, shouldContinue) = (format.json, all)
        var flips = 0
        let report: WatchReport
        if reverse {
            let found = try await store.lastFlip(condition, from: from, before: to)
            report = found.report
            if let flip = found.flip {
                flips = 1
                try Console.print(isJSON ? ConditionChangeText(flip).json : ConditionChangeText(flip).line)
            }
        } else {
            var failure: (any Error)?
            report = try await store.watch(condition, from: from, through: to) { flip in
                flips += 1
                do {
                    try Console.print(isJSON ? ConditionChangeText(flip).json : ConditionChangeText(flip).line)
                } catch let error {
                    failure = error
                }
                return shouldContinue && failure == nil
            }
            if let failure { throw failure }
        }
        if !isJSON { for line in summary(report, flips) { try Console.print(line) } }
        if flips == 0 { throw ReportedFailure(status: .failed) }
    }

    private func summary(_ report: WatchReport, _ flips: Int) -> [String] {
        let work =
            "\(counted(report.records, "operation", "operations")) folded, \(counted(report.evaluations, "evaluation", "evaluations"))."
        guard flips == 0 else { return [work] }
        let word = report.holds ? "holds" : "is false"
        return [
            "The condition \(word) after operation \(report.first) and does not change up to operation \(report.last).",
            work,
        ]
    }
}

/// An operation at which a condition changes.
struct ConditionChangeText {
    private let flip: ConditionChange

    init(_ flip: ConditionChange) { self.flip = flip }

    var line: String {
        let what = flip.holds ? "becomes true" : "becomes false"
        let entry = flip.entry
        let record = oneLine(entry?.summary ?? (flip.isRestored ? Self.restored : "a record that cannot be read"))
        return "\(flip.sequence)  \(entry?.timeText ?? "-")  \(what)  \(record)"
    }

    /// The text for a change that is shown by the snapshot after lost records, and not by a record.
    static let restored = "according to the snapshot after it; records before it are lost"

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("sequence", flip.sequence)
        if let time = flip.entry?.timeText { json.member("time", time) }
        json.member("holds", flip.holds)
        if let entry = flip.entry { json.member("summary", entry.summary) }
        if flip.isRestored { json.member("restored", true) }
        json.endObject()
        return json.text
    }
}
