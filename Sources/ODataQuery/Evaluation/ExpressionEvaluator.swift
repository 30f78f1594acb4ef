package import EDM

/// Evaluates expressions over entities in memory like a service.
///
/// The sandbox filters with it, and it is the reference for the SQL that expressions are compiled to.
///
/// Null follows OData 4.01 Part 2, section 5.1.1.1: `eq` and `ne` compare it, two nulls satisfy `ge` and `le` (not in
/// V2 and V3), other comparisons with null are false, `and` and `or` use three-valued logic, and arithmetic and
/// functions return null. Strings are compared by Unicode scalars, case-sensitively; enumeration members by their
/// numbers.
package struct ExpressionEvaluator: Sendable {
    /// The value of `now()`. If it is nil, the function throws, because the evaluator reads no clock.
    package var now: GlobalDateTime?
    /// The values of parameter aliases.
    package var aliases: [QueryOptions.ParameterAlias]
    /// The model, which is necessary for the numbers of enumeration members and for type names, and determines the
    /// protocol version.
    package var model: EntityDataModel?

    package init(now: GlobalDateTime? = nil, aliases: [QueryOptions.ParameterAlias] = [], model: EntityDataModel? = nil)
    {
        self.now = now
        self.aliases = aliases
        self.model = model
    }

    /// Returns whether the entity satisfies a filter. Only true does; null does not.
    package func isTrue(_ filter: Expression, for entity: EvaluationScope) throws(EvaluationError) -> Bool {
        try evaluate(filter, for: entity) == .boolean(true)
    }

    /// Returns the expression's value. A single-valued navigation property has no value of its own: it can only be
    /// compared with null.
    package func evaluate(_ expression: Expression, for entity: EvaluationScope) throws(EvaluationError) -> Value {
        var run = EvaluationRun(evaluator: self, it: .entity(entity))
        return try run.value(of: expression)
    }

    /// Returns whether an item of a collection of values satisfies a filter. `$it` and `$this` refer to the item.
    package func isTrue(_ filter: Expression, forItem item: Value) throws(EvaluationError) -> Bool {
        var run = EvaluationRun(evaluator: self, it: .value(item))
        return try run.value(of: filter) == .boolean(true)
    }

    /// Returns the values that `$orderby` sorts an item of a collection of values by.
    package func sortKeys(_ items: [OrderItem], forItem item: Value) throws(EvaluationError) -> [Value] {
        var run = EvaluationRun(evaluator: self, it: .value(item))
        var keys: [Value] = []
        for item in items { keys.append(try run.sortKey(item.expression)) }
        return keys
    }

    /// Returns the values of `$compute` for an entity, in order, and the entity with them. Each one may use its
    /// predecessors.
    package func computing(
        _ items: [ComputeItem], for entity: EvaluationScope, these: [EvaluationScope]? = nil
    ) throws(EvaluationError) -> (values: PropertyValues, scope: EvaluationScope) {
        var values = PropertyValues()
        var scope = entity
        for item in items {
            var run = EvaluationRun(evaluator: self, it: .entity(scope), these: these)
            values[item.name] = try run.value(of: item.expression)
            var enumerations = scope.enumerations
            enumerations[item.name] = run.enumerationType(item.expression)
            scope = entity.adding(values)
            scope.enumerations = enumerations
        }
        return (values, scope)
    }

    /// Returns the values that `$orderby` sorts an entity by.
    package func sortKeys(_ items: [OrderItem], for entity: EvaluationScope) throws(EvaluationError) -> [Value] {
        var keys: [Value] = []
        for item in items {
            var run = EvaluationRun(evaluator: self, it: .entity(entity))
            keys.append(try run.sortKey(item.expression))
        }
        return keys
    }

    /// Returns whether the entity with the first keys precedes the entity with the second ones. Null is the lowest
    /// value: first in ascending order, last in descending order.
    package static func precedes(_ a: [Value], _ b: [Value], by items: [OrderItem]) -> Bool {
        for (index, item) in items.enumerated() where index < a.count && index < b.count {
            switch a[index].sortOrder(to: b[index]) {
            case .same: continue
            case .ascending: return !item.isDescending
            case .descending: return item.isDescending
            }
        }
        return false
    }
}

