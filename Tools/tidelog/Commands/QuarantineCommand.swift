internal import ArgumentParser
internal import Tidelog

struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine", abstract: "List entities that a pull brought and could not take.",
        discussion: """
            A value that its property cannot have, a missing key, more bytes than a record takes: the store keeps what it had \
            of such an entity, the others are taken, and the next pull of the query tries again.
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
            if entries.isEmpty, !format.json { try Console.print("Nothing is in quarantine.") }
        }
    }
}
