package import EDM
package import ODataQuery
import Operations
package import SyncCore

/// A query over the views: the path, and all query options except `$select` and `$expand`.
///
/// A query over a whole set is compiled to SQL. Options that SQL cannot evaluate, and paths with further segments, are
/// filtered and sorted in memory by the evaluator, which also serves as the reference for the SQL, so that both return
/// the same result. A query that fails in SQL because of a row is repeated in memory too: SQLite may evaluate
/// conditions in another order, and for a row that the evaluator skips.
package struct RowQuery {
    let state: SQLiteState
    let model: EntityDataModel
    /// The value of `now()`.
    let now: GlobalDateTime?
    /// The targets of navigation properties for rows that are in no table of the views.
    let navigation: ((EntityRow, Property) -> EvaluationOperand)?
    /// The sets that paths from `$root` have read.
    private let roots: RootSets

    package init(
        state: SQLiteState, model: EntityDataModel, now: GlobalDateTime? = nil,
        navigation: ((EntityRow, Property) -> EvaluationOperand)? = nil
    ) {
        self.state = state
        self.model = model
        self.now = now
        self.navigation = navigation
        roots = RootSets(state: state, model: model)
    }

    /// The result of a query, before `$select` and `$expand`.
    package struct Answer {
        package var content: ResultContent
        /// The number of results without `$top` and `$skip`; nil if the query does not request it.
        package var count: Int64?
        package var isSingle: Bool
        /// The options of the next page, or nil on the last one.
        package var next: QueryOptions?

        package init(_ content: ResultContent, count: Int64? = nil, isSingle: Bool = false) {
            self.content = content
            self.count = count
            self.isSingle = isSingle
        }

        package enum ResultContent {
            case entities([EntityRow])
            /// The entities were passed to the closure of the call.
            case delivered
            /// The value of a property. If it is a collection, `$filter`, `$orderby`, `$skip` and `$top` are applied.
            case value(Value)
            /// The result of `$apply`.
            case applied([AggregatedRow])
        }
    }

    /// One row of the result of `$apply`.
    package struct AggregatedRow {
        /// The entity of the row, or nil if the row aggregates several entities.
        package var entity: EntityRow?
        /// The computed and aggregated values; all values of a row without an entity.
        package var values: PropertyValues
    }

    /// Returns the result to a request.
    ///
    /// - Parameters:
    ///   - pageSize: The maximum number of entities. ``Answer/next`` leads to further ones.
    ///   - subset: The properties of the entities that the caller needs, or nil for all. The entities may have more: the
    ///     link to further pages needs the properties of `$orderby`, so that a page has all.
    ///   - body: A closure that is called with each entity if the result is ``Answer/ResultContent/delivered``. With
    ///     any other result, the entities that it was called with are to be ignored.
    package func answer(
        _ request: ServiceRequest, pageSize: Int64? = nil, only subset: PropertySubset? = nil,
        to body: RowReceiver? = nil
    ) throws -> Answer {
        if request.expressions.contains(where: { $0.calls(Self.downloadFunctions) }) { state.readsLastDownload = true }
        var size = pageSize
        // The pages of a next link have the same size.
        if size == nil, let token = request.options.skipToken {
            size = try PagePosition(token: token, orderBy: request.options.orderBy).pageSize
        }
        guard let size, request.isPaged else { return try whole(request, only: subset, to: body) }
        var options = request.options
        // One additional row shows whether another page follows.
        options.top = min(options.top ?? .max, size == .max ? size : size + 1)
        var answer = try whole(ServiceRequest(path: request.path, options: options))
        guard case .entities(let rows) = answer.content, rows.count > size, let last = rows.prefix(Int(size)).last
        else { return answer }
        answer.content = .entities(Array(rows.prefix(Int(size))))
        answer.next = try next(request.options, after: last, size)
        return answer
    }

    private static let downloadFunctions: Set = [CanonicalFunction.upsertedLastDownload]

    package typealias RowReceiver = (consuming EntityRow) throws -> Void

    private func whole(
        _ request: ServiceRequest, only subset: PropertySubset? = nil, to body: RowReceiver? = nil
    ) throws -> Answer {
        if let answer = try appliedInSQL(request) { return answer }
        if let answer = try reachedInSQL(request, to: body) { return answer }
        if let answer = try answerInSQL(request, wantsCount: request.wantsCount, only: subset, to: body) {
            return answer
        }
        return try answerInMemory(request)
    }

    /// Returns the result from SQL, or nil if the request has to be answered in memory.
    func answerInSQL(
        _ request: ServiceRequest, wantsCount: Bool, only subset: PropertySubset? = nil, to body: RowReceiver? = nil
    ) throws -> Answer? {
        guard case .entitySet(let set)? = request.path.segments.first, request.options.apply.isEmpty,
            request.path.segments.dropFirst().allSatisfy({ $0 == .count || $0 == .ref }), !set.isSingleton
        else {
            state.connection.trace?.recordInMemory(
                "A path beyond the entity set, and $apply, are evaluated row by row.")
            return nil
        }
        do {
            var content = Answer.ResultContent.entities([])
            if request.path.target != .count {
                if let body {
                    try state.entityQueries.forEachRow(in: set, request.options, now: now, only: subset, body)
                    content = .delivered
                } else {
                    content = .entities(
                        try state.entityQueries.rows(in: set, request.options, now: now, only: subset))
                }
            }
            let count = wantsCount ? try state.entityQueries.count(in: set, request.options, now: now) : nil
            return Answer(content, count: count)
        } catch let error as EvaluationError {
            state.connection.trace?.recordInMemory(error.message)
            return nil
        }
    }

    func answerInMemory(_ request: ServiceRequest) throws -> Answer {
        let options = request.options
        switch try position(request.path) {
        case .value(let value): return try answer(value, request)
        case .rows(let found):
            if !options.apply.isEmpty { return try applied(found, request) }
            let rows = try passing(found, options, links: try linkStates(request))
            let count = request.wantsCount ? Int64(rows.count) : nil
            return Answer(
                .entities(try page(rows, options)), count: count, isSingle: request.path.isSingle)
        }
    }

    private func answer(_ value: Value, _ request: ServiceRequest) throws -> Answer {
        guard case .collection(let items) = value else {
            if request.path.target == .count { throw EvaluationError.refusal(of: .count) }
            return Answer(.value(value), isSingle: true)
        }
        let options = request.options
        let evaluator = evaluator(options)
        let passed = try options.filter.map { filter in
            try items.filter { try evaluator.isTrue(filter, forItem: $0) }
        }
        var found = passed ?? items
        let count = request.wantsCount ? Int64(found.count) : nil
        if !options.orderBy.isEmpty {
            let keyed = try found.map { (item: $0, keys: try evaluator.sortKeys(options.orderBy, forItem: $0)) }
            found = keyed.sortedStably { ExpressionEvaluator.precedes($0.keys, $1.keys, by: options.orderBy) }
                .map(\.item)
        }
        return Answer(.value(.collection(options.cut(found))), count: count)
    }

    /// Filters, sorts and truncates the targets of an expanded navigation property.
    ///
    /// - Returns: The targets, and the number of targets that match the filter.
    package func apply(_ options: QueryOptions, to rows: [EntityRow]) throws -> (rows: [EntityRow], count: Int64) {
        let passed = try passing(rows, options, links: [:])
        return (try page(passed, options), Int64(passed.count))
    }

    /// Returns the targets of a navigation property, in ascending order of entity ID.
    package func targets(of row: EntityRow, _ property: Property) throws(StateError) -> [EntityRow] {
        guard let end = property.navigation else { return [] }
        var targets: [EntityRow] = []
        for id in try state.targets(of: row.id, along: end) {
            guard let target = try state.row(id), model.shows(target.set, through: property, from: row.set) else {
                continue
            }
            targets.append(target)
        }
        return targets.sorted { $0.id < $1.id }
    }

    // MARK: Filter and order

    func evaluator(_ options: QueryOptions) -> ExpressionEvaluator {
        ExpressionEvaluator(now: now, aliases: options.aliases, model: model)
    }

    func filter(
        _ rows: [EntityRow], by filter: Expression, _ options: QueryOptions, links: [EntityID: LinkRow] = [:]
    ) throws -> [EntityRow] {
        let evaluator = evaluator(options)
        return try rows.filter { row in
            try evaluator.isTrue(filter, for: try scope(row, options, evaluator, link: links[row.id]))
        }
    }

    /// Returns the rows that match `$filter` and `$search`.
    private func passing(
        _ rows: [EntityRow], _ options: QueryOptions, links: [EntityID: LinkRow]
    ) throws -> [EntityRow] {
        var rows = rows
        if let filter = options.filter { rows = try self.filter(rows, by: filter, options, links: links) }
        if let search = options.search {
            rows = rows.filter { row in
                guard let type = model.findEntityType(row.type) else { return true }
                return SearchedTexts(type, options.select, model).matches(search, row.values)
            }
        }
        return rows
    }

    private func page(_ rows: [EntityRow], _ options: QueryOptions) throws -> [EntityRow] {
        guard !options.orderBy.isEmpty || options.skipToken != nil else { return options.cut(rows) }
        let evaluator = evaluator(options)
        var placed = try rows.map { row in
            let keys = try evaluator.sortKeys(options.orderBy, for: try scope(row, options, evaluator))
            return (row: row, place: SortPlace(keys: keys, entity: row.id))
        }
        if let token = options.skipToken {
            let last = try PagePosition(token: token, orderBy: options.orderBy).place
            placed = placed.filter { last.precedes($0.place, by: options.orderBy) }
        }
        return options.cut(placed.sorted { $0.place.precedes($1.place, by: options.orderBy) }.map(\.row))
    }

    private func next(_ options: QueryOptions, after last: EntityRow, _ size: Int64) throws -> QueryOptions {
        let evaluator = evaluator(options)
        let keys = try evaluator.sortKeys(options.orderBy, for: try scope(last, options, evaluator))
        var next = options
        next.skip = nil
        next.top = options.top.map { $0 - size }
        next.skipToken = PagePosition(keys: keys, entity: last.id, pageSize: size).token
        return next
    }

    // MARK: Entities as expressions see them

    /// Returns the entity for an expression, with the properties of `$compute`.
    func scope(
        _ row: EntityRow, _ options: QueryOptions, _ evaluator: ExpressionEvaluator, link: LinkRow? = nil
    ) throws -> EvaluationScope {
        let scope = scope(row, link: link)
        return options.compute.isEmpty
            ? scope : try evaluator.computing(options.compute, for: scope).scope
    }

    /// Returns the values of `$compute` for an entity.
    package func computed(_ row: EntityRow, _ options: QueryOptions) throws -> PropertyValues {
        try evaluator(options).computing(options.compute, for: scope(row)).values
    }

    /// Returns the entity for an expression.
    ///
    /// - Parameter link: The link to the entity, if the query is about links.
    package func scope(_ row: EntityRow, link: LinkRow? = nil) -> EvaluationScope {
        let type = model.findEntityType(row.type)
        var seen = EvaluationScope(
            property: { name in
                if let value = row.values[name] { return .value(value) }
                guard let property = type?.findProperty(name) else { return type?.isOpen == true ? .value(.null) : nil }
                guard property.isNavigation else { return .value(.null) }
                if let navigation { return navigation(row, property) }
                // If the views cannot be read, the entity seems to have no links; the next step of the query fails.
                let targets = (try? targets(of: row, property)) ?? []
                return property.isCollection
                    ? .entities(targets.map { scope($0) }) : .entity(targets.first.map { scope($0) })
            },
            isInstance: { model.isType(row.type, derivedFrom: $0) },
            state: { PendingStateFunctions(state: state, model: model).value(of: $0, row, link) }, type: type,
            identity: "\(row.id)")
        seen.root = { name in roots.operand(name) { scope($0) } }
        return seen
    }

    /// Returns the links of a query about links (`$links`, `$ref`), by target.
    private func linkStates(_ request: ServiceRequest) throws -> [EntityID: LinkRow] {
        guard request.options.filter != nil, case .references(let property?, _, _) = request.path.target,
            let end = property.navigation,
            let index = request.path.segments.lastIndex(where: { $0 == .navigation(property) })
        else { return [:] }
        var source = Array(request.path.segments[..<index])
        if source.last == .links { source.removeLast() }
        guard case .rows(let rows) = try position(ResourcePath(segments: source, target: request.path.target)) else {
            return [:]
        }
        var links: [EntityID: LinkRow] = [:]
        for row in rows {
            for link in try state.links(of: row.id, along: end) where link.inLocal {
                links[link.target(along: end)] = link
            }
        }
        return links
    }
}

extension ServiceRequest {
    var wantsCount: Bool { options.count == true || path.target == .count }

    /// Whether the result has pages: only collections of entities have.
    fileprivate var isPaged: Bool {
        switch path.target {
        case .entities, .references(_, _, isCollection: true): options.apply.isEmpty
        default: false
        }
    }
}

extension ResourcePath {
    fileprivate var isSingle: Bool {
        switch target {
        case .entity, .references(_, _, isCollection: false), .media: true
        default: false
        }
    }
}

extension QueryOptions {
    /// Returns the items that `$skip` and `$top` select.
    func cut<T>(_ items: [T]) -> [T] {
        Array(items.dropFirst(max(0, Int(clamping: skip ?? 0))).prefix(max(0, Int(clamping: top ?? .max))))
    }
}

extension Array {
    /// Sorts the items. Items that do not precede each other keep their order.
    func sortedStably(by precedes: (Element, Element) -> Bool) -> [Element] {
        enumerated().sorted { a, b in
            if precedes(a.element, b.element) { return true }
            return !precedes(b.element, a.element) && a.offset < b.offset
        }.map(\.element)
    }
}
