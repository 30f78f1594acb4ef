internal import ODataWire
internal import Operations
internal import Tidelog

/// The result of a download, as lines or as JSON.
struct DownloadText {
    private let report: DownloadReport
    /// The sections of the configuration file for queries that the store does not have.
    var unknownSections: [String] = []

    init(_ report: DownloadReport) { self.report = report }

    var lines: [String] {
        var lines = [
            "Read \(counted(report.entities, "entity", "entities")) in \(counted(report.pages, "page", "pages"))."
        ]
        let removed = report.queries.reduce(0) { $0 + $1.tally.removed }
        if removed > 0 {
            lines.append("Removed \(counted(removed, "entity", "entities")) that no query brings any more.")
        }
        lines += report.fresh.map {
            "Passed over \($0): it was read a short while ago. 'tidelog pull \($0)' reads it."
        }
        lines += report.skipped.sorted().map {
            "Left out \($0): it leads to no known entity set, or out of the one that the metadata bind it to."
        }
        lines += report.untold.sorted().map {
            "The service left out \($0), which was asked for, of some entities; what the store has of it stays."
        }
        lines += report.unusable.map { "Passed over \($0.name): \($0.error.message)" }
        lines += report.withoutStreams.map {
            "Read \($0) without its streams, which a store that is not on a disk does not keep."
        }
        lines += report.repeated.prefix(Self.listed).map {
            "\(oneLine($0)) came several times on one page; what came last holds."
        }
        lines += quarantined
        if let example = report.openLinks.first {
            let count = report.openLinks.count
            lines.append(
                "\(counted(count, "link waits", "links wait")) for an entity that no query has brought"
                    + (count > 1 ? ", such as " : ": ") + "\(oneLine(example.description)).")
        }
        lines += unknownSections.map {
            "The configuration file has a section for \($0), which is not a defining query of the store."
        }
        return lines
    }

    /// Whether the store could not accept some of the delivered entities.
    var isIncomplete: Bool { !report.quarantined.isEmpty }

    /// The maximum number of items in a list.
    private static let listed = 10

    private var quarantined: [String] {
        guard !report.quarantined.isEmpty else { return [] }
        let count = Int(clamping: report.quarantined.reduce(UInt64(0)) { $0 &+ $1.count })
        let them = count == 1 ? "it" : "them"
        var lines = ["Could not take \(counted(count, "entity", "entities")); what the store has of \(them) stays:"]
        lines += report.quarantined.prefix(Self.listed).map { "  \(QuarantineText($0).line)" }
        if report.quarantined.count > Self.listed { lines.append("  … 'tidelog quarantine' shows all.") }
        if report.quarantined.contains(where: \.hidesOthers) {
            lines.append("Nothing was removed, since it cannot be told which entities these are.")
        }
        return lines
    }

    /// A line for each query that could not be read completely.
    var failures: [String] {
        report.failures.map { "\($0.name): \(ErrorReport($0.error).line ?? $0.error.message)" }
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("entities", report.entities)
        json.member("pages", report.pages)
        Self.write(report.skipped.sorted(), as: "skipped", to: &json)
        json.name("queries")
        json.beginArray()
        for query in report.queries { Self.write(query, to: &json) }
        json.endArray()
        Self.write(report.fresh, as: "fresh", to: &json)
        Self.write(report.unusable.map { ($0.name, $0.error) }, as: "unusable", to: &json)
        Self.write(report.failures.map { ($0.name, $0.error) }, as: "failures", to: &json)
        Self.write(report.withoutStreams, as: "withoutStreams", to: &json)
        Self.write(report.repeated, as: "repeated", to: &json)
        json.name("quarantined")
        json.beginArray()
        for entity in report.quarantined { QuarantineText(entity).write(to: &json) }
        json.endArray()
        if !report.untold.isEmpty { Self.write(report.untold.sorted(), as: "untold", to: &json) }
        if let example = report.openLinks.first {
            json.name("openLinks")
            json.beginObject()
            json.member("count", report.openLinks.count)
            json.member("example", example.description)
            json.endObject()
        }
        Self.write(unknownSections, as: "unknownSections", to: &json)
        json.endObject()
        return json.text
    }

    private static func write(_ texts: [String], as name: String, to json: inout JSONWriter) {
        json.name(name)
        json.beginArray()
        for text in texts { json.string(text) }
        json.endArray()
    }

    private static func write(
        _ errors: [(query: String, error: TidelogError)], as name: String, to json: inout JSONWriter
    ) {
        json.name(name)
        json.beginArray()
        for (query, error) in errors {
            json.beginObject()
            json.member("name", query)
            json.member("message", error.message)
            if let place = error.place { json.member("place", place) }
            if let recovery = error.recovery { json.member("recovery", recovery) }
            json.endObject()
        }
        json.endArray()
    }

    private static func write(_ query: DownloadReport.Query, to json: inout JSONWriter) {
        json.beginObject()
        json.member("name", query.name)
        json.member("mode", "\(query.mode)")
        json.member("pages", query.pages)
        json.member("inserted", query.tally.inserted)
        json.member("changed", query.tally.changed)
        json.member("unchanged", query.tally.unchanged)
        json.member("removed", query.tally.removed)
        json.endObject()
    }
}
