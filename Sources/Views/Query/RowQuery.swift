public import EDM
public import ODataWire
import Operations
public import SyncCore

/// Answers the path and every query option but `$select` and `$expand` from the views.
///
/// A query over a whole set is compiled to SQL. What SQL does not answer, and what a path narrows down, is filtered and
/// sorted in memory by the evaluator that is also the measure of the SQL, so that a query means the same either way. So is what
/// SQL refuses for a row's sake: SQLite may look at conditions in another order, and at a row that the evaluator does not ask.
public struct RowQuery {
    let state: SQLiteState
    let model: EntityDataModel
    /// What `now()` is.
    let now: GlobalDateTime?
    /// What a navigation property of rows leads to that are in no table of the views.
    let navigation: ((EntityRow, Property) -> EvaluationOperand)?

    public init(
        state: SQLiteState, model: EntityDataModel, now: GlobalDateTime? = nil,
        navigation: ((EntityRow, Property) -> EvaluationOperand)? = nil
    ) {
        self.state = state
        self.model = model
        self.now = now
        self.navigation = navigation
    }

    /// What a query found, before `$select` and `$expand`.
    public struct Answer {
        public var content: Content
        /// Without `$top` and `$skip`; nil where the query did not ask.
        public var count: Int64?
        public var isSingle: Bool
        /// The options that lead to the next page; nil on the last one.
        public var next: QueryOptions?

        public init(_ content: Content, count: Int64? = nil, isSingle: Bool = false) {
            self.content = content
            self.count = count
            self.isSingle = isSingle
        }

        public enum Content {
            case entities([EntityRow])
            /// Of a property; `$filter`, `$orderby`, `$skip` and `$top` have been applied to a collection.
            case value(Value)
            /// What `$apply` made of the entities.
            case applied([AppliedRow])
        }
    }

    /// One row of the result of `$apply`.
    public struct AppliedRow {
        /// The entity that the row still is; nil where rows were put together.
        public var entity: EntityRow?
        /// What was computed and aggregated; for a row that is no entity, all of it.
        public var values: PropertyValues
    }

    /// - Parameter pageSize: how many entities at most come at once; further ones are behind ``Answer/next``.
    public func answer(_ request: ServiceRequest, pageSize: Int64? = nil) throws -> Answer {
        if request.expressions.contains(where: { $0.calls([.upsertedLastDownload]) }) { state.readsLastDownload = true }
        var options = request.options
        var size = pageSize
        // A next link goes on in pages of the same size.
        if size == nil, let token = options.skipToken {
            size = try PagePosition(token: token, orderBy: options.orderBy).pageSize
        }
        guard let size, request.isPaged else { return try whole(request) }
        // One more tells whether another page follows.
        options.top = min(options.top ?? .max, size == .max ? size : size + 1)
        var answer = try whole(ServiceRequest(path: request.path, options: options))
        guard case .entities(let rows) = answer.content, rows.count > size, let last = rows.prefix(Int(size)).last
        else { return answer }
        answer.content = .entities(Array(rows.prefix(Int(size))))
        answer.next = try next(request.options, behind: last, size)
        return answer
    }

    private func whole(_ request: ServiceRequest) throws -> Answer {
        if let answer = try appliedInSQL(request) { return answer }
        if let answer = try reachedInSQL(request) { return answer }
        if let answer = try answerInSQL(request, wantsCount: request.wantsCount) { return answer }
        return try answerInMemory(request)
    }

