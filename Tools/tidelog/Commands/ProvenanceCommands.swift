internal import ArgumentParser
internal import LogInspection
internal import OfflineStore
internal import Operations

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one record in full, with its location and its related records.",
        discussion: """
            Reads only the log and needs no lock. For an operation, also shows its batches, with the requests as they \
            were sent if the log contains them, and the responses. --requests rebuilds all of them from the state \
            before each batch, and reports whether the batch is identical to the bytes that were sent.

              tidelog show 12
              tidelog show 12 --requests
            """)

    @Argument(help: ArgumentHelp("The number of the record, as 'tidelog log --all' prints it.", valueName: "seq"))
    var sequence: SequenceNumber
    @Flag(help: "Show the requests that were sent for an operation. Takes as long as 'at'.")
    var requests = false
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        let store = try options.inspected
        var detail = try store.detail(of: sequence)
        if requests { detail = await store.buildingRequests(of: detail) }
        if format.json { return try Console.print(detail.json) }
        for line in DetailText(detail).lines { try Console.print(line) }
    }
}

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "List all values that an entity or a property had, with their origins.",
        discussion: """
            Reads only the log and needs no lock. Changes at the service that a pending operation hides \
            are in parentheses.

              tidelog history "Customers('ALFKI')"
              tidelog history 'Customers(~3)/Name'
            """)

    @Argument(help: ArgumentHelp("The entity, optionally with a property.", valueName: "ref[/property]"))
    var entity: ReferenceArgument
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let provenance = try options.inspected.provenance(of: entity.reference)
        let changes = provenance.changes.filter { change in
            entity.reference.property == nil || change.aspect.name == entity.reference.property
        }
        if changes.isEmpty, let property = entity.reference.property { _ = try provenance.why(property) }
        let text = ProvenanceText(provenance)
        for line in format.json ? changes.map(provenance.json) : text.history(changes) { try Console.print(line) }
    }
}

struct BlameCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blame", abstract: "Show the origin of each property and link of an entity.",
        discussion: """
            For a local edit, prints the batch that contained it and the response of the service. Reads only the log \
            and needs no lock. If the entity is not in the store, prints the reason and exits with 1.

              tidelog blame "Customers('ALFKI')"
            """)

    @Argument(help: ArgumentHelp("The entity, optionally with a property.", valueName: "ref[/property]"))
    var entity: ReferenceArgument
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let provenance = try options.inspected.provenance(of: entity.reference)
        guard provenance.exists else {
            throw CommandFailure(
                provenance.gone().joined(separator: " "),
                recovery: "Run 'tidelog history \(entity.reference.text)' to see its earlier values.")
        }
        let lines = provenance.lines.filter { line in
            entity.reference.property == nil || line.aspect.name == entity.reference.property
        }
        if lines.isEmpty, let property = entity.reference.property { _ = try provenance.why(property) }
        let text = ProvenanceText(provenance)
        for line in format.json ? lines.map(provenance.json) : text.blame(lines) { try Console.print(line) }
    }
}

struct WhyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Explain the value of a property, or why an operation is not confirmed.",
        discussion: """
            Needs no lock. For an operation that has not ended, plans the next upload without sending it.

              tidelog why 'Customers(1)/Name'
              tidelog why 12
            """)

    @Argument(
        help: ArgumentHelp("A property of an entity, or the number of an operation.", valueName: "ref/property|seq"))
    var subject: WhyArgument
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() async throws {
        let store = try options.inspected
        switch subject {
        case .operation(let sequence):
            let reason = try await store.why(sequence)
            for line in format.json ? [ProvenanceText.json(reason)] : reason.sentences {
                try Console.print(oneLine(line))
            }
        case .property(let reference, let name):
            let provenance = try store.provenance(of: reference)
            let sentences = try provenance.why(name)
            for line in format.json ? [ProvenanceText.json(sentences, provenance, name)] : sentences {
                try Console.print(oneLine(line))
            }
        }
    }
}

/// The argument of 'tidelog why'.
enum WhyArgument: ExpressibleByArgument {
    case operation(SequenceNumber)
    case property(EntityReference, String)

    init?(argument: String) {
        if let sequence = SequenceNumber(argument) {
            self = .operation(sequence)
        } else if let reference = EntityReference(argument), let property = reference.property {
            self = .property(reference, property)
        } else {
            return nil
        }
    }
}
