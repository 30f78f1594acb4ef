internal import ArgumentParser
internal import EDM
internal import OfflineStore
internal import Tidelog

struct RefreshMetadataCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh-metadata", abstract: "Read the metadata of the service again, and apply the changes.",
        discussion: """
            Prints the changes. New properties, types, sets and operations are applied; other changes must be \
            approved, otherwise the store keeps its metadata and the command exits with 1.

            Pending operations are kept. Those that do not fit the new metadata are moved to the error archive \
            ('tidelog errors'). The next pull downloads everything.
            """)

    @Flag(help: "Print the changes and their consequences without applying them.")
    var dryRun = false

    @Flag(help: "Approve new members of enumerations.")
    var openEnumerations = false

    @Flag(help: "Approve all changes except removals.")
    var changeAnything = false

    @Flag(help: "Approve all removals.")
    var removeAnything = false

    @Option(
        help: ArgumentHelp("Approve the removal of this element; may be repeated.", valueName: "NS.Type/Property"))
    var removable: [String] = []

    @OptionGroup var access: ServiceAccess
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await access.withStore(options) { provider in
            let refresh =
                dryRun
                ? try await provider.rehearseMetadataRefresh(policy) : try await provider.refreshMetadata(policy)
            try (format.json ? json(refresh) : lines(refresh)).forEach(Console.print)
            if !refresh.incompatible.isEmpty { throw ReportedFailure(status: .failed) }
        }
    }

    private var policy: CompatibilityPolicy {
        CompatibilityPolicy(
            hasOpenEnumerations: openEnumerations, canChangeAnything: changeAnything,
            canRemoveAnything: removeAnything, removable: Set(removable))
    }

    private func lines(_ refresh: MetadataRefresh) -> [String] {
        let defects = DefectText(refresh.defects).lines
        if refresh.difference.isEmpty { return ["The metadata has not changed."] + defects }
        var lines = refresh.difference.changes.map(\.description) + defects
        let incompatible = refresh.incompatible
        if !incompatible.isEmpty {
            lines.append("\(counted(incompatible.count, "change is", "changes are")) not approved:")
            lines += incompatible.map { "  \($0.path): \($0.rule)" }
        }
        for incompatible in refresh.incompatibleOperations {
            lines.append("Operation \(incompatible.operation) does not fit: \(incompatible.refusal.message)")
        }
        for operation in refresh.compatibleAgain { lines.append("Operation \(operation) fits again.") }
        for query in refresh.unusableQueries {
            lines.append("Defining query \(query.name) is skipped: \(query.error.message)")
        }
        return lines
    }

    private func json(_ refresh: MetadataRefresh) -> [String] {
        var json = JSONWriter()
        json.beginObject()
        func list(_ name: String, _ texts: [String]) {
            json.name(name)
            json.beginArray()
            for text in texts { json.string(text) }
            json.endArray()
        }
        list("changes", refresh.difference.changes.map(\.description))
        list("incompatible", refresh.incompatible.map(\.path))
        list("unfit", refresh.incompatibleOperations.map { "\($0.operation): \($0.refusal.message)" })
        list("fitAgain", refresh.compatibleAgain.map(String.init))
        list("unusableQueries", refresh.unusableQueries.map(\.name))
        DefectText(refresh.defects).write(to: &json)
        json.endObject()
        return [json.text]
    }
}
