internal import EDM

/// Computes aggregates over instances (OData Extension for Data Aggregation 4.0, section 3.1.4).
struct Aggregation {
    let evaluator: ExpressionEvaluator
    let these: [EvaluationScope]?

    func value(of item: AggregateItem, over rows: [EvaluationOperand]) throws(EvaluationError) -> Value {
        try value(of: item, over: rows, steps: item.steps[...])
    }

    /// Computes an aggregate. If steps are left, groups by the outermost one and aggregates the results of its groups.
    private func value(
        of item: AggregateItem, over rows: [EvaluationOperand], steps: ArraySlice<AggregateItem.Step>
    ) throws(EvaluationError) -> Value {
        guard let step = steps.last else { return try plainValue(of: item, over: rows) }
        guard let method = step.method else { throw Self.unsupported(item) }
        var values = Aggregate(method: method)
        for group in try groups(rows, by: step.properties) {
            let result = EvaluationOperand.value(try value(of: item, over: group, steps: steps.dropLast()))
            if result.isMember, values.enumeration == nil, case .values(.path(let path), _) = item.subject {
                values.enumeration = enumeration(path, rows)
            }
            try values.add(result)
        }
        return try values.result()
    }

    /// Returns the type of the enumeration members at the end of a path.
    private func enumeration(_ path: ExpressionPath, _ rows: [EvaluationOperand]) -> EnumerationType? {
        rows.lazy.compactMap { run($0).enumerationType(path) }.first
    }

    private func plainValue(
        of item: AggregateItem, over rows: [EvaluationOperand]
    ) throws(EvaluationError) -> Value {
        switch item.subject {
        case .custom: throw Self.unsupported(item)
        case .count(let path):
            let prefix = Array(path.segments.dropLast())
            let count =
                prefix.isEmpty
                ? rows.count : try occurrences(ExpressionPath(root: path.root, segments: prefix), rows).count
            return Self.number(count)
        case .values(let expression, let method):
            if case .custom = method { throw Self.unsupported(item) }
            var values = Aggregate(method: method)
            if case .path(let path) = expression {
                let found = try occurrences(path, rows)
                if found.contains(where: \.isMember) { values.enumeration = enumeration(path, rows) }
                for occurrence in found { try values.add(occurrence) }
            } else {
                for row in rows { try values.add(try operand(expression, row)) }
            }
            return try values.result()
        }
    }

    /// Returns a count as a value. The standard defines its type as `Edm.Decimal` with scale 0.
    static func number(_ count: Int) -> Value { .decimal(DecimalValue(Int64(count))) }

    private static func unsupported(_ item: AggregateItem) -> EvaluationError {
        if case .values(_, .custom(let name)) = item.subject {
            return EvaluationError(.unsupported, "Only the service can evaluate the aggregation method \(name).")
        }
        return EvaluationError(
            .unsupported, "Only the service can evaluate the custom aggregate \(item.resultName ?? "").")
    }

    /// Returns the values or entities that a path reaches from all rows, following each item of a collection.
    ///
    /// Missing values are omitted, and an entity counts once even if several paths reach it (section 3.2.1.1).
    private func occurrences(
        _ path: ExpressionPath, _ rows: [EvaluationOperand]
    ) throws(EvaluationError) -> [EvaluationOperand] {
        let isWalked = path.segments.allSatisfy { segment in
            switch segment {
            case .property, .type: true
            default: false
            }
        }
        guard isWalked else {
            var found: [EvaluationOperand] = []
            for row in rows { found += Self.spread(try operand(.path(path), row)) }
            return found
        }
        var positions: [EvaluationOperand] = []
        for row in rows {
            var run = run(row)
            positions.append(try run.walk(ExpressionPath(root: path.root, segments: [])))
        }
        var run = run(.value(.null))
        for segment in path.segments {
            var next: [EvaluationOperand] = []
            for position in positions {
                switch segment {
                case .property:
                    for item in Self.spread(position) { next.append(try run.step(segment, from: item)) }
                default: next.append(try run.step(segment, from: position))
                }
            }
            positions = Self.distinctEntities(next)
        }
        return positions.flatMap(Self.spread)
    }

    /// Removes duplicate entities. Values are kept.
    private static func distinctEntities(_ positions: [EvaluationOperand]) -> [EvaluationOperand] {
        var seen: Set<String> = []
        return positions.flatMap(spread).filter { position in
            guard case .entity(let entity?) = position, let identity = entity.identity else { return true }
            return seen.insert(identity).inserted
        }
    }

    private static func spread(_ position: EvaluationOperand) -> [EvaluationOperand] {
        switch position {
        case .entities(let entities): entities.map { .entity($0) }
        case .value(.collection(let items)): items.map { .value($0) }
        case .entity(nil), .value(.null): []
        default: [position]
        }
    }