/// The state of one evaluation: the entity, and the range variables of the enclosing lambdas.
struct EvaluationRun {
    let evaluator: ExpressionEvaluator
    let it: EvaluationOperand
    /// The start of relative paths.
    var current: EvaluationOperand
    var variables: [String: EvaluationOperand] = [:]
    /// The instances of `$these`, or nil outside of `$apply`.
    let these: [EvaluationScope]?
    /// The nesting depth of aliases. Aliases may refer to each other; cycles throw.
    private var aliasDepth = 0

    init(evaluator: ExpressionEvaluator, it: EvaluationOperand, these: [EvaluationScope]? = nil) {
        self.evaluator = evaluator
        self.these = these
        self.it = it
        current = it
    }

    mutating func value(of expression: Expression) throws(EvaluationError) -> Value {
        switch try operand(expression) {
        case .value(let value): return value
        case .entity(nil): return .null
        case .entity, .entities:
            throw EvaluationError(.unsupported, "Expected a value, not an entity; use one of its properties.")
        }
    }

    mutating func operand(_ expression: Expression) throws(EvaluationError) -> EvaluationOperand {
        switch expression {
        case .literal(let value, _): return .value(value)
        case .enumeration(_, let value): return .value(.enumeration(value))
        case .path(let path): return try walk(path)
        case .comparison(let comparison, let left, let right): return .value(try compare(comparison, left, right))
        case .and(let operands): return .value(try connect(operands, decisive: false))
        case .or(let operands): return .value(try connect(operands, decisive: true))
        case .not(let operand):
            guard let condition = try condition(operand) else { return .value(.null) }
            return .value(.boolean(!condition))
        case .arithmetic(let operation, let left, let right):
            let (a, b) = (try value(of: left), try value(of: right))
            return .value(a == .null || b == .null ? .null : try ValueArithmetic.apply(operation, a, b))
        case .negation(let operand):
            let value = try value(of: operand)
            return .value(value == .null ? .null : try ValueArithmetic.negate(value))
        case .call(let function, let arguments): return .value(try call(function, arguments))
        case .isof(let operand, let type): return .value(.boolean(try isInstance(operand, of: type)))
        case .cast(let operand, let type): return try cast(operand, to: type)
        case .list(let items):
            var values: [Value] = []
            for item in items { values.append(try value(of: item)) }
            return .value(.collection(values))
        case .object(let members):
            var properties = PropertyValues()
            for member in members { properties[member.name] = try value(of: member.value) }
            return .value(.complex(ComplexValue(properties: properties)))
        case .choice(let choices):
            for choice in choices where try condition(choice.condition) == true { return try operand(choice.value) }
            return .value(.null)
        }
    }

    /// Returns the sort key of the expression's value, which is the number for an enumeration member.
    mutating func sortKey(_ expression: Expression) throws(EvaluationError) -> Value {
        let value = try value(of: expression)
        guard case .enumeration = value else { return value }
        return enumerationType(expression)?.number(of: value).map { .integer($0) } ?? value
    }

    // MARK: Logic

    /// Returns true, false, or nil for null.
    mutating func condition(_ expression: Expression) throws(EvaluationError) -> Bool? {
        switch try value(of: expression) {
        case .boolean(let value): return value
        case .null: return nil
        case let other: throw EvaluationError(.wrongOperand, "Expected a condition, not \(other.kindName).")
        }
    }

    /// Combines operands: a `decisive` one determines the result; otherwise the result is null if an operand is null.
    private mutating func connect(_ operands: [Expression], decisive: Bool) throws(EvaluationError) -> Value {
        var hasNull = false
        for operand in operands {
            switch try condition(operand) {
            case decisive: return .boolean(decisive)
            case nil: hasNull = true
            default: break
            }
        }
        return hasNull ? .null : .boolean(!decisive)
    }

