import Operations
import SyncCore

extension UploadReport: CustomStringConvertible {
    /// A summary: a line of counts, and a line for each operation that needs attention, up to ten of each kind.
    public var description: String {
        var counts = ["\(confirmed.count) confirmed", "\(rejected.count) rejected"]
        let further: [(count: Int, name: String)] = [
            (conflicts.count, "in conflict"), (deferred.count, "deferred"), (inDoubt.count, "in doubt"),
            (awaited.reduce(0) { $0 + $1.operations.count }, "awaited"), (elided.count, "cancelled out"),
            (heldBack, "held back"),
        ]
        counts += further.filter { $0.count > 0 }.map { "\($0.count) \($0.name)" }
        var summary = ReportSummary(counts, remaining > 0 ? "\(remaining) remaining" : "nothing remaining")
        summary.add(rejected) { "rejected: operation \($0.operation), \($0.refusal.summary)" }
        summary.add(conflicts) { "in conflict: \($0.name)" }
        summary.add(deferred) { "deferred: operation \($0.operation), \($0.refusal.summary)" }
        summary.add(inDoubt) { "in doubt: operation \($0)" }
        summary.add(awaited) {
            "awaited: operations \($0.operations.map(String.init).joined(separator: ", ")), \($0.reason)"
        }
        summary.add(messages) { "\($0.severity): operation \($0.operation), \($0.text)" }
        if postponed != nil { summary.add("postponed: the next upload waits") }
        return summary.text
    }
}

extension DownloadReport: CustomStringConvertible {
    /// A summary: a line of counts, a line for each query, and a line for each part that could not be stored, up to ten
    /// of each kind.
    public var description: String {
        var summary = ReportSummary(
            ["\(entities) \(entities == 1 ? "entity" : "entities")"], "\(pages) \(pages == 1 ? "page" : "pages")")
        for query in queries { summary.add("\(query.name): \(query.summary)") }
        summary.add(failures) { "\($0.name): failed, \($0.error.message)" }
        summary.add(unusable) { "\($0.name): skipped, \($0.error.message)" }
        summary.add(fresh) { "\($0): skipped, downloaded recently" }
        summary.add(withoutStreams) { "\($0): without streams" }
        summary.add(quarantined) { "in quarantine: \($0)" }
        summary.add(repeated) { "repeated on a page: \($0)" }
        summary.add(unidentifiedRemovals) { "removed, but not identified: \($0)" }
        summary.add(skipped.sorted()) { "not stored: \($0)" }
        summary.add(omittedExpansions.sorted()) { "omitted by the service: \($0)" }
        if !openLinks.isEmpty { summary.add("dangling links: \(openLinks.count)") }
        return summary.text
    }
}

extension DownloadReport.Query {
    /// The mode and the counts that are not 0: `delta, 3 new, 1 removed`.
    fileprivate var summary: String {
        let counts: [(count: Int, name: String)] = [
            (tally.inserted, "new"), (tally.changed, "changed"), (tally.unchanged, "unchanged"),
            (tally.removed, "removed"), (tally.links, "links"),
        ]
        let parts = counts.filter { $0.count > 0 }.map { "\($0.count) \($0.name)" }
        return (["\(mode)"] + (parts.isEmpty ? ["nothing"] : parts)).joined(separator: ", ")
    }
}

extension UndoReport: CustomStringConvertible {
    /// A summary: the undone operations, and those that were added or left with their reasons.
    public var description: String {
        let list = undone.map(String.init).joined(separator: ", ")
        var summary = ReportSummary(["\(undone.count) undone"], list.isEmpty ? "nothing to undo" : "operations \(list)")
        summary.add(dependants) { "also undone: operation \($0.operation), \($0.reason)" }
        summary.add(left) { "left: operation \($0), which is in flight or in doubt" }
        return summary.text
    }
}

extension Refusal {
    fileprivate var summary: String { "\(status) \(message) (\(method) \(url))" }
}

/// The lines of a report.
private struct ReportSummary {
    private var lines: [String]

    /// The maximum number of lines for one list.
    private static let limit = 10

    init(_ counts: [String], _ rest: String) { lines = ["\(counts.joined(separator: ", ")) (\(rest))"] }

    var text: String { lines.joined(separator: "\n") }

    /// Adds a line. Line ends in it, which a text of the service can contain, become blanks.
    mutating func add(_ line: String) {
        lines.append("  " + line.split(whereSeparator: \.isNewline).joined(separator: " "))
    }

    mutating func add<Item>(_ items: [Item], _ line: (Item) -> String) {
        for item in items.prefix(Self.limit) { add(line(item)) }
        if items.count > Self.limit { add("… and \(items.count - Self.limit) more") }
    }
}
