internal import ArgumentParser
internal import LogInspection
internal import OfflineStore
internal import Operations

/// The filter for records, on `log`. A record has to satisfy all given options.
struct RecordFilterOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Records that refer to this entity, including responses.", valueName: "ref"))
    var entity: ReferenceArgument?
    @Option(help: ArgumentHelp("Records that refer to entities of this set.", valueName: "name"))
    var set: String?
    @Option(
        help: ArgumentHelp(
            "Records of this kind, or operations with this action, such as batchAnswered or update.", valueName: "name")
    )
    var kind: String?
    @Option(help: ArgumentHelp("Operations in this state.", valueName: "fate"))
    var state: OutcomeArgument?
    @Option(help: ArgumentHelp("The batch with this number, and its operations.", valueName: "number"))
    var batch: BatchID?
    @Option(
        help: ArgumentHelp(
            "Records of this time or later: 2026-11-21T07:43:17Z, without a zone in UTC.", valueName: "time"))
    var since: TimeArgument?
    @Option(help: ArgumentHelp("Records of this time or earlier.", valueName: "time"))
    var until: TimeArgument?
    @Option(help: ArgumentHelp("Records from this number on.", valueName: "seq"))
    var from: SequenceNumber?
    @Option(help: ArgumentHelp("Records up to this number.", valueName: "seq"))
    var to: SequenceNumber?
    @Option(help: ArgumentHelp("Operations with this custom tag.", valueName: "text"))
    var tag: String?
    @Option(
        help: ArgumentHelp(
            "Operations that the service rejected with this error code or HTTP status.", valueName: "text"))
    var code: String?

    /// Returns the filter. Searches the log for the entity and for the operations of the batch.
    func filter(_ store: InspectedStore) throws -> RecordFilter {
        var filter = RecordFilter()
        filter.entities = try entity.map { try store.entities(of: $0.reference) }
        filter.set = set
        filter.kind = kind
        filter.state = state?.rawValue
        filter.batch = batch
        if let batch { filter.batchOperations = try mappingLogErrors { try store.history.operations(of: batch) } }
        filter.since = since?.milliseconds
        filter.until = until?.milliseconds
        (filter.from, filter.to) = (from, to)
        (filter.tag, filter.code) = (tag, code)
        return filter
    }
}

/// An argument with the names of ``OperationOutcome/name``.
enum OutcomeArgument: String, CaseIterable, ExpressibleByArgument {
    case pending, inFlight, inDoubt, confirmed, rejected, deferred, undone, elided, unknown
}

/// An argument `Customers('ALFKI')`, `Customers(~3)` or `~3`, for some commands followed by `/Property`.
struct ReferenceArgument: ExpressibleByArgument {
    let reference: EntityReference

    init?(argument: String) {
        guard let reference = EntityReference(argument) else { return nil }
        self.reference = reference
    }
}
