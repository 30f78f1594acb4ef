internal import ArgumentParser
internal import Tidelog

/// The option `--service NAME=VALUE`, on commands that make or send plans.
struct ServiceArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A capability of the service for this run; see 'tidelog service'. May be repeated.",
            valueName: "NAME=VALUE"), transform: ServiceArgument.init)
    var service: [ServiceArgument] = []

    var isEmpty: Bool { service.isEmpty }

    func changed(_ options: ServiceOptions) throws -> ServiceOptions {
        var options = options
        for argument in service { try argument.apply(to: &options) }
        return options
    }

    /// Applies the arguments while the store is open.
    func apply(to provider: some StoreView) async throws {
        if !isEmpty { try await provider.use(try changed(try await provider.serviceOptions)) }
    }
}

/// An argument such as `supportsBatch=false`.
struct ServiceArgument: Hashable {
    private let name: String
    private let value: String

    init(_ text: String) throws {
        guard let equals = text.firstIndex(of: "=") else {
            throw ValidationError("'\(text)' does not have the form NAME=VALUE.")
        }
        name = String(text[..<equals])
        value = String(text[text.index(after: equals)...])
        var options = ServiceOptions()
        try apply(to: &options)
    }

    func apply(to options: inout ServiceOptions) throws {
        do throws(ServiceOptions.InvalidOption) {
            try options.set(name, to: value)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}
