internal import ArgumentParser
internal import LogInspection
internal import SyncEngine

struct GenerateTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate-test",
        abstract: "Write a Swift test that makes the same state and expects the same of it.",
        discussion: """
            The test uses the public interface of Tidelog, with a service that stands in for the real one: it gives the \
            metadata and what the service has, then the pending operations are made. It expects that the query's \
            answer shows an entity, is a count above 0, or is neither null nor false, or without --when that each set has as \
            many entities. Values of entities are in it; make the log small with 'minimise' before.

                tidelog generate-test --store small --when 'Orders?$filter=Amount lt 0' --output FaultTests.swift

            Exit codes: 0 done, 1 failed, 2 damage, 64 usage.
            """)

    @Option(help: ArgumentHelp("A query.", valueName: "url"))
    var when: String?

    @Option(help: ArgumentHelp("The file; standard output if none is given.", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("What the suite is called.", valueName: "name"))
    var name = "GeneratedLog"

    @OptionGroup var point: PointOptions
    @OptionGroup var options: StoreOptions

    func run() async throws {
        if let output { try ScratchDirectory.check(isFree: output) }
        let condition = when.map { StateCondition($0) }
        let source = try await options.inspected.testSource(
            condition, at: point.at?.point ?? .sequence(.max), name: name)
        guard let output else { return try Console.write(Array(source.utf8)) }
        try ScratchDirectory.write(source, to: output)
        try Console.print("The test is in \(output).")
    }
}