    /// Nil for what has to be answered in memory.
    func answerInSQL(_ request: ServiceRequest, wantsCount: Bool) throws -> Answer? {
        guard case .entitySet(let set)? = request.path.segments.first, request.options.apply.isEmpty,
            request.path.segments.dropFirst().allSatisfy({ $0 == .count || $0 == .ref }), !set.isSingleton
        else {
            state.connection.trace?.noteInMemory(
                "A path that goes on behind the entity set, and $apply, are worked out row by row.")
            return nil
        }
        do {
            var rows: [EntityRow] = []
            if request.path.target != .count {
                rows = try state.rows(in: set, request.options, now: now)
            }
            let count = wantsCount ? try state.count(in: set, request.options, now: now) : nil
            return Answer(.entities(rows), count: count)
        } catch let error as EvaluationError {
            state.connection.trace?.noteInMemory(error.message)
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
            if request.path.target == .count { throw Self.refusal(of: .count) }
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

    /// Filters, sorts and cuts the targets of an expanded navigation property.
    ///
    /// - Returns: them, and how many pass the filter.
    public func apply(_ options: QueryOptions, to rows: [EntityRow]) throws -> (rows: [EntityRow], count: Int64) {
        let passed = try passing(rows, options, links: [:])
        return (try page(passed, options), Int64(passed.count))
    }

    /// What a navigation property leads to, in ascending order of entity ID.
    public func targets(of row: EntityRow, _ property: Property) throws(StateError) -> [EntityRow] {
        guard let end = property.navigation else { return [] }
        var targets: [EntityRow] = []
        for id in try state.targets(of: row.id, along: end) {
            if let target = try state.row(id) { targets.append(target) }
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

    /// The rows that `$filter` and `$search` let through.
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
        var keyed = try rows.map { row in
            (row: row, keys: try evaluator.sortKeys(options.orderBy, for: try scope(row, options, evaluator)))
        }
        if let token = options.skipToken {
            let position = try PagePosition(token: token, orderBy: options.orderBy)
            keyed = keyed.filter { position.precedes($0.keys, $0.row.id, by: options.orderBy) }
        }
        return options.cut(
            keyed.sorted { a, b in
                if ExpressionEvaluator.precedes(a.keys, b.keys, by: options.orderBy) { return true }
                if ExpressionEvaluator.precedes(b.keys, a.keys, by: options.orderBy) { return false }
                return a.row.id < b.row.id
            }.map(\.row))
    }

    private func next(_ options: QueryOptions, behind last: EntityRow, _ size: Int64) throws -> QueryOptions {
        let evaluator = evaluator(options)
        let keys = try evaluator.sortKeys(options.orderBy, for: try scope(last, options, evaluator))
        var next = options
        next.skip = nil
        next.top = options.top.map { $0 - size }
        next.skipToken = PagePosition(keys: keys, entity: last.id, pageSize: size).token
        return next
    }

    // MARK: Entities as expressions see them

    /// With what `$compute` adds.
    func scope(
        _ row: EntityRow, _ options: QueryOptions, _ evaluator: ExpressionEvaluator, link: LinkRow? = nil
    ) throws -> EvaluationScope {
        let scope = scope(row, link: link)
        return options.compute.isEmpty
            ? scope : scope.adding(try evaluator.computed(options.compute, for: scope))
    }

    /// The values of `$compute` for an entity.
    public func computed(_ row: EntityRow, _ options: QueryOptions) throws -> PropertyValues {
        try evaluator(options).computed(options.compute, for: scope(row))
    }

    /// The entity as expressions see it.
    ///
    /// - Parameter link: where the question is about links, the one to the entity.
    package func scope(_ row: EntityRow, link: LinkRow? = nil) -> EvaluationScope {
        let type = model.findEntityType(row.type)
        return EvaluationScope(
            property: { name in
                if let value = row.values[name] { return .value(value) }
                guard let property = type?.findProperty(name) else { return type?.isOpen == true ? .value(.null) : nil }
                guard property.isNavigation else { return .value(.null) }
                if let navigation { return navigation(row, property) }
                // A view that cannot be read shows no links; the query itself fails at its next step.
                let targets = (try? targets(of: row, property)) ?? []
                return property.isCollection
                    ? .entities(targets.map { scope($0) }) : .entity(targets.first.map { scope($0) })
            },
            isInstance: { model.isType(row.type, derivedFrom: $0) },
            state: { answer($0, row, link) }, type: type,
            identity: "\(row.id)")
    }

    /// The offline functions of filters. Those of a link are its own: it is local as long as the service does not know it,
    /// and in error if the service refused the operation that makes it.
    private func answer(_ function: CanonicalFunction, _ row: EntityRow, _ link: LinkRow?) -> Bool {
        let standing = link == nil ? (try? state.standing(of: row.id)) ?? .clean : .clean
        let isClean = link.map { $0.inBase == $0.inLocal } ?? (standing == .clean)
        return switch function {
        case .isLocal: !isClean || link == nil && row.origin == .local
        case .hasPendingChanges: !isClean
        case .isInErrorState:
            if let link { !isClean && ((try? state.isRefused(link, model)) ?? false) } else { standing == .rejected }
        case .upsertedLastDownload: (try? state.header()).map(row.isUpserted(inLastDownloadOf:)) ?? false
        default: false
        }
    }

    /// Of a query about links (`$links`, `$ref`): each by the entity that it leads to.
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

    /// Only collections of entities come in pages.
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
    /// `$skip` and `$top`.
    func cut<T>(_ items: [T]) -> [T] {
        Array(items.dropFirst(max(0, Int(clamping: skip ?? 0))).prefix(max(0, Int(clamping: top ?? .max))))
    }
}

extension Array {
    /// Items of which neither precedes the other keep their order.
    func sortedStably(by precedes: (Element, Element) -> Bool) -> [Element] {
        enumerated().sorted { a, b in
            if precedes(a.element, b.element) { return true }
            return !precedes(b.element, a.element) && a.offset < b.offset
        }.map(\.element)
    }
}
