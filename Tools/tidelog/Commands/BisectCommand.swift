internal import ArgumentParser
internal import LogInspection
internal import ODataWire
internal import Operations
internal import SyncEngine

struct BisectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bisect", abstract: "Find the first operation after which something holds.",
        discussion: """
            Looks at the store as it was at ⌈log2 n⌉+1 places at most. --when takes a query: it holds where the answer \
            shows an entity, is a count above 0, or is neither null nor false. --run takes a command for the shell: it finds \
            a copy of the store as it was in the directory TIDELOG_STORE, which stands for {} as well, and exits with 0 \
            where all is well, with 125 where it cannot tell, with another code below 128 where it is not.

                tidelog bisect --good 8 --when 'Orders?$filter=Amount lt 0'
                tidelog bisect --run 'test $(tidelog query --store {} Orders/$count) -lt 100'

            Where it changes back and forth, one of the operations is found that begin it. Exit codes: 0 found, 1 not found \
            or failed, 2 damage, 64 usage.
            """)

    @Option(help: ArgumentHelp("A place where it does not hold; the earliest if none is given.", valueName: "seq|time"))
    var good: PointArgument?

    @Option(help: ArgumentHelp("A later place where it holds; the end if none is given.", valueName: "seq|time"))
    var bad: PointArgument?

    @Option(help: ArgumentHelp("A query.", valueName: "url"))
    var when: String?

    @Option(help: ArgumentHelp("A command.", valueName: "command"))
    var run: String?

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if (when == nil) == (run == nil) { throw ValidationError("Give either --when or --run.") }
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
            lines.append("It holds first behind operation \(sequence).")
            if let entry = report.entry {
                lines.append("\(sequence)  \(entry.timeText ?? "-")  \(oneLine(entry.summary))")
            } else if report.isRestored {
                lines.append("\(sequence)  -  \(ConditionChangeText.restored)")
            }
        case .holdsAlready: lines.append("It holds behind operation \(report.good) already, so that is not a good place.")
        case .neverHolds: lines.append("It does not hold behind operation \(report.bad), so that is not a bad place.")
        case .undecided(let range):
            lines.append(
                "It is one of the operations \(range.lowerBound) to \(range.upperBound); the others cannot be told apart."
            )
        }
        lines.append("\(counted(report.evaluations.count, "evaluation", "evaluations")) of \(report.limit) at most.")
        return lines
    }

    private static func words(_ verdict: Bisection.Verdict) -> String {
        switch verdict {
        case .holds: "holds"
        case .holdsNot: "does not hold"
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
