import EDM
import ODataQuery
import Operations
import SyncCore
import Views

/// A query over the views that returns results in the app's form: it adds `$select` and `$expand` to ``RowQuery``.
struct LocalQuery {
    private let views: SQLiteState
    let query: RowQuery
    let reader: SnapshotReader
    let model: EntityDataModel

    /// Creates a query.
    ///
    /// - Parameter time: The value of `now()`, in milliseconds since 1970.
    init(views: SQLiteState, state: WorkingSet, forms: LinkForms, time: Timestamp) {
        self.views = views
        model = forms.model
        query = RowQuery(state: views, model: model, now: GlobalDateTime(millisecondsSince1970: time))
        reader = SnapshotReader(state: state, forms: forms)
    }

    /// The paging of a result.
    struct Page {
        /// The beginning of the next link, percent-encoded.
        var path: String
        /// The page size; nil for a single page, unless the query is a next link.
        var size: Int64?
        /// The page size if neither the call nor the query sets one.
        var usualSize: Int64?

        /// Returns the page size. A next link keeps the size that it began with.
        func size(for options: QueryOptions) -> Int64? { size ?? (options.skipToken == nil ? usualSize : nil) }
    }

    /// Returns an entity with the effects of `$compute`, `$expand` and `$select`.
    func entity(_ row: EntityRow, _ options: QueryOptions) throws -> EntitySnapshot {
        do {
            return try shape([row], try options.resolvingAliases())[0]
        } catch let error as EvaluationError {
            throw TidelogError(error)
        }
    }

    func answer(_ request: ServiceRequest, _ page: Page? = nil) throws -> QueryAnswer {
        do {
            return try answer(resolved: try request.resolvingAliases(), page)
        } catch let error as EvaluationError {
            throw TidelogError(error)
        }
    }

    /// Returns the result of a request without aliases.
    func answer(resolved request: ServiceRequest, _ page: Page?) throws -> QueryAnswer {
        do {
            return try views.reading { try plainAnswer(request, page) }
        } catch let error as EvaluationError {
            throw TidelogError(error)
        }
    }

    private func plainAnswer(_ request: ServiceRequest, _ page: Page?) throws -> QueryAnswer {
        guard request.options.deltaToken == nil else {
            throw EvaluationError(.unsupported, "The store does not return deltas. Request them from the service.")
        }
        var delivered: [EntitySnapshot] = []
        let found = try find(request, page, &delivered)
        var answer = QueryAnswer(entities: [], count: found.count, isSingle: found.isSingle)
        switch (request.path.target, found.content) {
        case (.count, _): answer.form = .count
        case (.references, .entities(let rows)):
            answer.form = .references
            answer.entities = try rows.map { try reader.reference($0) }
        case (.media, _):
            throw EvaluationError(.unsupported, "A query cannot read the content of a media entity.")
        case (_, .entities(let rows)):
            answer.entities = try shape(rows, request.options)
        case (_, .delivered):
            try complete(&delivered, request.options)
            answer.entities = delivered
        case (_, .applied(let rows)):
            answer.entities = try rows.map {
                try shape($0, request.options, ofType: request.path.queriedType?.name ?? "")
            }
        case (.rawValue, .value(let value)):
            guard value != .null else { throw EvaluationError(.notFound, "The property is null and has no raw value.") }
            answer.form = .rawValue(value)
        case (.value(let type), .value(let value)):
            let isDynamic = type == TypeReference(.primitive(.untyped))
            answer.form = .value(value, isDynamic ? nil : type)
        case (_, .value(let value)): answer.form = .value(value, nil)
        }
        if let next = found.next, let page {
            answer.nextLink = "\(page.path)?\(try next.print(version: model.version))"
        }
        return answer
    }

    /// Returns the result before `$select` and `$expand`, with its entities in `snapshots` if the rows themselves are
    /// not needed and SQL finds them.
    private func find(
        _ request: ServiceRequest, _ page: Page?, _ snapshots: inout [EntitySnapshot]
    ) throws -> RowQuery.Answer {
        let (size, subset) = (page?.size(for: request.options), Selection.needed(for: request, model))
        guard case .entities = request.path.target, request.options.compute.isEmpty else {
            return try query.answer(request, pageSize: size, only: subset)
        }
        var converter = try reader.converter()
        snapshots.reserveCapacity(EntityQueries.expectedCount(request.options))
        func receive(_ row: consuming EntityRow) { snapshots.append(converter.snapshot(row)) }
        return try withoutActuallyEscaping(receive) { try query.answer(request, pageSize: size, only: subset, to: $0) }
    }

    /// Returns entities with the effects of `$compute`, `$expand` and `$select`.
    ///
    /// - Parameter way: The path of expanded entities.
    func shape(_ rows: [EntityRow], _ options: QueryOptions, _ way: ExpansionPath = ExpansionPath()) throws
        -> [EntitySnapshot]
    {
        var snapshots = try reader.snapshots(rows)
        if !options.compute.isEmpty {
            for (place, row) in rows.enumerated() {
                snapshots[place].values.merge(try query.computed(row, options))
            }
        }
        try complete(&snapshots, options, way)
        return snapshots
    }

    /// Applies `$expand` and `$select`.
    func complete(
        _ snapshots: inout [EntitySnapshot], _ options: QueryOptions, _ way: ExpansionPath = ExpansionPath()
    ) throws {
        if way.depth < QueryLimits.height, !options.expand.isEmpty { try expand(&snapshots, options, way) }
        guard !options.select.isEmpty else { return }
        var selection = Selection(options.select, model)
        for place in snapshots.indices { selection.cut(&snapshots[place]) }
    }

    /// Returns a row of `$apply`: an entity with additional values, or values without an identity.
    func shape(_ row: RowQuery.AggregatedRow, _ options: QueryOptions, ofType type: String) throws -> EntitySnapshot {
        var options = options
        // The computed values are already included.
        options.compute = []
        if let entity = row.entity {
            var snapshot = try shape([entity], options)[0]
            snapshot.values.merge(row.values)
            var selection = Selection(options.select, model)
            selection.cut(&snapshot)
            return snapshot
        }
        guard options.expand.isEmpty else {
            throw EvaluationError(.unsupported, "Aggregated rows have no navigation properties to expand.")
        }
        var snapshot = EntitySnapshot(
            set: "", type: type, values: row.values, readLink: "", editLink: "")
        var selection = Selection(options.select, model)
        selection.cut(&snapshot)
        return snapshot
    }
}

extension TidelogError {
    init(_ error: EvaluationError) {
        let code: Code =
            switch error.code {
            case .unsupported: .unsupported
            case .notFound: .notFound
            default: .invalidRequest
            }
        self.init(code, error.message, cause: error)
    }
}
