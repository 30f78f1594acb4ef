internal import ArgumentParser
internal import ODataWire
internal import Tidelog

struct ServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service", abstract: "Show or change what the service lacks or does in its own way.",
        discussion: """
            Every upload follows these options. Those that are changed are kept in the store. Without any, they are what the \
            service's metadata say of it, and what the standard promises. The options and their values, the standard's first:

            \(ServiceOptions.choices.map { "  \($0.name): \($0.values.joined(separator: ", "))" }.joined(separator: "\n"))
            """)

    @Argument(
        help: ArgumentHelp("An option and its value; none to show them.", valueName: "NAME=VALUE"),
        transform: ServiceArgument.init)
    var changes: [ServiceArgument] = []

    @Flag(help: "Forget what was kept, and go by the metadata again.")
    var reset = false

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if reset, !changes.isEmpty { throw ValidationError("--reset takes no options beside it.") }
    }

    func run() async throws {
        try await options.withStore { provider in
            if reset { try await provider.keep(nil) }
            var service = try await provider.serviceOptions
            if !changes.isEmpty {
                for change in changes { try change.apply(to: &service) }
                try await provider.keep(service)
            }
            guard format.json else {
                for (name, value) in service.named { try Console.print("\(name) = \(value)") }
                return
            }
            var json = JSONWriter()
            json.beginObject()
            for (name, value) in service.named {
                json.name(name)
                json.string(value)
            }
            json.endObject()
            try Console.print(json.text)
        }
    }
}
