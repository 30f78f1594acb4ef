import EDM
import ODataWire
import Operations
import SyncCore

/// A log in memory with its fold: an engine without disk and network.
final class TestStore {
    let state = WorkingSet()
    private(set) var records: [Record] = []
    private var fold: Fold
    /// The `transactionID` of the next operations.
    var transactionID: String?
    /// The last key that the service assigned.
    var nextKey: Int64 = 1_000
    /// Capabilities of the service.
    var service = ServiceOptions()
    /// Sets further attributes of the next operations.
    var attributes: (inout Operation) -> Void = { _ in }

    init(_ service: ServiceDescription = TestModel.service) throws {
        fold = try Fold(storage: state)
        try add(.serviceInstalled(service))
        try add(.definingQueryAdded(DefiningQuery(name: "All", query: "Customers")))
    }

    var model: EntityDataModel { fold.model! }

    @discardableResult
    func add(_ body: Record.Body) throws -> SequenceNumber {
        let sequence = try state.header().applied + 1
        let record = Record(time: 0, body: body)
        try fold.apply(record, sequence: sequence)
        try fold.finishRebase()
        records.append(record)
        return sequence
    }

    /// Validates and applies operations as the engine does. A refused operation leaves no trace. Returns the new
    /// sequence numbers.
    @discardableResult
    func perform(_ actions: [Operation.Action], changeSet: Bool = false) throws -> [SequenceNumber] {
        let trial = try TestStore(replaying: records)
        let first = try state.header().applied + 1
        let operations = actions.map {
            var operation = Operation($0, changeSet: changeSet ? first : nil, transactionID: transactionID)
            attributes(&operation)
            return operation
        }
        _ = trial.fold.drainDirtySet()
        for operation in operations {
            try OperationRules(storage: trial.state, model: trial.model).check(operation)
            try trial.add(.operation(operation))
            // The state may be illegal only between the operations of a change set.
            if !changeSet { try trial.checkCardinality() }
        }
        try trial.checkCardinality()
        return try operations.map { try add(.operation($0)) }
    }

    func dependants(of operations: Set<SequenceNumber>) throws -> [SequenceNumber: UndoDependency] {
        let found = try fold.dependants(of: operations)
        try fold.finishRebase()
        return found
    }

    /// Undoes the operations and those that depend on them, as the engine does. Returns all undone operations.
    @discardableResult
    func undo(_ operations: Set<SequenceNumber>) throws -> [SequenceNumber] {
        let all = operations.union(try dependants(of: operations).keys).sorted()
        try add(.operationsUndone(all))
        return all
    }

    func refusal(ofRedoing operations: [SequenceNumber]) throws -> (
        operation: SequenceNumber, reason: OperationRefused
    )? {
        let found = try fold.refusal(ofRedoing: operations.compactMap { try state.bookkeeping.undoneOperation($0) })
        try fold.finishRebase()
        return found
    }

    private func checkCardinality() throws {
        try CardinalityRule(storage: state, index: fold.index!).check(fold.drainDirtySet())
    }

    init(replaying records: [Record]) throws {
        fold = try Fold(storage: state)
        for record in records { try add(record.body) }
    }

    /// Returns a store with two downloaded customers.
    static func withCustomers() throws -> (store: TestStore, a: EntityID, b: EntityID) {
        let store = try TestStore()
        let a = try store.download("Customers", ["CustomerID": .integer(1)])
        let b = try store.download("Customers", ["CustomerID": .integer(2)])
        return (store, a, b)
    }

    func newID() throws -> EntityID { try state.header().nextEntity }

    /// Creates a local entity with a new ID.
    @discardableResult
    func create(
        _ set: String, _ values: PropertyValues = [:], bindings: [Binding] = [], parent: Parent? = nil
    ) throws -> EntityID {
        let id = try newID()
        try perform([.create(creation(id, set, values, bindings: bindings), parent: parent)])
        return id
    }

    func creation(
        _ id: EntityID, _ set: String, _ values: PropertyValues = [:], bindings: [Binding] = [],
        inline: [Creation.Inline] = []
    ) -> Creation {
        Creation(
            entity: id, set: set, type: model.findEntitySet(set)!.entityType.name, values: values, bindings: bindings,
            inline: inline)
    }

    /// Adds a downloaded entity.
    @discardableResult
    func download(_ set: String, _ values: PropertyValues, etag: String? = nil) throws -> EntityID {
        let known = try KeyText.of(values, type: model.findEntitySet(set)!.entityType).flatMap {
            try state.entity(set: set, key: $0)
        }
        let id = try known ?? newID()
        try add(
            .entitiesRead([
                EntityImage(
                    entity: id, set: set, type: model.findEntitySet(set)!.entityType.name, values: values, etag: etag)
            ]))
        return id
    }

    func value(_ id: EntityID, _ property: String) throws -> Value? { try state.row(id)?.values[property] }

    /// Returns the targets of a navigation property in the current state.
    func targets(_ id: EntityID, _ navigation: String) throws -> [EntityID] {
        guard let row = try state.row(id),
            let end = model.findEntityType(row.type)?.findProperty(navigation)?.navigation
        else {
            return []
        }
        let links =
            end.relationship.isForward
            ? try state.links(end.relationship.name, first: id) : try state.links(end.relationship.name, second: id)
        return links.filter(\.inLocal).map { end.relationship.isForward ? $0.second : $0.first }
    }

    func digest() throws -> StateDigest { try StateDigest(of: state) }
}

func link(_ from: EntityID, _ navigation: String, _ to: EntityID) -> Link {
    Link(from: from, navigation: navigation, to: to)
}

extension WorkingSet {
    var allRows: [EntityRow] {
        get throws {
            var rows: [EntityRow] = []
            try forEachRow { rows.append($0) }
            return rows.sorted { $0.id < $1.id }
        }
    }

    var allLinks: [LinkRow] {
        get throws {
            var links: [LinkRow] = []
            try forEachLink { links.append($0) }
            return links
        }
    }
}

extension TestStore {
    /// Sends an operation in a batch of its own and confirms it.
    func confirm(
        _ operation: SequenceNumber, _ images: [EntityImage] = [], isInDoubt: Bool = false
    ) throws {
        let batch = try state.header().nextBatch
        try add(
            .batchPrepared(
                BatchPrepared(batch: batch, changeSets: [[.init(contentID: "1", operation: operation)]])))
        if isInDoubt { try add(.batchInterrupted(BatchInterrupted(batch: batch, reason: "No answer."))) }
        try add(
            .batchAnswered(
                BatchAnswered(
                    batch: batch, outcomes: [.init(operation: operation, result: .confirmed(images: images))])))
    }
}