    private mutating func compare(
        _ comparison: ComparisonOperator, _ left: Expression, _ right: Expression
    ) throws(EvaluationError) -> Value {
        let (a, b) = (try operand(left), try operand(right))
        switch (a, b) {
        case (.value(let x), .value(let y)):
            if comparison == .in, y != .null {
                guard case .collection = y else {
                    throw EvaluationError(.wrongOperand, "Expected a collection after \"in\", not \(y.kindName).")
                }
            }
            if comparison == .has { return .boolean(try has(x, y, left, right)) }
            if Self.mayBeMembers(x, y), let type = enumerationType(left) ?? enumerationType(right),
                let a = type.numbers(of: x), let b = type.numbers(of: y)
            {
                return .boolean(apply(comparison, a, b))
            }
            return .boolean(apply(comparison, x, y))
        case (.entity(let entity), .value(.null)), (.value(.null), .entity(let entity)):
            return .boolean(comparison == .eq ? entity == nil : comparison == .ne && entity != nil)
        case (.entity(nil), .entity(nil)): return .boolean(comparison == .eq)
        case (.entity(nil), .value(let other)), (.value(let other), .entity(nil)):
            return .boolean(apply(comparison, .null, other))
        default: throw EvaluationError(.unsupported, "Entities can be compared only with null.")
        }
    }

    /// Returns whether one of the values, or an item of the second one, is an enumeration member. Otherwise no
    /// enumeration type needs to be looked up.
    private static func mayBeMembers(_ a: Value, _ b: Value) -> Bool {
        switch (a, b) {
        case (.enumeration, _), (_, .enumeration): true
        case (_, .collection(let items)): items.contains { if case .enumeration = $0 { true } else { false } }
        default: false
        }
    }

    private func apply(_ comparison: ComparisonOperator, _ a: Value, _ b: Value) -> Bool {
        ValueComparison.apply(comparison, a, b, nullsAreLevel: evaluator.model?.version.isLegacy != true)
    }

    /// Returns the enumeration type of an operand, or nil if the model does not contain it.
    func enumerationType(_ operand: Expression) -> EnumerationType? {
        switch operand {
        case .enumeration(let name, _): evaluator.model?.enumerationType(named: evaluator.resolve(name))
        case .list(let items): items.lazy.compactMap { enumerationType($0) }.first
        case .path(let path): enumerationType(path)
        default: nil
        }
    }

    /// Returns the enumeration type according to the declarations of the properties along the path.
    func enumerationType(_ path: ExpressionPath) -> EnumerationType? {
        if let computed = computedEnumeration(path) { return computed }
        guard let type = declaredType(path), case .enumeration(let name) = type.kind else {
            guard case .alias(let name) = path.root, path.segments.isEmpty,
                let alias = evaluator.aliases.first(where: { $0.name == name })
            else { return nil }
            // An alias that refers to a different one has already been resolved.
            if case .path = alias.value { return nil }
            return enumerationType(alias.value)
        }
        return evaluator.model?.enumerationType(named: name)
    }

    /// Returns whether a value contains the flags, compared by number if the model contains the type, otherwise by
    /// name.
    private func has(
        _ value: Value, _ flags: Value, _ left: Expression, _ right: Expression
    ) throws(EvaluationError) -> Bool {
        if value == .null || flags == .null { return false }
        if let type = enumerationType(right) ?? enumerationType(left),
            let held = type.number(of: value), let wanted = type.number(of: flags)
        {
            return held & wanted == wanted
        }
        return ValueComparison.apply(.has, value, flags)
    }

    // MARK: Functions

