internal import ArgumentParser
internal import Tidelog

struct SettleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settle", abstract: "Set the outcome of an operation in doubt.",
        discussion: """
            For example after looking it up at the service. The operations of the same change set are \
            settled with it.

            If the service assigned the key of a new entity, --address sets it, so that later changes of the entity \
            are sent with the next push.
            """)

    @Argument(help: ArgumentHelp("The number of an operation in doubt; see status.", valueName: "operation"))
    var operation: UInt64
    @Flag(help: "The operation took effect.") var tookEffect = false
    @Flag(help: "The operation did not take effect; send it again.") var resend = false
    @Option(
        help: ArgumentHelp(
            "With --took-effect, the address of the new entity: a URL, 'Orders(5)', or the key alone.",
            valueName: "address"))
    var address: String?
    @OptionGroup var options: StoreOptions

    func validate() throws {
        guard tookEffect != resend else { throw ValidationError("Use either --took-effect or --resend.") }
        guard address == nil || tookEffect else { throw ValidationError("--address requires --took-effect.") }
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
        commandName: "identify", abstract: "Set the address of an entity whose key is not known.",
        discussion: """
            For operations that wait because the key that the service assigned is not known; see status. The next push \
            reads the entity before it changes it.
            """)

    @Argument(help: ArgumentHelp("A readLink or editLink, such as 'Orders(~9)'.", valueName: "entity")) var entity:
        String
    @Argument(help: "A URL, 'Orders(5)', or the key alone.") var address: String
    @OptionGroup var options: StoreOptions

    func run() async throws {
        try await options.withStore { provider in
            let readLink = try await provider.identify(entity, as: address)
            try Console.print("\(oneLine(entity)) is \(oneLine(readLink)).")
        }
    }
}
