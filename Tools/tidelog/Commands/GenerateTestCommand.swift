internal import ArgumentParser
internal import LogInspection
internal import OfflineStore

struct GenerateTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate-test",
        abstract: "Write a Swift test that creates the same state and checks it.",
        discussion: """
            The test uses the public API of Tidelog with a stand-in for the service, which returns the metadata and \
            the entities of the service; then the test performs the pending operations. It expects that the query \
            returns an entity, a count above 0, or a value other than null and false, or without --when that each set \
            has as many entities as the store. It contains values of entities; reduce the log with 'minimise' first.

                tidelog generate-test --store small --when 'Orders?$filter=Amount lt 0' --output FaultTests.swift

            Exit codes: 0 success, 1 failure, 2 damage, 64 usage.
            """)

    @Option(help: ArgumentHelp("A query.", valueName: "url"))
    var when: String?

    @Option(help: ArgumentHelp("The file to write; standard output by default.", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("The name of the suite.", valueName: "name"))
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
        try Console.print("Wrote the test to \(output).")
    }
}
