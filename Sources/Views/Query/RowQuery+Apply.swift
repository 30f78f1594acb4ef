import EDM
package import ODataQuery
import Operations
package import SyncCore

extension RowQuery {
    /// Evaluates `$apply`, and then the other options on its result.
    func applied(_ rows: [EntityRow], _ request: ServiceRequest) throws -> Answer {
        let found = try applied(rows, request.options, counts: request.wantsCount)
        return Answer(.applied(found.rows), count: found.count)
    }

    /// Evaluates `$apply` over the targets of an expanded navigation property, and then the other options on its result.
    package func applied(
        _ rows: [EntityRow], _ options: QueryOptions
    ) throws -> (rows: [AggregatedRow], count: Int64?) {
        try applied(rows, options, counts: options.count == true)
    }

    private func applied(
        _ rows: [EntityRow], _ options: QueryOptions, counts: Bool
    ) throws -> (rows: [AggregatedRow], count: Int64?) {
        let evaluator = evaluator(options)
        let input = rows.enumerated().map { ApplyRow(scope: scope($0.element), source: $0.offset) }
        let found = try finish(
            evaluation(evaluator, rows).apply(options.apply, to: input), options, counts: counts, rows)
        return (found.rows.map { AggregatedRow(entity: $0.source.map { rows[$0] }, values: $0.values) }, found.count)
    }

    /// Evaluates `$apply` by reading only the columns that the transformations refer to. Returns nil if that is
    /// impossible.
    ///
    /// SQL applies the `filter` transformations at the start. Aggregations are evaluated in memory, because numbers in
    /// SQL are not exact.
    func appliedInSQL(_ request: ServiceRequest) throws -> Answer? {
        guard !request.options.apply.isEmpty else { return nil }
        let options = request.options
        guard Transformation.makesRows(options.apply), request.path.segments.count == 1,
            case .entitySet(let set)? = request.path.segments.first, !set.isSingleton, !set.entityType.isOpen
        else { return nil }
        var conditions: [Expression] = []
        var sequence = options.apply[...]
        while case .filter(let condition)? = sequence.first {
            conditions.append(condition)
            sequence.removeFirst()
        }
        let named = ReferencedPaths(Array(sequence), options)
        guard !named.isIncomplete else { return nil }
        do {
            var filter = QueryOptions()
            filter.filter = Expression.all(of: conditions)
            filter.aliases = options.aliases
            let scopes = try state.entityQueries.scopes(of: set, named.paths, filter, now: now)
            let evaluator = evaluator(options)
            let made = try evaluation(evaluator, []).apply(
                Array(sequence), to: scopes.map { ApplyRow(scope: $0, source: nil) })
            let found = try finish(made, options, counts: request.wantsCount, [])
            state.connection.trace?.recordInMemory("$apply is evaluated in memory.")
            return Answer(
                .applied(found.rows.map { AggregatedRow(entity: nil, values: $0.values) }), count: found.count)
        } catch let error as EvaluationError {
            state.connection.trace?.recordInMemory(error.message)
            return nil
        }
    }

    func evaluation(_ evaluator: ExpressionEvaluator, _ rows: [EntityRow]) -> ApplyEvaluation {
        ApplyEvaluation(evaluator) { row in
            var values = row.source.map { rows[$0].values } ?? PropertyValues()
            values.merge(row.values)
            return values.flatMap { SearchedTexts.texts(of: $0.value) }
        }
    }

    /// Applies the options after `$apply`, as the equivalent transformations.
    private func finish(
        _ rows: [ApplyRow], _ options: QueryOptions, counts: Bool, _ entities: [EntityRow]
    ) throws -> (rows: [ApplyRow], count: Int64?) {
        let evaluation = evaluation(evaluator(options), entities)
        var filters: [Transformation] = []
        if !options.compute.isEmpty { filters.append(.compute(options.compute)) }
        if let filter = options.filter { filters.append(.filter(filter)) }
        if let search = options.search { filters.append(.search(search)) }
        let passed = try evaluation.apply(filters, to: rows)
        let sorted = options.orderBy.isEmpty ? passed : try evaluation.apply([.orderBy(options.orderBy)], to: passed)
        return (options.cut(sorted), counts ? Int64(passed.count) : nil)
    }
}
