internal import ArgumentParser
internal import ODataWire
internal import Tidelog

struct ServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "service",
        abstract: "Show or change the capabilities of the service that differ from the standard.",
        discussion: """
            Every upload follows these options. Changes are kept in the store. By default, the options follow the \
            metadata of the service and the standard. The options and their values, the standard value first:

              \
             \(ServiceOptions.choices.map { "  \($0.name): \($0.values.joined(separator: ", "))" }.joined(separator: "\n"))
            """)

    @Argument(
        help: ArgumentHelp(
            "An option and its value; without arguments, the options are shown.", valueName: "NAME=VALUE"),
        transform: ServiceArgument.init)
    var changes: [ServiceArgument] = []

    @Flag(help: "Remove the stored options, and follow the metadata again.")
    var reset = false

    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func validate() throws {
        if reset, !changes.isEmpty { throw ValidationError("--reset cannot be combined with options of the service.") }
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
