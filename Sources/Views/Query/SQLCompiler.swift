package import EDM
package import ODataQuery

/// A compiler from `$filter` and `$orderby` to SQL over the views.
///
/// Comparisons of columns with values, and `and`, `or`, `not`, `in` and lambdas over them, become plain SQL, which uses
/// indexes. For all other expressions, SQL calls the evaluator with the columns that it needs. Expressions that neither
/// can evaluate (functions of the service, `$root`, collections of values) throw `unsupported`; such queries have to be
/// answered in memory.
///
/// NaN is a text in its columns (``SQLValue/notANumber``), which SQLite sorts after all numbers, as required. The
/// comparisons take into account that NaN is not equal to, and not greater than, any value.
package struct SQLCompiler {
    let functions: SQLFunctions
    private let now: GlobalDateTime?
    private let aliases: [QueryOptions.ParameterAlias]
    /// The literals that were removed from the condition; see ``ConditionTemplate``.
    private let parameters: [Value]
    /// Whether the SQL is valid for this run only: it refers to expressions that the functions discard later, or
    /// contains literals or times.
    private(set) var isPassing = false
    private let root: any SQLScope
    /// The scope in which paths start.
    var current: any SQLScope
    var variables: [String: any SQLScope] = [:]
    private var tables = 0
    private var depth = 0

    package init(
        _ scope: any SQLScope, functions: SQLFunctions, now: GlobalDateTime? = nil,
        aliases: [QueryOptions.ParameterAlias] = [], parameters: [Value] = []
    ) {
        self.parameters = parameters
        root = scope
        current = scope
        self.functions = functions
        self.now = now
        self.aliases = aliases
    }

    /// Returns a condition for `WHERE`.
    package mutating func filter(_ expression: Expression) throws(EvaluationError) -> SQLText {
        try condition(expression, isExact: false)
    }

    /// Returns a term for `ORDER BY`. Null is first in ascending order, last in descending order.
    package mutating func order(_ item: OrderItem) throws(EvaluationError) -> SQLText {
        try orderKey(item.expression).text + (item.isDescending ? " DESC" : "")
    }

    func unsupported(_ what: String) -> EvaluationError { .notInSQL(what) }

    // MARK: Conditions

    /// Returns a condition with the value 1, 0 or NULL. If `isExact` is false, the result may not distinguish false and
    /// null, and the SQL is simpler.
    mutating func condition(_ expression: Expression, isExact: Bool) throws(EvaluationError) -> SQLText {
        depth += 1
        defer { depth -= 1 }
        // Expressions that were built in code are not bounded like parsed ones.
        guard depth <= 2 * QueryLimits.height else { throw unsupported("An expression of this depth") }
        switch expression {
        case .literal(.boolean(let value), _): return SQLText(value ? "1" : "0")
        case .literal(.null, _): return SQLText("NULL")
        case .and(let operands): return try connect(operands, " AND ", isExact)
        case .or(let operands): return try either(operands, isExact)
        case .not(let operand): return "(NOT " + (try condition(operand, isExact: true)) + ")"
        case .call(let function, _)
        where [.isdefined, .hasLocalRelatives, .hasRelativesWithPendingChanges].contains(function):
            throw unsupported(function.rawValue)
        case .path, .isof(nil, _), .call(.isLocal, _), .call(.hasPendingChanges, _), .call(.isInErrorState, _),
            .call(.upsertedLastDownload, _), .call(.entityExists, _):
            guard let operand = try scalar(expression), operand.kind == .boolean else {
                throw EvaluationError(.wrongOperand, "Expected a condition.")
            }
            return operand.text
        case .comparison(let comparison, let left, let right):
            if let plain = try plainComparison(comparison, left, right, isExact) { return plain }
        case .call(.contains, let arguments) where arguments.count == 2:
            if let whole = try scalar(arguments[0]), let part = try scalar(arguments[1]), whole.kind == .string,
                part.kind == .string
            {
                return "(instr(" + whole.text + ", " + part.text + ") > 0)"
            }
        default: break
        }
        return try call("tl_test", expression)
    }

    private mutating func connect(
        _ operands: [Expression], _ link: String, _ isExact: Bool
    ) throws(EvaluationError) -> SQLText {
        var parts: [SQLText] = []
        for operand in operands { parts.append(try condition(operand, isExact: isExact)) }
        return SQLText.nested(parts[...], by: link)
    }

    /// Returns a disjunction. Comparisons of one property with several values are combined into one list, which SQLite
    /// looks up at once, regardless of their number.
    private mutating func either(_ operands: [Expression], _ isExact: Bool) throws(EvaluationError) -> SQLText {
        var places: [ExpressionPath: [Int]] = [:]
        for (place, operand) in operands.enumerated() {
            if let (path, _) = equality(operand) { places[path, default: []].append(place) }
        }
        var parts: [Int: SQLText] = [:]
        var covered: Set<Int> = []
        for (path, places) in places where places.count > 1 {
            let items = places.compactMap { equality(operands[$0])?.value }
            guard let list = try membership(.path(path), items, isExact) else { continue }
            parts[places[0]] = list
            covered.formUnion(places)
        }
        for (place, operand) in operands.enumerated() where !covered.contains(place) {
            parts[place] = try condition(operand, isExact: isExact)
        }
        let sorted = parts.sorted { $0.key < $1.key }.map(\.value)
        return sorted.count == 1 ? sorted[0] : SQLText.nested(sorted[...], by: " OR ")
    }

    /// Returns the property and the value if the condition is a test for equality.
    private func equality(_ condition: Expression) -> (path: ExpressionPath, value: Expression)? {
        guard case .comparison(.eq, let left, let right) = condition else { return nil }
        for (operand, value) in [(left, right), (right, left)] {
            guard case .path(let path) = operand, path.propertyNames != nil else { continue }
            switch value {
            case .literal(let literal, _) where literal != .null: return (path, value)
            case .enumeration: return (path, value)
            case .path(let alias) where place(of: alias) != nil: return (path, value)
            default: continue
            }
        }
        return nil
    }

    // MARK: Operands

    /// Returns a literal, a column, or a condition as a value; nil for an expression that needs the evaluator.
    mutating func scalar(_ expression: Expression) throws(EvaluationError) -> SQLScalar? {
        switch expression {
        case .literal(let value, _):
            // Equal texts may differ in the composition of their characters, which SQLite distinguishes: the cache
            // would return a statement with the other text.
            if case .string(let text) = value, !text.utf8.allSatisfy({ $0 < 0x80 }) { isPassing = true }
            return StoredKind(value) != nil || value == .null ? SQLScalar(value) : nil
        case .enumeration(_, let value): return SQLScalar(.string(value))
        case .path(let path):
            if let place = place(of: path) { return SQLScalar(parameters[place], place: place) }
            if case .alias(let name) = path.root {
                guard path.segments.isEmpty,
                    case .literal(let value, _)? = aliases.first(where: { $0.name == name })?.value
                else { throw unsupported("The parameter alias @\(name)") }
                return SQLScalar(value)
            }
            return try resolve(path)
        case .call(.now, _):
            isPassing = true
            return now.map { SQLScalar(.dateTimeOffset($0)) }
        case .call(.entityExists, let arguments):
            guard case .path(let path)? = arguments.first else { return nil }
            return SQLScalar(try exists(path), .boolean)
        case .call(let function, []) where function != .maxdatetime && function != .mindatetime:
            guard let condition = current.state(function) else { throw unsupported(function.rawValue) }
            return SQLScalar(condition, .boolean)
        case .isof(nil, let type):
            guard let test = current.isInstance(of: type) else { throw unsupported("isof") }
            return SQLScalar(test, .boolean)
        default: return nil
        }
    }

    private func place(of path: ExpressionPath) -> Int? {
        guard case .alias(let name) = path.root, path.segments.isEmpty else { return nil }
        return ConditionTemplate.place(name).flatMap { parameters.indices.contains($0) ? $0 : nil }
    }

    mutating func nextTable() -> String {
        tables += 1
        return "t\(tables)"
    }

    func start(of path: ExpressionPath) throws(EvaluationError) -> any SQLScope {
        switch path.root {
        case .implicit, .this: return current
        case .it: return root
        case .variable(let name):
            guard let scope = variables[name] else { throw unsupported("The range variable \(name)") }
            return scope
        case .root, .these, .alias, .expression: throw unsupported("This kind of path")
        }
    }

    // MARK: The evaluator

    /// The maximum number of columns in a call of a function; SQLite allows 127 arguments.
    static let argumentLimit = 100

    /// Returns a call of the evaluator with the scalars in the expression.
    private mutating func call(_ function: String, _ expression: Expression) throws(EvaluationError) -> SQLText {
        var operands: [SQLScalar] = []
        let reduced = try reduce(expression, &operands)
        guard operands.count <= Self.argumentLimit else { throw unsupported("A function of this number of properties") }
        isPassing = true
        let number = functions.number(
            of: SQLFunctions.Entry(
                expression: reduced,
                operands: operands.map {
                    SQLFunctions.Operand(kind: $0.kind ?? .string, enumeration: $0.enumeration)
                }))
        let arguments = [SQLText("?", [.integer(number)])] + operands.map(\.text)
        return "\(function)(" + SQLText.joined(arguments, by: ", ") + ")"
    }

    /// Returns the expression with aliases instead of the operands that SQL passes.
    private mutating func reduce(
        _ expression: Expression, _ operands: inout [SQLScalar]
    ) throws(EvaluationError) -> Expression {
        depth += 1
        defer { depth -= 1 }
        guard depth <= 2 * QueryLimits.height else { throw unsupported("An expression of this depth") }
        switch expression {
        case .literal, .enumeration: return expression
        case .path, .isof(nil, _), .call(_, []), .call(.entityExists, _):
            guard let scalar = try scalar(expression) else {
                // A function without arguments that does not concern the store is a constant.
                if case .call(_, []) = expression { return expression }
                throw unsupported("This kind of path")
            }
            guard scalar.literal == nil else { return .literal(scalar.literal ?? .null, nil) }
            operands.append(scalar)
            return .path(ExpressionPath(root: .alias("\(operands.count - 1)"), segments: []))
        case .comparison(let comparison, let left, let right):
            if let condition = try navigationTest(comparison, left, right) {
                operands.append(SQLScalar(condition, .boolean))
                return .path(ExpressionPath(root: .alias("\(operands.count - 1)"), segments: []))
            }
            return .comparison(comparison, try reduce(left, &operands), try reduce(right, &operands))
        case .and(let inner): return .and(try reduce(all: inner, &operands))
        case .or(let inner): return .or(try reduce(all: inner, &operands))
        case .not(let inner): return .not(try reduce(inner, &operands))
        case .arithmetic(let operation, let left, let right):
            return .arithmetic(operation, try reduce(left, &operands), try reduce(right, &operands))
        case .negation(let inner): return .negation(try reduce(inner, &operands))
        case .call(.isdefined, _): throw unsupported("isdefined")
        case .call(let function, let arguments): return .call(function, try reduce(all: arguments, &operands))
        case .isof(let inner?, let type): return .isof(try reduce(inner, &operands), type: type)
        case .cast(let inner?, let type): return .cast(try reduce(inner, &operands), type: type)
        case .list(let items): return .list(try reduce(all: items, &operands))
        case .choice(let choices):
            var reduced: [Expression.Choice] = []
            for choice in choices {
                reduced.append(
                    Expression.Choice(
                        condition: try reduce(choice.condition, &operands), value: try reduce(choice.value, &operands)))
            }
            return .choice(reduced)
        case .cast(nil, _), .object: throw unsupported("This kind of expression")
        }
    }

    private mutating func reduce(
        all expressions: [Expression], _ operands: inout [SQLScalar]
    ) throws(EvaluationError) -> [Expression] {
        var reduced: [Expression] = []
        for expression in expressions { reduced.append(try reduce(expression, &operands)) }
        return reduced
    }

    // MARK: Order

    /// A term by which rows are sorted, and a function that binds a value for a comparison with it.
    struct OrderKey {
        let text: SQLText
        let bound: (Value) -> SQLText
    }

    mutating func orderKey(_ expression: Expression) throws(EvaluationError) -> OrderKey {
        guard let scalar = try scalar(expression), scalar.literal == nil, let kind = scalar.kind else {
            return OrderKey(text: try call("tl_key", expression) + " COLLATE TIDELOG_VALUE") {
                SQLText("?", [SortableText.text($0)])
            }
        }
        if let enumeration = scalar.enumeration, let number = functions.number(ofEnumeration: enumeration) {
            return OrderKey(text: "tl_member(\(number), " + scalar.text + ")") { SQLText("?", [SQLValue($0)]) }
        }
        if kind.needsSortKey {
            return OrderKey(text: SQLComparison.sortKey(scalar.text, kind)) {
                SQLText("?", [SortKey.bytes($0).map { .blob($0) } ?? .null])
            }
        }
        return OrderKey(text: kind == .decimal ? scalar.text + " COLLATE DECIMAL" : scalar.text) {
            SQLText("?", [SQLValue($0)])
        }
    }

    /// Records that the SQL is valid for this run only.
    mutating func recordPassing() { isPassing = true }

}

extension EvaluationError {
    static func notInSQL(_ what: String) -> EvaluationError {
        EvaluationError(.unsupported, "\(what) cannot be evaluated in SQL.")
    }
}