    func operand(_ expression: Expression, _ row: EvaluationOperand) throws(EvaluationError) -> EvaluationOperand {
        var run = run(row)
        return try run.operand(expression)
    }

    private func run(_ row: EvaluationOperand) -> EvaluationRun {
        EvaluationRun(evaluator: evaluator, it: row, these: these)
    }

    /// Groups the rows by equal values, in the order in which the values first occur.
    private func groups(
        _ rows: [EvaluationOperand], by paths: [ExpressionPath]
    ) throws(EvaluationError) -> [[EvaluationOperand]] {
        var places: [[GroupKey]: Int] = [:]
        var groups: [[EvaluationOperand]] = []
        for row in rows {
            var key: [GroupKey] = []
            for path in paths { key.append(run(row).groupKey(of: try operand(.path(path), row), at: path)) }
            if let place = places[key] {
                groups[place].append(row)
            } else {
                places[key] = groups.count
                groups.append([row])
            }
        }
        return groups
    }
}

/// An aggregate that is computed incrementally.
struct Aggregate {
    let method: AggregationMethod
    /// The type of the values if they are enumeration members, which are compared by their numbers.
    var enumeration: EnumerationType?
    private var total: Value = .null
    private var count: Int64 = 0
    private var distinct: Set<GroupKey> = []

    init(method: AggregationMethod) { self.method = method }

    mutating func add(_ operand: EvaluationOperand) throws(EvaluationError) {
        switch operand {
        case .value(.null), .entity(nil): return
        default: break
        }
        if method == .countDistinct {
            distinct.insert(GroupKey(operand, enumeration))
            return
        }
        guard case .value(let value) = operand else {
            throw EvaluationError(.wrongOperand, "\(method.name) aggregates values, not entities.")
        }
        count += 1
        guard total != .null else {
            total = value
            return
        }
        switch method {
        case .sum, .average: total = try ValueArithmetic.apply(.add, total, value)
        case .min: if order(value) == .ascending { total = value }
        case .max: if order(value) == .descending { total = value }
        case .countDistinct, .custom: break
        }
    }

    private func order(_ value: Value) -> ValueOrder {
        guard let number = enumeration?.number(of: value), let extreme = enumeration?.number(of: total) else {
            return value.sortOrder(to: total)
        }
        return Value.integer(number).sortOrder(to: .integer(extreme))
    }

    /// Returns the result. It is null if there are no values; the number of distinct values is then 0.
    func result() throws(EvaluationError) -> Value {
        switch method {
        case .countDistinct: return Aggregation.number(distinct.count)
        case .average where total != .null: return try ValueArithmetic.apply(.divby, total, .integer(count))
        default: return total
        }
    }
}

/// A value or entity as a grouping key.
///
/// Numbers are compared by their magnitude regardless of their types, points in time by the instant, enumeration members
/// by their numbers, and entities by their identity.
struct GroupKey: Hashable {
    private let content: GroupValue

    private enum GroupValue: Hashable {
        case value(Value)
        case moment(Instant)
        case entity(String)
    }

    /// Creates a key.
    ///
    /// - Parameter enumeration: The type of the value if it is an enumeration member.
    init(_ operand: EvaluationOperand, _ enumeration: EnumerationType?) {
        switch operand {
        case .value(.enumeration(let text)):
            content = .value(enumeration?.number(of: .enumeration(text)).map { .integer($0) } ?? .enumeration(text))
        case .value(.dateTimeOffset(let moment)): content = .moment(moment.instant)
        case .value(.dateTime(let moment)): content = .moment(moment.instant)
        case .value(let value): content = .value(Self.canonical(value))
        case .entity(let entity): content = entity.map { .entity($0.identity ?? "") } ?? .value(.null)
        case .entities(let entities): content = .entity(entities.map { $0.identity ?? "" }.joined(separator: ","))
        }
    }

    private static func canonical(_ value: Value) -> Value {
        switch value {
        case .single, .double, .decimal:
            guard let decimal = value.decimalValue else { return value }
            return decimal.int64Value.map { .integer($0) } ?? .decimal(decimal)
        case .collection(let items): return .collection(items.map(canonical))
        default: return value
        }
    }
}

extension EvaluationRun {
    /// Returns the value at the end of a path as a grouping key.
    func groupKey(of operand: EvaluationOperand, at path: ExpressionPath) -> GroupKey {
        GroupKey(operand, operand.isMember ? enumerationType(path) : nil)
    }
}

extension EvaluationOperand {
    /// Whether the operand is an enumeration member.
    fileprivate var isMember: Bool { if case .value(.enumeration) = self { true } else { false } }
}
