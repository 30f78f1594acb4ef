internal import ArgumentParser
internal import Tidelog

struct SettleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settle", abstract: "Say what became of an operation in doubt.",
        discussion: """
            For who knows it, as somebody who looked at the service does. What was sent in one change set with it is \
            settled with it.

            Where the service gave a new entity its key, --address says which: what was done to the entity since goes with \
            the next push.
            """)

    @Argument(help: ArgumentHelp("The number of an operation in doubt; see status.", valueName: "operation"))
    var operation: UInt64
    @Flag(help: "The service has done it.") var tookEffect = false
    @Flag(help: "The service has not done it: send it again.") var resend = false
    @Option(
        help: ArgumentHelp(
            "With --took-effect, where the service has the new entity: a URL, 'Orders(5)', or the key alone.",
            valueName: "address"))
    var address: String?
    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard tookEffect != resend else { throw ValidationError("Say --took-effect or --resend: one of these.") }
        guard address == nil || tookEffect else { throw ValidationError("--address goes with --took-effect.") }
    }

    func run() async throws {
        try await options.withStore { provider in
            let settled = try await provider.settle(
                operation: operation, as: tookEffect ? .tookEffect : .resend, at: address)
            let numbers = settled.map(String.init).joined(separator: ", ")
            try Console.print(tookEffect ? "done: \(numbers)" : "to be sent again: \(numbers)")
        }
    }
}

struct IdentifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identify", abstract: "Say where the service has an entity whose key no answer told.",
        discussion: """
            For what waits because the key that the service gave is not known; see status. The next push reads the entity \
            before it changes anything.
            """)

    @Argument(help: ArgumentHelp("A readLink or editLink, as 'Orders(~9)'.", valueName: "entity")) var entity: String
    @Argument(help: "A URL, 'Orders(5)', or the key alone.") var address: String
    @OptionGroup var options: StoreOptions

    func run() async throws {
        try await options.withStore { provider in
            let readLink = try await provider.identify(entity, as: address)
            try Console.print("\(oneLine(entity)) is \(oneLine(readLink)).")
        }
    }
}
