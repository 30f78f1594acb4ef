internal import ArgumentParser
internal import Tidelog

struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine", abstract: "List downloaded entities that the store could not accept.",
        discussion: """
            For example because a value is invalid, the key is missing, or the entity is too large. The store keeps \
            its version of these entities, accepts all other entities, and the next pull of the query tries again.
            """)

    @OptionGroup var point: PointOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await options.withView(point) { provider in
            let entries = try await provider.quarantine()
            for entry in entries {
                let text = QuarantineText(entry.entity, time: entry.time)
                try Console.print(format.json ? text.json : "\(entry.entity.query): \(text.line)")
            }
            if entries.isEmpty, !format.json { try Console.print("No entities are in quarantine.") }
        }
    }
}
