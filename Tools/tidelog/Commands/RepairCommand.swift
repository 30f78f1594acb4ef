internal import ArgumentParser
internal import OperationLog
internal import SyncEngine

struct RepairCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair", abstract: "Say what can be saved of a damaged store, and save it.",
        discussion: """
            Without --output and --in-place nothing is changed: it prints what is damaged, which records can be read and which \
            are lost, and exits with 2. Every record that is saved keeps its number; placeholders stand for lost ones.
            """)

    @Option(help: "Make a new store of what can be read in this directory, which must not exist.")
    var output: String?

    @Flag(help: "Put the repaired log in the place of the damaged one, which is kept beside it.")
    var inPlace = false

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if inPlace, output != nil { throw ValidationError("--output and --in-place exclude each other.") }
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
