internal import ArgumentParser
internal import SyncEngine
internal import Tidelog

struct UndoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take operations back that the service does not have.",
        discussion: """
            Operations that could not have been made without them go as well, and so does the rest of a change set; each \
            is printed with the reason. redo puts them back.
            """)

    @Argument(help: ArgumentHelp("The numbers of operations.", valueName: "operation")) var operations: [UInt64] = []
    @Option(
        help: ArgumentHelp(
            "What was done to an entity, a readLink or editLink; may be repeated.", valueName: "REF"))
    var entity: [String] = []
    @Flag(help: "Everything that the service does not have.")
    var all = false
    @Flag(help: "Change nothing, and print what would be undone.")
    var dryRun = false
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        guard [!operations.isEmpty, !entity.isEmpty, all].count(where: { $0 }) == 1 else {
            throw ValidationError("Name operations, or entities with --entity, or --all: one of these.")
        }
    }

    private var target: UndoTarget {
        if all { return .everything }
        return operations.isEmpty ? .entities(entity.map { .link($0) }) : .operations(operations)
    }

    func run() async throws {
        try await options.withStore { provider in
            let report = dryRun ? try await provider.rehearseUndo(target) : try await provider.undo(target)
            let pending = try await provider.operationStatus()
            let known = dryRun ? pending : try await provider.undoneOperations()
            let reasons = Dictionary(uniqueKeysWithValues: report.dependants.map { ($0.operation, $0.reason) })
            for operation in known where report.undone.contains(operation.sequence) {
                try Console.print(UndoText(operation, because: reasons[operation.sequence]).line(json: format.json))
            }
            for operation in pending where report.left.contains(operation.sequence) {
                Console.printError(
                    "tidelog: Operation \(operation.sequence) stays: it was sent, and how it ended is not known yet.")
            }
            if !format.json { try Console.print(UndoText.summary(report, isDryRun: dryRun)) }
        }
    }
}

struct RedoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Put undone operations back at their old places.",
        discussion: "Where that does not go together with what was done since, nothing is redone.")

    @Argument(help: ArgumentHelp("The numbers of undone operations.", valueName: "operation"))
    var operations: [UInt64] = []
    @Flag(help: "What the last undo took back.")
    var last = false
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        guard operations.isEmpty == last else { throw ValidationError("Name operations, or --last.") }
    }

    func run() async throws {
        try await options.withStore { provider in
            let redone = last ? try await provider.redoLastUndo() : try await provider.redo(operations)
            for operation in try await provider.operationStatus() where redone.contains(operation.sequence) {
                try Console.print(UndoText(operation, because: nil).line(json: format.json))
            }
            if !format.json { try Console.print("\(counted(redone.count, "operation", "operations")) redone.") }
        }
    }
}
