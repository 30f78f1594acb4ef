public import EDM
public import ODataWire
import Operations
public import SyncCore

/// Answers the path, `$filter`, `$orderby`, `$skip` and `$top` of a query from the views.
///
/// A query over a whole set is compiled to SQL. What SQL does not answer, and what a path narrows down, is filtered and
/// sorted in memory by the evaluator that is also the measure of the SQL, so that a query means the same either way.
public struct RowQuery {
    private let state: SQLiteState
    private let model: EntityDataModel
    /// What was read ahead for many rows at once.
    public let prefetch: Prefetch
    /// What `now()` is.
    private let now: GlobalDateTime?

    public init(state: SQLiteState, model: EntityDataModel, now: GlobalDateTime? = nil) {
        self.state = state
        self.model = model
        self.now = now
        prefetch = Prefetch(state: state, model: model)
    }

    /// What a query found, before `$select` and `$expand`.
    public struct Answer {
        public var rows: [EntityRow]
        /// Without `$top` and `$skip`; nil where the query did not ask.
        public var count: Int64?
        public var isSingle: Bool
    }

    public func answer(_ request: ServiceRequest) throws -> Answer {
        let options = request.options
        let wantsCount = options.count == true || request.path.target == .count
        if let answer = try answerInSQL(request, wantsCount: wantsCount) { return answer }
        let isSingle = if case .entity = request.path.target { true } else { false }
        var rows = try rows(request.path)
        if let filter = options.filter { rows = try self.filter(rows, by: filter, options) }
        if let search = options.search { rows = rows.filter { search.matches(Self.texts(of: $0.values)) } }
        let count = wantsCount ? Int64(rows.count) : nil
        return Answer(rows: try page(rows, options), count: count, isSingle: isSingle)
    }

    /// Nil for what has to be answered in memory.
    private func answerInSQL(_ request: ServiceRequest, wantsCount: Bool) throws -> Answer? {
        guard case .entitySet(let set)? = request.path.segments.first,
            request.path.segments.dropFirst().allSatisfy({ $0 == .count }), !set.isSingleton
        else {
            state.connection.trace?.noteInMemory("A path that goes on behind the entity set is walked row by row.")
            return nil
        }
        do {
            var rows: [EntityRow] = []
            if request.path.target != .count {
                rows = try state.rows(in: set, request.options, now: now)
            }
            let count = wantsCount ? try state.count(in: set, request.options, now: now) : nil
            return Answer(rows: rows, count: count, isSingle: false)
        } catch let error as EvaluationError where error.code == .unsupported {
            state.connection.trace?.noteInMemory(error.message)
            return nil
        }
    }

    /// Filters and sorts the targets of an expanded navigation property.
    public func apply(_ options: QueryOptions, to rows: [EntityRow]) throws -> [EntityRow] {
        var rows = rows
        if let filter = options.filter { rows = try self.filter(rows, by: filter, options) }
        return try page(rows, options)
    }

    private func page(_ rows: [EntityRow], _ options: QueryOptions) throws -> [EntityRow] {
        var rows = options.orderBy.isEmpty ? rows : try sort(rows, by: options)
        if let skip = options.skip { rows = Array(rows.dropFirst(Int(clamping: skip))) }
        if let top = options.top { rows = Array(rows.prefix(Int(clamping: top))) }
        return rows
    }

    /// What a navigation property leads to, in ascending order of entity ID.
    public func targets(of row: EntityRow, _ property: Property) throws(StateError) -> [EntityRow] {
        guard let end = property.navigation else { return [] }
        if let targets = prefetch.targets(of: row.id, along: end) { return targets }
        var targets: [EntityRow] = []
        for id in try state.targets(of: row.id, along: end) {
            if let target = try state.row(id) { targets.append(target) }
        }
        return targets.sorted { $0.id < $1.id }
    }

    // MARK: Path

    private func rows(_ path: ResourcePath) throws -> [EntityRow] {
        var rows: [EntityRow] = []
        var segments = path.segments[...]
        guard case .entitySet(let set)? = segments.popFirst() else { throw Self.leadsElsewhere }
        if case .key(let selector)? = segments.first {
            segments.removeFirst()
            rows = try row(in: set, selector).map { [$0] } ?? []
        } else {
            rows = try state.allRows(set: set.name)
        }
        for segment in segments {
            switch segment {
            case .navigation(let property):
                var seen: Set<EntityID> = []
                rows = try rows.flatMap { try targets(of: $0, property) }.filter { seen.insert($0.id).inserted }
            case .key(let selector): rows = try rows.filter { try isSelected($0, selector) }
            case .type(let type): rows = rows.filter { model.isType($0.type, derivedFrom: type.name) }
            case .count: break
            default: throw Self.leadsElsewhere
            }
        }
        return rows
    }

    private static var leadsElsewhere: EvaluationError {
        EvaluationError(
            .unsupported, "Offline, a path leads to entities; single properties and operations are not answered.")
    }

    private func row(in set: EntitySet, _ selector: KeySelector) throws(StateError) -> EntityRow? {
        let id: EntityID?
        switch selector {
        case .entityID(let number):
            let named = EntityID(rawValue: number)
            id = try state.set(of: named) == set.name ? named : nil
        case .key(let key):
            let values = key.values.map { (property: $0.name, value: $0.value) }
            if let found = try state.findRows(set: set.name, where: values).first {
                id = found
            } else {
                // A key that the entity once had.
                id = try state.entity(set: set.name, key: KeyText.of(key))
            }
        }
        guard let id else { return nil }
        return try state.row(id)
    }

    private func isSelected(_ row: EntityRow, _ selector: KeySelector) throws(StateError) -> Bool {
        switch selector {
        case .entityID(let number): return row.id.rawValue == number
        case .key(let key):
            if key.values.allSatisfy({ row.values[$0.name] == $0.value }) { return true }
            return try state.entity(set: row.set, key: KeyText.of(key)) == row.id
        }
    }

    // MARK: Filter and order

    private func evaluator(_ options: QueryOptions) -> ExpressionEvaluator {
        ExpressionEvaluator(now: now, aliases: options.aliases, model: model)
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

    /// What `$search` looks at: every string of the entity, those in complex values and collections included.
    private static func texts(of values: PropertyValues) -> [String] {
        values.flatMap { texts(of: $0.value) }
    }

    private static func texts(of value: Value) -> [String] {
        switch value {
        case .string(let text): [text]
        case .complex(let complex): texts(of: complex.properties)
        case .collection(let items): items.flatMap(texts(of:))
        default: []
        }
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
            state: { answer($0, row) })
    }

    /// The offline functions of filters.
    private func answer(_ function: CanonicalFunction, _ row: EntityRow) -> Bool {
        let standing = (try? state.standing(of: row.id)) ?? .clean
        return switch function {
        case .isLocal: row.origin == .local || standing != .clean
        case .hasPendingChanges: standing != .clean
        case .isInErrorState: standing == .rejected
        case .upsertedLastDownload: (try? state.header()).map(row.isUpserted(inLastDownloadOf:)) ?? false
        default: false
        }
    }
}
