package import EDM

/// An instance in the input or output of `$apply`.
package struct ApplyRow {
    /// The instance as seen by expressions.
    package var scope: EvaluationScope
    /// The index of the input entity, or nil if the instance combines several.
    package var source: Int?
    /// The computed and aggregated values. For an instance that is not an entity, all of its values.
    ///
    /// Paths through navigation properties are complex values.
    package var values: PropertyValues

    package init(scope: EvaluationScope, source: Int?, values: PropertyValues = PropertyValues()) {
        self.scope = scope
        self.source = source
        self.values = values
    }

    /// Creates an instance that consists of values only.
    package init(_ values: PropertyValues) {
        self.init(scope: EvaluationScope(values), source: nil, values: values)
    }
}

/// Evaluates `$apply` in memory, exactly (OData Extension for Data Aggregation 4.0, section 3).
///
/// Transformations that only a service can evaluate throw `unsupported`: custom aggregates and methods, set
/// transformations of the service, hierarchies, `nest`, `addnested` and `join`.
package struct ApplyEvaluation {
    private let evaluator: ExpressionEvaluator
    /// Returns the texts of an instance that `search` examines.
    private let texts: (ApplyRow) -> [String]

    package init(_ evaluator: ExpressionEvaluator, texts: @escaping (ApplyRow) -> [String]) {
        self.evaluator = evaluator
        self.texts = texts
    }

    package func apply(_ sequence: [Transformation], to rows: [ApplyRow]) throws(EvaluationError) -> [ApplyRow] {
        var rows = rows
        for transformation in sequence { rows = try apply(transformation, to: rows) }
        return rows
    }

    private func apply(_ transformation: Transformation, to rows: [ApplyRow]) throws(EvaluationError) -> [ApplyRow] {
        switch transformation {
        case .identity: return rows
        case .top(let count): return Array(rows.prefix(Int(clamping: count)))
        case .skip(let count): return Array(rows.dropFirst(Int(clamping: count)))
        case .filter(let condition):
            var passed: [ApplyRow] = []
            let these = rows.map(\.scope)
            for row in rows where try value(condition, row, these) == .boolean(true) { passed.append(row) }
            return passed
        case .search(let search): return rows.filter { search.matches(texts($0)) }
        case .orderBy(let items): return try sorted(rows, by: items)
        case .compute(let items):
            let these = rows.map(\.scope)
            var result: [ApplyRow] = []
            for row in rows { result.append(try computing(items, row, these)) }
            return result
        case .aggregate(let items): return [try aggregated(items, rows)]
        case .groupBy(let items, let inner): return try grouped(rows, items, inner)
        case .concat(let sequences):
            var result: [ApplyRow] = []
            for sequence in sequences { result += try apply(sequence, to: rows) }
            return result
        case .ranked(let ranking, let amount, let key): return try ranked(rows, ranking, amount, key)
        case .nest, .addNested, .join, .relatives, .traverse, .function:
            throw EvaluationError(
                .unsupported, "Only the service can evaluate the transformation \(transformation.name).")
        }
    }

    private func value(
        _ expression: Expression, _ row: ApplyRow, _ these: [EvaluationScope]
    ) throws(EvaluationError) -> Value {
        var run = EvaluationRun(evaluator: evaluator, it: .entity(row.scope), these: these)
        return try run.value(of: expression)
    }

    private func computing(
        _ items: [ComputeItem], _ row: ApplyRow, _ these: [EvaluationScope]
    ) throws(EvaluationError) -> ApplyRow {
        var row = row
        let (values, scope) = try evaluator.computing(items, for: row.scope, these: these)
        row.scope = scope
        row.values.merge(values)
        return row
    }

    private func sorted(_ rows: [ApplyRow], by items: [OrderItem]) throws(EvaluationError) -> [ApplyRow] {
        let these = rows.map(\.scope)
        var keyed: [(keys: [Value], place: Int)] = []
        for (place, row) in rows.enumerated() {
            var keys: [Value] = []
            for item in items {
                var run = EvaluationRun(evaluator: evaluator, it: .entity(row.scope), these: these)
                keys.append(try run.sortKey(item.expression))
            }
            keyed.append((keys, place))
        }
        return keyed.sorted { a, b in
            if ExpressionEvaluator.precedes(a.keys, b.keys, by: items) { return true }
            return !ExpressionEvaluator.precedes(b.keys, a.keys, by: items) && a.place < b.place
        }.map { rows[$0.place] }
    }

    // MARK: Aggregates and groups

    private func aggregated(_ items: [AggregateItem], _ rows: [ApplyRow]) throws(EvaluationError) -> ApplyRow {
        let scopes = rows.map(\.scope)
        let aggregation = Aggregation(evaluator: evaluator, these: scopes)
        let operands = scopes.map { EvaluationOperand.entity($0) }
        var values = PropertyValues()
        for item in items {
            guard let name = item.resultName else { continue }
            values[name] = try aggregation.value(of: item, over: operands)
        }
        var row = ApplyRow(values)
        for item in items {
            guard let name = item.resultName, case .enumeration? = values[name],
                case .values(let expression, _) = item.subject
            else { continue }
            row.scope.enumerations[name] =
                scopes.lazy.compactMap { scope in
                    EvaluationRun(evaluator: evaluator, it: .entity(scope)).enumerationType(expression)
                }.first
        }
        return row
    }

    fileprivate struct Group {
        /// The values that the rows have in common.
        var values = PropertyValues()
        /// The single-valued navigation properties that the rows have in common.
        var entities: [String: EvaluationOperand] = [:]
        var rows: [ApplyRow] = []
    }

    private func grouped(
        _ rows: [ApplyRow], _ items: [GroupingItem], _ inner: [Transformation]
    ) throws(EvaluationError) -> [ApplyRow] {
        var result: [ApplyRow] = []
        for paths in try Self.groupings(items) { result += try grouped(rows, by: paths, inner) }
        return result
    }

    /// Returns the groupings to compute: for `rollup`, all of its levels, then one level less each time (section
    /// 3.2.3.2).
    private static func groupings(_ items: [GroupingItem]) throws(EvaluationError) -> [[ExpressionPath]] {
        var groupings: [[ExpressionPath]] = [[]]
        for item in items {
            var alternatives: [[ExpressionPath]] = []
            switch item {
            case .property(let path): alternatives = [[path]]
            case .rollup(let levels):
                guard levels.count > 1, levels.allSatisfy({ !$0.segments.isEmpty }) else {
                    throw EvaluationError(.unsupported, "Only the service can evaluate a hierarchy given by its name.")
                }
                alternatives = levels.indices.reversed().map { Array(levels[...$0]) }
            case .recursiveRollup:
                throw EvaluationError(.unsupported, "Only the service can evaluate rolluprecursive.")
            }
            groupings = groupings.flatMap { grouping in alternatives.map { grouping + $0 } }
            guard groupings.count <= 256 else {
                throw EvaluationError(.unsupported, "The grouping has too many levels.")
            }
        }
        return groupings
    }

    private func grouped(
        _ rows: [ApplyRow], by paths: [ExpressionPath], _ inner: [Transformation]
    ) throws(EvaluationError) -> [ApplyRow] {
        var places: [[GroupKey]: Int] = [:]
        var groups: [Group] = []
        for row in rows {
            var key: [GroupKey] = []
            var group = Group()
            for path in paths { key.append(try add(path, of: row, to: &group)) }
            let place = places[key] ?? groups.count
            if place == groups.count {
                places[key] = place
                groups.append(group)
            }
            groups[place].rows.append(row)
        }
        var result: [ApplyRow] = []
        for group in groups {
            guard !inner.isEmpty else {
                result.append(group.adding(to: ApplyRow(PropertyValues())))
                continue
            }
            result += try apply(inner, to: group.rows).map { group.adding(to: $0) }
        }
        return result
    }

    /// Follows the path and adds its value to the group's values, nested like the path.
    private func add(
        _ path: ExpressionPath, of row: ApplyRow, to group: inout Group
    ) throws(EvaluationError) -> GroupKey {
        var run = EvaluationRun(evaluator: evaluator, it: .entity(row.scope))
        var position = EvaluationOperand.entity(row.scope)
        var names: [String] = []
        for segment in path.segments {
            position = try run.step(segment, from: position)
            if case .property(let name) = segment { names.append(name) }
            // A missing entity is null, and the rest of the path is not followed.
            if case .entity(nil) = position { break }
        }
        switch position {
        case .entity(nil): group.values.set(.null, at: names[...])
        case .value(let value): group.values.set(value, at: names[...])
        case .entity, .entities:
            guard names.count == 1 else {
                throw EvaluationError(
                    .unsupported, "Only the service can group by the entity at the end of a path.")
            }
            group.entities[names[0]] = position
        }
        return run.groupKey(of: position, at: path)
    }

    // MARK: Ranking

    private func ranked(
        _ rows: [ApplyRow], _ ranking: Transformation.Ranking, _ amount: Expression, _ key: Expression
    ) throws(EvaluationError) -> [ApplyRow] {
        let these = rows.map(\.scope)
        let limit = try value(amount, ApplyRow(PropertyValues()), these)
        guard limit.decimalValue != nil else {
            throw EvaluationError(.wrongOperand, "\(ranking.rawValue) requires a number, not \(limit.kindName).")
        }
        var keyed: [(key: Value, place: Int)] = []
        // A sum needs the values; a count the order, which for enumeration members is that of their numbers.
        let counts = ranking == .topcount || ranking == .bottomcount
        for (place, row) in rows.enumerated() {
            var run = EvaluationRun(evaluator: evaluator, it: .entity(row.scope), these: these)
            keyed.append((counts ? try run.sortKey(key) : try run.value(of: key), place))
        }
        keyed.sort { a, b in
            switch a.key.sortOrder(to: b.key) {
            case .same: a.place < b.place
            case .ascending: !ranking.isTop
            case .descending: ranking.isTop
            }
        }
        let taken = try count(keyed.map(\.key), ranking, limit)
        // Keeps the order of the input.
        return keyed.prefix(taken).map(\.place).sorted().map { rows[$0] }
    }

    private func count(
        _ keys: [Value], _ ranking: Transformation.Ranking, _ limit: Value
    ) throws(EvaluationError) -> Int {
        var goal = limit
        switch ranking {
        case .topcount, .bottomcount:
            let whole = try ValueArithmetic.round(limit, .down).decimalValue
            return max(0, Int(clamping: whole?.int64Value ?? .max))
        case .toppercent, .bottompercent:
            var total = Aggregate(method: .sum)
            for key in keys { try total.add(.value(key)) }
            let sum = try total.result()
            if sum == .null { return 0 }
            goal = try ValueArithmetic.apply(.divby, ValueArithmetic.apply(.mul, sum, limit), .integer(100))
        case .topsum, .bottomsum: break
        }
        var sum = Value.integer(0)
        let isNegative = goal.sortOrder(to: sum) == .ascending
        for (count, key) in keys.enumerated() {
            let order = sum.sortOrder(to: goal)
            if isNegative ? order != .descending : order != .ascending { return count }
            if key != .null { sum = try ValueArithmetic.apply(.add, sum, key) }
        }
        return keys.count
    }
}

extension ApplyEvaluation.Group {
    /// Returns the instance with the values of its group, which precede its own.
    fileprivate func adding(to row: ApplyRow) -> ApplyRow {
        // An entity has the values already.
        guard row.source == nil else { return row }
        var merged = values
        merged.merge(row.values)
        let own = row.scope.property
        var scope = EvaluationScope { [merged, entities] name in
            merged[name].map { .value($0) } ?? entities[name] ?? own(name)
        }
        // The paths to the values that the rows have in common are those of the rows.
        scope.type = rows.first?.scope.type
        scope.enumerations = (rows.first?.scope.enumerations ?? [:]).merging(row.scope.enumerations) { $1 }
        return ApplyRow(scope: scope, source: nil, values: merged)
    }
}

extension PropertyValues {
    /// Sets the value at a path, creating complex values along it.
    fileprivate mutating func set(_ value: Value, at names: ArraySlice<String>) {
        guard let first = names.first else { return }
        guard names.count > 1 else {
            self[first] = value
            return
        }
        var inner = self[first]?.complexValue?.properties ?? PropertyValues()
        inner.set(value, at: names.dropFirst())
        self[first] = .complex(ComplexValue(properties: inner))
    }
}
