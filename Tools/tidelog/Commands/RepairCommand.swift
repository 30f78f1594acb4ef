internal import ArgumentParser
internal import OfflineStore
internal import OperationLog

struct RepairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair", abstract: "List the readable records of a damaged store, and recover them.",
        discussion: """
            Without --output and --in-place it changes nothing: it prints the damage, the readable records and those \
            that are lost, and exits with 2. Every recovered record keeps its number; placeholders replace lost ones.
            """)

    @Option(help: "Create a new store from the readable records in this directory, which must not exist.")
    var output: String?

    @Flag(help: "Replace the damaged log by the repaired one, and keep the damaged one next to it.")
    var inPlace = false

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if inPlace, output != nil { throw ValidationError("Use either --output or --in-place.") }
    }

    func run() throws {
        let repair = StoreRepair(StoreFiles(directory: options.store), keys: try .fromEnvironment())
        let text: RepairText
        if let output {
            text = RepairText(try repair.salvage(to: output).map { .made($0, directory: output) } ?? .nothing)
        } else if inPlace {
            switch try repair.inPlace() {
            case .nothing: text = RepairText(.nothing)
            case .cut(let report): text = RepairText(.cut(report))
            case .salvaged(let salvage, let kept): text = RepairText(.replaced(salvage, kept: kept))
            }
        } else {
            text = RepairText(.plan(try repair.plan()))
        }
        for line in format.json ? [text.json] : text.lines { try Console.print(line) }
        if text.leavesDamage { throw ReportedFailure(status: .damage) }
    }
}
