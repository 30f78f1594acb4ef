import EDM
import ODataWire
import Operations
import SyncCore
import Views

/// A query over the views with its answer in the app's form: `$select` and `$expand` on top of ``RowQuery``.
struct LocalQuery {
    let query: RowQuery
    let reader: SnapshotReader
    let model: EntityDataModel

    /// - Parameter time: what `now()` is, in milliseconds since 1970.
    init(state: SQLiteState, model: EntityDataModel, time: Timestamp) throws {
        self.model = model
        query = RowQuery(
            state: state, model: model, now: GlobalDateTime(millisecondsSince1970: time))
        reader = try SnapshotReader(state: state, model: model, prefetch: query.prefetch)
    }

    /// How an answer is cut into pages.
    struct Page {
        /// What the next link begins with, percent-encoded.
        var path: String
        /// Nil: one page, unless the query is a next link itself.
        var size: Int64?
    }

    func answer(_ request: ServiceRequest, _ page: Page? = nil) throws -> QueryAnswer {
        do {
            return try plainAnswer(request, page)
        } catch let error as EvaluationError {
            throw TidelogError(error)
        }
    }

    private func plainAnswer(_ request: ServiceRequest, _ page: Page?) throws -> QueryAnswer {
        let request = try request.resolvingAliases()
        guard request.options.deltaToken == nil else {
            throw EvaluationError(.unsupported, "The store has no deltas of its own; ask the service.")
        }
        let found = try query.answer(request, pageSize: page?.size)
        var answer = QueryAnswer(entities: [], count: found.count, isSingle: found.isSingle)
        switch (request.path.target, found.content) {
        case (.count, _): answer.form = .count
        case (.references, .entities(let rows)):
            answer.form = .references
            answer.entities = try rows.map { try reader.reference($0) }
        case (.media, _):
            throw EvaluationError(.unsupported, "The content of a media entity is not read by a query.")
        case (_, .entities(let rows)): answer.entities = try shape(rows, request.options)
        case (_, .applied(let rows)): answer.entities = try rows.map { try shape($0, request) }
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

    /// Entities with what `$compute`, `$expand` and `$select` say.
    ///
    /// - Parameter above: for expanded entities, those that they were reached from.
    func shape(
        _ rows: [EntityRow], _ options: QueryOptions, above: [EntityID] = []
    ) throws -> [EntitySnapshot] {
        // With what is expanded on all levels below.
        if above.isEmpty { try query.prefetch.read(rows, options) }
        return try rows.map { row in
            var snapshot = try reader.snapshot(row)
            if !options.compute.isEmpty { snapshot.values.merge(try query.computed(row, options)) }
            if above.count < QueryLimits.height, !options.expand.isEmpty {
                snapshot.expanded = try expand(row, options, above: above)
            }
            select(&snapshot, options)
            return snapshot
        }
    }

    /// A row that `$apply` made: the entity that it still is with what was added, or values without an identity.
    private func shape(_ row: RowQuery.AppliedRow, _ request: ServiceRequest) throws -> EntitySnapshot {
        var options = request.options
        // What it adds is among the values.
        options.compute = []
        if let entity = row.entity {
            var snapshot = try shape([entity], options)[0]
            snapshot.values.merge(row.values)
            select(&snapshot, options)
            return snapshot
        }
        guard options.expand.isEmpty else {
            throw EvaluationError(.unsupported, "Rows that were put together have nothing to expand.")
        }
        var snapshot = EntitySnapshot(
            set: "", type: request.path.queriedType?.name ?? "", values: row.values, readLink: "", editLink: "")
        select(&snapshot, options)
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
