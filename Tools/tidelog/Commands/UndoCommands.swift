internal import ArgumentParser
internal import OfflineStore
internal import Tidelog

struct UndoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Undo operations that have not taken effect at the service.",
        discussion: """
            Operations that depend on them and the rest of their change sets are undone too; each \
            is printed with the reason. redo restores them.
            """)

    @Argument(help: ArgumentHelp("The numbers of operations.", valueName: "operation")) var operations: [UInt64] = []
    @Option(
        help: ArgumentHelp(
            "An entity whose operations are undone, a readLink or editLink; may be repeated.", valueName: "REF"))
    var entity: [String] = []
    @Flag(help: "Undo all operations that have not taken effect at the service.")
    var all = false
    @Flag(help: "Print the operations that would be undone, without changing anything.")
    var dryRun = false
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        guard [!operations.isEmpty, !entity.isEmpty, all].count(where: { $0 }) == 1 else {
            throw ValidationError("Use one of these: numbers of operations, --entity, or --all.")
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
                    "tidelog: Operation \(operation.sequence) is not undone: it was sent, and its outcome is not known yet."
                )
            }
            if !format.json { try Console.print(UndoText.summary(report, isDryRun: dryRun)) }
        }
    }
}

struct RedoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Restore undone operations at their old places.",
        discussion: "If later operations contradict them, nothing is redone.")

    @Argument(help: ArgumentHelp("The numbers of undone operations.", valueName: "operation"))
    var operations: [UInt64] = []
    @Flag(help: "Redo the operations of the last undo.")
    var last = false
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        guard operations.isEmpty == last else { throw ValidationError("Use either numbers of operations or --last.") }
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
