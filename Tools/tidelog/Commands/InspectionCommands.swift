internal import ArgumentParser
internal import Tidelog

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "List pending and failed operations, with the next step for each.")

    @Flag(help: "Also list undone operations.")
    var undone = false
    @OptionGroup var point: PointOptions
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        try await options.withView(point) { provider in
            let takenBack = try await provider.undoneOperations()
            let operations = try await provider.operationStatus(nil) + (undone ? takenBack : [])
            if format.json {
                for operation in operations { try Console.print(StatusText(operation).json) }
                return
            }
            guard !operations.isEmpty else {
                let also = takenBack.isEmpty ? "" : " \(takenBack.count) undone."
                return try Console.print("No pending operations.\(also)")
            }
            var table = TextTable([("operation", .right), ("action", .left), ("state", .left), ("reason", .left)])
            for operation in operations { table.add(StatusText(operation).cells) }
            for line in table.lines { try Console.print(line) }
            try Console.print("")
            try Console.print(StatusText.summary((undone ? operations : operations + takenBack).map(\.state)))
        }
    }
}

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Print the exact request that the next push sends first.",
        discussion: """
            For a service without $batch, prints the single requests that the next push sends before it plans again. \
            Operations that it does not send are listed with the reason on standard error. --category and --coalesce \
            are those of push.
            """)

    @OptionGroup var queue: QueueArguments
    @OptionGroup var service: ServiceArguments
    @OptionGroup var point: PointOptions
    @OptionGroup var options: StoreOptions

    func run() async throws {
        try await options.withView(point) { provider in
            try await service.apply(to: provider)
            let batches = try await provider.plannedBatches(queue.upload)
            if batches.isEmpty { Console.printError("tidelog: No operations to send.") }
            for (index, batch) in batches.enumerated() {
                try Console.write((index == 0 ? [] : Array("\r\n\r\n".utf8)) + PlanText(batch).bytes)
            }
            for operation in try await provider.operationStatus(queue.upload) where operation.state == .pending {
                guard let reason = operation.reason else { continue }
                Console.printError("tidelog: Operation \(operation.sequence) is not sent: \(reason).")
            }
        }
    }
}
