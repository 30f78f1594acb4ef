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
            lines.append("Removed \(counted(removed, "entity", "entities")) that no query covers any more.")
        }
        lines += report.fresh.map {
            "Skipped \($0): it was downloaded recently. Run 'tidelog pull \($0)' to download it."
        }
        lines += report.skipped.sorted().map {
            "Omitted \($0): its target is not in the entity set to which the metadata binds it, or in no known entity set, or it is a property of a complex value."
        }
        lines += report.omittedExpansions.sorted().map {
            "The service omitted the requested property \($0) of some entities; the stored values remain."
        }
        lines += report.unusable.map { "Skipped \($0.name): \($0.error.message)" }
        lines += report.withoutStreams.map {
            "Read \($0) without its streams, which a store in memory does not store."
        }
        lines += report.repeated.prefix(Self.listed).map {
            "\(oneLine($0)) occurred several times on one page; the last occurrence is stored."
        }
        lines += report.unidentifiedRemovals.prefix(Self.listed).map {
            "The service removed \(oneLine($0)), which cannot be identified; the next download of its query is a full one."
        }
        lines += quarantined
        if let example = report.openLinks.first {
            let count = report.openLinks.count
            lines.append(
                "\(counted(count, "link waits", "links wait")) for an entity that no query has delivered"
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
        var lines = ["Could not accept \(counted(count, "entity", "entities")); the stored version of \(them) remains:"]
        lines += report.quarantined.prefix(Self.listed).map { "  \(QuarantineText($0).line)" }
        if report.quarantined.count > Self.listed { lines.append("  … Run 'tidelog quarantine' to list all.") }
        if report.quarantined.contains(where: \.hidesOthers) {
            lines.append("No entity was removed, because these entities cannot be identified.")
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
        if !report.omittedExpansions.isEmpty { Self.write(report.omittedExpansions.sorted(), as: "untold", to: &json) }
        if !report.unidentifiedRemovals.isEmpty {
            Self.write(report.unidentifiedRemovals, as: "unidentifiedRemovals", to: &json)
        }
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
