internal import ArgumentParser
internal import LogInspection
internal import Operations
internal import SyncEngine

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one record in full, where it lies, and what it has to do with others.",
        discussion: """
            Reads the log only and needs no lock. Of an operation also which batches carried it, with the requests as they were \
            sent where the log has them, and what the service said. --requests builds all of them again, from the state in \
            front of each batch, and says whether the batch is what was sent, to the byte.

              tidelog show 12
              tidelog show 12 --requests
            """)

    @Argument(help: ArgumentHelp("The record's number, as 'tidelog log --all' shows it.", valueName: "seq"))
    var sequence: SequenceNumber
    @Flag(help: "Show what went over the line for an operation. Takes as long as 'at'.")
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
        abstract: "Show all values that an entity or a property of it had, and where each came from.",
        discussion: """
            Reads the log only and needs no lock. What only changed at the service, below a pending operation that says \
            otherwise, is in parentheses.

              tidelog history "Customers('ALFKI')"
              tidelog history 'Customers(~3)/Name'
            """)

    @Argument(help: ArgumentHelp("The entity, and maybe a property of it.", valueName: "ref[/property]"))
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
        commandName: "blame", abstract: "Show who wrote each property and link of an entity last.",
        discussion: """
            A local edit is named with the batch that carried it to the service, and what the service said. Reads the log only \
            and needs no lock. Exits with 1 where the entity is not in the store, and says why.

              tidelog blame "Customers('ALFKI')"
            """)

    @Argument(help: ArgumentHelp("The entity, and maybe a property of it.", valueName: "ref[/property]"))
    var entity: ReferenceArgument
    @OptionGroup var options: StoreOptions
    @OptionGroup var format: FormatOptions

    func run() throws {
        let provenance = try options.inspected.provenance(of: entity.reference)
        guard provenance.exists else {
            throw CommandFailure(
                provenance.gone().joined(separator: " "),
                recovery: "'tidelog history \(entity.reference.text)' shows what it was.")
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
        commandName: "why", abstract: "Say why a property is what it is, or why an operation is not confirmed.",
        discussion: """
            Needs no lock. For an operation that has not ended, the plan of the next upload is made and not sent.

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
