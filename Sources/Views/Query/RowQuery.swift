public import EDM
public import ODataWire
import Operations
public import SyncCore

/// Answers the path, `$filter`, `$orderby`, `$skip` and `$top` of a query from the views.
///
/// Rows are filtered and sorted in memory by the same evaluator that a service of ours uses, so that a query means the same
/// offline and online.
public struct RowQuery {
    private let state: SQLiteState
    private let model: EntityDataModel
    private let states: PendingStates

    public init(state: SQLiteState, model: EntityDataModel) throws(StateError) {
        self.state = state
        self.model = model
        states = try PendingStates(state)
    }

    /// What a query found, before `$select` and `$expand`.
    public struct Answer {
        public var rows: [EntityRow]
        /// Without `$top` and `$skip`; nil where the query did not ask.
        public var count: Int64?
        public var isSingle: Bool
    }

    public func answer(_ request: ServiceRequest) throws -> Answer {
        let isSingle = if case .entity = request.path.target { true } else { false }
        var rows = try rows(request.path)
        let options = request.options
        if let filter = options.filter { rows = try self.filter(rows, by: filter, options) }
        if options.search != nil {
            throw EvaluationError(.unsupported, "$search is not answered offline.")
        }
        let count = options.count == true || request.path.target == .count ? Int64(rows.count) : nil
        if !options.orderBy.isEmpty { rows = try sort(rows, by: options) }
        if let skip = options.skip { rows = Array(rows.dropFirst(Int(clamping: skip))) }
        if let top = options.top { rows = Array(rows.prefix(Int(clamping: top))) }
        return Answer(rows: rows, count: count, isSingle: isSingle)
    }

    /// Filters and sorts the targets of an expanded navigation property.
    public func apply(_ options: QueryOptions, to rows: [EntityRow]) throws -> [EntityRow] {
        var rows = rows
        if let filter = options.filter { rows = try self.filter(rows, by: filter, options) }
        if !options.orderBy.isEmpty { rows = try sort(rows, by: options) }
        if let skip = options.skip { rows = Array(rows.dropFirst(Int(clamping: skip))) }
        if let top = options.top { rows = Array(rows.prefix(Int(clamping: top))) }
        return rows
    }

    /// What a navigation property leads to, in ascending order of entity ID.
    public func targets(of row: EntityRow, _ property: Property) throws(StateError) -> [EntityRow] {
        guard let end = property.navigation else { return [] }
        let isForward = end.relationship.isForward
        let links =
            isForward
            ? try state.links(end.relationship.name, first: row.id) : try state.links(end.relationship.name, second: row.id)
        var targets: [EntityRow] = []
        for link in links where link.inLocal {
            if let target = try state.row(isForward ? link.second : link.first) { targets.append(target) }
        }
        return targets.sorted { $0.id < $1.id }
    }

    // MARK: Path

    private func rows(_ path: ResourcePath) throws -> [EntityRow] {
        var rows: [EntityRow] = []
        for segment in path.segments {
            switch segment {
            case .entitySet(let set): rows = try state.allRows(set: set.name)
            case .key(let selector): rows = try rows.filter { try isSelected($0, selector) }
            case .navigation(let property):
                var seen: Set<EntityID> = []
                rows = try rows.flatMap { try targets(of: $0, property) }.filter { seen.insert($0.id).inserted }
            case .type(let type): rows = rows.filter { model.isType($0.type, derivedFrom: type.name) }
            case .count: break
            default:
                throw EvaluationError(.unsupported, "Offline, a path leads to entities; single properties and operations are not answered.")
            }
        }
        return rows
    }

    private func isSelected(_ row: EntityRow, _ selector: KeySelector) throws(StateError) -> Bool {
        switch selector {
        case .entityID(let number): return row.id.rawValue == number
        case .key(let key):
            if key.values.allSatisfy({ row.values[$0.name] == $0.value }) { return true }
            // A key that the entity once had.
            return try state.entity(set: row.set, key: KeyText.of(key)) == row.id
        }
    }

    // MARK: Filter and order

    private func evaluator(_ options: QueryOptions) -> ExpressionEvaluator {
        ExpressionEvaluator(aliases: options.aliases, model: model)
    }

    private func filter(_ rows: [EntityRow], by filter: Expression, _ options: QueryOptions) throws -> [EntityRow] {
        let evaluator = evaluator(options)
        return try rows.filter { try evaluator.isTrue(filter, for: scope($0)) }
    }

    private func sort(_ rows: [EntityRow], by options: QueryOptions) throws -> [EntityRow] {
        let evaluator = evaluator(options)
        let keyed = try rows.map { (row: $0, keys: try evaluator.sortKeys(options.orderBy, for: scope($0))) }
        return keyed.sorted { a, b in
            if ExpressionEvaluator.precedes(a.keys, b.keys, by: options.orderBy) { return true }
            if ExpressionEvaluator.precedes(b.keys, a.keys, by: options.orderBy) { return false }
            return a.row.id < b.row.id
        }.map(\.row)
    }

    private func scope(_ row: EntityRow) -> EvaluationScope {
        let type = model.findEntityType(row.type)
        return EvaluationScope(
            property: { name in
                if let value = row.values[name] { return .value(value) }
                guard let property = type?.findProperty(name) else { return type?.isOpen == true ? .value(.null) : nil }
                guard property.isNavigation else { return .value(.null) }
                // A view that cannot be read shows no links; the query itself fails at its next step.
                let targets = (try? targets(of: row, property)) ?? []
                return property.isCollection ? .entities(targets.map(scope)) : .entity(targets.first.map(scope))
            },
            isInstance: { model.isType(row.type, derivedFrom: $0) },
            state: { states.answer($0, for: row) })
    }
}

/// Answers the offline functions of filters.
struct PendingStates {
    private var touched: Set<EntityID> = []
    private var rejected: Set<EntityID> = []

    init(_ state: SQLiteState) throws(StateError) {
        for pending in try state.pendingOperations() {
            touched.formUnion(pending.operation.touchedEntities)
            if case .rejected = pending.status { rejected.formUnion(pending.operation.touchedEntities) }
        }
    }

    func answer(_ function: CanonicalFunction, for row: EntityRow) -> Bool {
        switch function {
        case .isLocal: row.origin == .local || touched.contains(row.id)
        case .hasPendingChanges: touched.contains(row.id)
        case .isInErrorState: rejected.contains(row.id)
        default: false
        }
    }
}
