internal import ArgumentParser
internal import Tidelog

struct SettleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settle", abstract: "Say what became of an operation in doubt.",
        discussion: """
            For who knows it, as somebody who looked at the service does. What was sent in one change set with it is \
            settled with it.
            """)

    @Argument(help: ArgumentHelp("The number of an operation in doubt; see status.", valueName: "operation"))
    var operation: UInt64
    @Flag(help: "The service has done it.") var tookEffect = false
    @Flag(help: "The service has not done it: send it again.") var resend = false
    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard tookEffect != resend else { throw ValidationError("Say --took-effect or --resend: one of these.") }
    }

    func run() async throws {
        try await options.withStore { provider in
            let settled = try await provider.settle(operation: operation, as: tookEffect ? .tookEffect : .resend)
            let numbers = settled.map(String.init).joined(separator: ", ")
            try Console.print(tookEffect ? "done: \(numbers)" : "to be sent again: \(numbers)")
        }
    }
}