    private mutating func call(
        _ function: CanonicalFunction, _ arguments: [Expression]
    ) throws(EvaluationError) -> Value {
        switch function {
        case .now:
            guard let now = evaluator.now else {
                throw EvaluationError(.unsupported, "now() cannot be evaluated here.")
            }
            return .dateTimeOffset(now)
        case .isLocal, .hasPendingChanges, .isInErrorState, .upsertedLastDownload, .hasLocalRelatives,
            .hasRelativesWithPendingChanges:
            guard case .entity(let entity?) = current else { return .boolean(false) }
            return .boolean(entity.state(function))
        case .isdefined:
            guard let path = arguments.first else { return .boolean(false) }
            do {
                _ = try operand(path)
                return .boolean(true)
            } catch  where error.code == .unknownProperty {
                return .boolean(false)
            }
        case .entityExists:
            guard let path = arguments.first else { return .boolean(false) }
            switch try operand(path) {
            case .entity(let entity): return .boolean(entity != nil)
            case .entities(let entities): return .boolean(!entities.isEmpty)
            case .value(let value): return .boolean(value != .null)
            }
        case .geoDistance, .geoIntersects, .geoLength:
            var values: [Value] = []
            for argument in arguments { values.append(try value(of: argument)) }
            return try GeoFunctions.apply(function, values, family: geoFamily(of: arguments))
        default:
            var values: [Value] = []
            for argument in arguments { values.append(try value(of: argument)) }
            return try FunctionLibrary.apply(function, values)
        }
    }

    // MARK: Types

    private mutating func isInstance(_ expression: Expression?, of type: String) throws(EvaluationError) -> Bool {
        let subject = try expression.map { (inner) throws(EvaluationError) in try operand(inner) } ?? current
        switch subject {
        case .entity(let entity): return entity?.isInstance(evaluator.resolve(type)) ?? false
        case .entities(let entities):
            guard let item = ExpressionEvaluator.itemType(of: type) else { return false }
            return entities.allSatisfy { $0.isInstance(evaluator.resolve(item)) }
        case .value(.null): return false
        case .value(.enumeration):
            // The value itself does not contain its enumeration type.
            guard let own = expression.flatMap({ enumerationType($0) }) else {
                throw EvaluationError(
                    .unsupported, "Only the service can evaluate isof of this enumeration value.")
            }
            return own.name == evaluator.resolve(type)
        case .value(let value): return evaluator.isInstance(value, of: type)
        }
    }

    private mutating func cast(_ expression: Expression?, to type: String) throws(EvaluationError) -> EvaluationOperand
    {
        let subject = try expression.map { (inner) throws(EvaluationError) in try operand(inner) } ?? current
        switch subject {
        case .entity(let entity):
            return .entity(entity.flatMap { $0.isInstance(evaluator.resolve(type)) ? $0 : nil })
        case .entities(let entities):
            let item = ExpressionEvaluator.itemType(of: type) ?? type
            return .entities(entities.filter { $0.isInstance(evaluator.resolve(item)) })
        case .value(let value): return .value(evaluator.cast(value, to: type))
        }
    }

    /// Returns the value of the alias `@name`.
    mutating func alias(_ name: String) throws(EvaluationError) -> EvaluationOperand {
        guard let alias = evaluator.aliases.first(where: { $0.name == name }) else { return .value(.null) }
        guard aliasDepth < 16 else {
            throw EvaluationError(.unsupported, "The parameter alias @\(name) refers to itself.")
        }
        aliasDepth += 1
        defer { aliasDepth -= 1 }
        return try operand(alias.value)
    }
}

extension EnumerationType {
    /// Returns the number of a member, or the numbers of a list of members, in whichever form they are written. Returns
    /// nil for any other value.
    fileprivate func numbers(of value: Value) -> Value? {
        switch value {
        case .null: return .null
        case .collection(let items):
            let found = items.compactMap { numbers(of: $0) }
            return found.count == items.count ? .collection(found) : nil
        default: return number(of: value).map { .integer($0) }
        }
    }
}
