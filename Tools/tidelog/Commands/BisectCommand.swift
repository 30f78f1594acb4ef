internal import ArgumentParser
import EDM
internal import LogInspection
internal import OfflineStore
internal import Operations

struct BisectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bisect", abstract: "Find the first operation after which a condition is true.",
        discussion: """
            Evaluates the condition at ⌈log2 n⌉+1 places of the log at most. --when is a query: the condition is true \
            if the result contains an entity, is a count above 0, or is neither null nor false. --run is a shell \
            command: the directory TIDELOG_STORE, which also replaces {} in it, contains a copy of the store of that \
            place. The command exits with 0 if the copy is good, with 125 if it cannot be judged, and with another \
            code below 128 if it is bad.

                tidelog bisect --good 8 --when 'Orders?$filter=Amount lt 0'
                tidelog bisect --run 'test $(tidelog query --store {} Orders/$count) -lt 100'

            If the condition changes several times, one of the operations that make it true is found. Exit codes: 0 \
            found, 1 not found or failed, 2 damage, 64 usage.
            """)

    @Option(help: ArgumentHelp("A place where the condition is false; the earliest by default.", valueName: "seq|time"))
    var good: PointArgument?

    @Option(help: ArgumentHelp("A later place where the condition is true; the end by default.", valueName: "seq|time"))
    var bad: PointArgument?

    @Option(help: ArgumentHelp("A query.", valueName: "url"))
    var when: String?

    @Option(help: ArgumentHelp("A command.", valueName: "command"))
    var run: String?

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if (when == nil) == (run == nil) { throw ValidationError("Use either --when or --run.") }
    }

    func run() async throws {
        let store = try options.inspected
        let (good, bad) = (try good?.point ?? store.earliestPlace, bad?.point ?? .sequence(.max))
        let report: BisectReport
        if let run {
            let scratch = try ScratchDirectory()
            defer { scratch.remove() }
            report = try await store.bisect(good: good, bad: bad, scratch: scratch.path) {
                directory throws(TidelogError) in
                defer { ScratchDirectory.remove(directory) }
                return try ShellTest(run).verdict(on: directory)
            }
        } else {
            report = try await store.bisect(good: good, bad: bad, when: StateCondition(when ?? ""))
        }
        let text = BisectText(report)
        for line in format.json ? [text.json] : text.lines { try Console.print(line) }
        guard case .found = report.outcome else { throw ReportedFailure(status: .failed) }
    }
}

/// The result of a bisect, as lines or as JSON.
struct BisectText {
    private let report: BisectReport

    init(_ report: BisectReport) { self.report = report }

    var lines: [String] {
        var lines = report.evaluations.map { "\($0.sequence): \(Self.words($0.verdict))" }
        switch report.outcome {
        case .found(let sequence):
            lines.append("The condition is first true after operation \(sequence).")
            if let entry = report.entry {
                lines.append("\(sequence)  \(entry.timeText ?? "-")  \(oneLine(entry.summary))")
            } else if report.isRestored {
                lines.append("\(sequence)  -  \(ConditionChangeText.restored)")
            }
        case .holdsAlready:
            lines.append("The condition is already true after operation \(report.good), so it is not a good place.")
        case .neverHolds:
            lines.append("The condition is false after operation \(report.bad), so it is not a bad place.")
        case .undecided(let range):
            lines.append(
                "It is one of the operations \(range.lowerBound) to \(range.upperBound), which could not all be judged."
            )
        }
        lines.append("\(counted(report.evaluations.count, "evaluation", "evaluations")) of \(report.limit) at most.")
        return lines
    }

    private static func words(_ verdict: Bisection.Verdict) -> String {
        switch verdict {
        case .holds: "holds"
        case .holdsNot: "is false"
        case .skipped: "skipped"
        }
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        switch report.outcome {
        case .found(let sequence):
            json.member("outcome", "found")
            json.member("sequence", sequence)
            if let time = report.entry?.timeText { json.member("time", time) }
            if let entry = report.entry { json.member("summary", entry.summary) }
            if report.isRestored { json.member("restored", true) }
        case .holdsAlready: json.member("outcome", "holdsAlready")
        case .neverHolds: json.member("outcome", "neverHolds")
        case .undecided(let range):
            json.member("outcome", "undecided")
            json.member("sequence", range.lowerBound)
            json.member("last", range.upperBound)
        }
        json.member("good", report.good)
        json.member("bad", report.bad)
        json.name("evaluations")
        json.beginArray()
        for evaluation in report.evaluations {
            json.beginObject()
            json.member("sequence", evaluation.sequence)
            if evaluation.verdict != .skipped { json.member("holds", evaluation.verdict == .holds) }
            json.endObject()
        }
        json.endArray()
        json.member("limit", report.limit)
        json.endObject()
        return json.text
    }
}
