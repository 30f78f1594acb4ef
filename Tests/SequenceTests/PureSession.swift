import EDM
import ODataWire
import Operations
import SyncCore

@testable import ODataSandbox

enum Dialect: String, CaseIterable, Sendable {
    case v2, v4
}

/// A store and its service without disk, network, actor or clock: a log in memory with its fold, and the sandbox.
/// Performs the steps of the engine's rounds with values.
///
/// A value except for its state, which ``copy()`` copies: a session can be kept and continued several times.
struct PureSession {
    let dialect: Dialect
    let model: EntityDataModel
    let index: RelationshipIndex
    private(set) var fold: Fold
    var sandbox: Sandbox
    /// Whether uploads coalesce operations.
    var coalesces = false
    /// The records since the session began, in order.
    private(set) var records: [Record.Body] = []

    var state: WorkingSet { fold.storage }
    var root: String { sandbox.origin + "/\(dialect.rawValue)/" }

    /// Creates a store without downloaded entities.
    init(_ dialect: Dialect, sandbox: Sandbox) throws {
        self.dialect = dialect
        var sandbox = sandbox
        sandbox.options.requiresToken = false
        self.sandbox = sandbox
        let metadata = sandbox.handle(WireRequest(method: "GET", url: "/\(dialect.rawValue)/$metadata")).body
        model = try CSDLReader.read(metadata)
        index = RelationshipIndex(model)
        let state = WorkingSet(keepsDigest: true)
        fold = Fold(storage: state, model: model, index: index)
        try log(.serviceInstalled(ServiceDescription(root: root, metadata: metadata)))
        records = []
    }

    func copy() -> PureSession {
        var copy = self
        copy.fold = Fold(storage: state.copy(), model: model, index: index)
        copy.records = []
        return copy
    }

    /// Returns a session that continues from the given state, such as one restored from a snapshot.
    func resumed(from state: WorkingSet) -> PureSession {
        var session = self
        session.fold = Fold(storage: state, model: model, index: index)
        session.records = []
        return session
    }

    @discardableResult
    mutating func log(_ body: Record.Body, settling: Bool = true) throws -> SequenceNumber {
        let sequence = try state.header().applied + 1
        try fold.apply(Record(time: 0, body: body), sequence: sequence)
        if settling { try fold.finishRebase() }
        records.append(body)
        return sequence
    }

    mutating func finishRebase() throws { try fold.finishRebase() }

    func writeSnapshot(to sink: (UInt8, [UInt8]) throws -> Void) throws { try fold.writeSnapshot(to: sink) }

    // MARK: The app

    /// Validates, folds and logs the operations, or throws and leaves no trace.
    mutating func perform(_ actions: [Operation.Action], asChangeSet: Bool = false) throws {
        var trial = copy()
        let first = try state.header().applied + 1
        let binder = ConstraintBinder(storage: trial.state, model: model)
        _ = trial.fold.drainDirtySet()
        for action in actions {
            let operation = Operation(
                try binder.binding(action), changeSet: asChangeSet ? first : nil, baseETag: try trial.etag(of: action))
            try OperationRules(storage: trial.state, model: model).check(operation)
            try trial.log(.operation(operation))
            if !asChangeSet { try trial.checkCardinality() }
        }
        try trial.checkCardinality()
        fold = trial.fold
        records += trial.records
    }

    private mutating func checkCardinality() throws {
        try CardinalityRule(storage: state, index: index).check(fold.drainDirtySet())
    }

    private func etag(of action: Operation.Action) throws -> String? {
        switch action {
        case .update(let id, _, _), .delete(let id): try state.row(id)?.etag
        default: nil
        }
    }
}
