extension ServiceRequest {
    /// The maximum number of nodes of a request with parameter aliases.
    private static let limit = 1 << 17

    /// Returns the request with its parameter aliases replaced by their values, in the path and in options of all
    /// levels.
    ///
    /// An alias is valid for the whole URL (OData 4.01 Part 2, section 5.3). An alias without a value is null.
    ///
    /// - Throws: `outOfRange` if the result, or an expression built in code, is higher than ``QueryLimits/height`` or
    ///   has too many nodes, because aliases that refer to each other can grow exponentially. `unsupported` if an alias
    ///   refers to itself.
    package func resolvingAliases() throws(EvaluationError) -> ServiceRequest {
        guard !options.aliases.isEmpty else {
            try Self.checkHeight(of: expressions)
            return self
        }
        var inlining = Inlining(limit: Self.limit)
        inlining.aliases = AliasTable(options.aliases)
        // The first pass collects the aliases in use; the second one replaces them after they are resolved.
        _ = inlining.rewrite(self)
        try Self.resolve(&inlining)
        let result = inlining.rewrite(self)
        guard inlining.nodes <= Self.limit else { throw Self.tooComplex }
        try Self.checkHeight(of: result.expressions)
        return result
    }

    /// Resolves the aliases, beginning with those that refer to no other alias.
    private static func resolve(_ inlining: inout Inlining) throws(EvaluationError) {
        var waiting = inlining.takeMissing()
        var begun: Set<String> = []
        while let name = waiting.last {
            guard let expression = inlining.aliases?.unresolved(name) else {
                waiting.removeLast()
                continue
            }
            let before = inlining.nodes
            let value = inlining.rewrite(expression, [:])
            guard inlining.nodes <= limit else { throw tooComplex }
            let missing = inlining.takeMissing()
            if missing.isEmpty {
                try checkHeight(of: [value])
                inlining.aliases?.resolve(name, value, nodes: inlining.nodes - before)
                waiting.removeLast()
            } else {
                begun.insert(name)
                guard begun.isDisjoint(with: missing) else {
                    throw EvaluationError(.unsupported, "The parameter alias @\(name) refers to itself.")
                }
                waiting += missing
            }
        }
    }

    private static func checkHeight(of expressions: [Expression]) throws(EvaluationError) {
        if expressions.contains(where: { $0.isHigher(than: QueryLimits.height) }) { throw tooComplex }
    }

    private static var tooComplex: EvaluationError {
        EvaluationError(
            .outOfRange, "The query is too complex: an expression can have at most \(QueryLimits.height) levels.")
    }
}

/// The values of parameter aliases, as far as they are resolved.
struct AliasTable {
    private let given: [String: Expression]
    private var resolved: [String: (value: Expression, nodes: Int)] = [:]
    /// The aliases that were requested before they were resolved.
    var missing: [String] = []

    init(_ aliases: [QueryOptions.ParameterAlias]) {
        given = Dictionary(aliases.map { ($0.name, $0.value) }) { first, _ in first }
    }

    func unresolved(_ name: String) -> Expression? { resolved[name] == nil ? given[name] : nil }

    mutating func resolve(_ name: String, _ value: Expression, nodes: Int) { resolved[name] = (value, nodes) }

    /// Returns the value and its number of nodes.
    mutating func value(of name: String) -> (value: Expression, nodes: Int) {
        if let found = resolved[name] { return found }
        if given[name] != nil { missing.append(name) }
        return (.null, 1)
    }
}

extension Inlining {
    mutating func takeMissing() -> [String] {
        defer { aliases?.missing = [] }
        return aliases?.missing ?? []
    }

    mutating func rewrite(_ request: ServiceRequest) -> ServiceRequest {
        let segments: [ResourcePath.Segment] = request.path.segments.map { segment in
            if case .filter(let condition) = segment { .filter(rewrite(condition, [:])) } else { segment }
        }
        return ServiceRequest(
            path: ResourcePath(segments: segments, target: request.path.target), options: rewrite(request.options))
    }

    /// Replaces aliases only. The names from `$compute` are kept.
    mutating func rewrite(_ options: QueryOptions) -> QueryOptions {
        var result = options
        result.aliases = []
        result.filter = options.filter.map { rewrite($0, [:]) }
        result.orderBy = rewrite(options.orderBy)
        result.compute = rewrite(options.compute)
        for index in options.expand.indices { result.expand[index].options = rewrite(options.expand[index].options) }
        for index in options.select.indices { result.select[index].options = rewrite(options.select[index].options) }
        result.apply = options.apply.map { rewrite($0) }
        return result
    }

    private mutating func rewrite(_ items: [OrderItem]) -> [OrderItem] {
        items.map { OrderItem(rewrite($0.expression, [:]), isDescending: $0.isDescending) }
    }

    private mutating func rewrite(_ items: [ComputeItem]) -> [ComputeItem] {
        items.map { ComputeItem(rewrite($0.expression, [:]), as: $0.name) }
    }

    private mutating func rewrite(_ transformation: Transformation) -> Transformation {
        switch transformation {
        case .filter(let condition): .filter(rewrite(condition, [:]))
        case .compute(let items): .compute(rewrite(items))
        case .orderBy(let items): .orderBy(rewrite(items))
        case .aggregate(let items): .aggregate(items.map { rewrite($0) })
        case .groupBy(let items, let inner): .groupBy(items, inner.map { rewrite($0) })
        case .concat(let sequences): .concat(sequences.map { sequence in sequence.map { rewrite($0) } })
        case .ranked(let ranking, let count, let by): .ranked(ranking, rewrite(count, [:]), by: rewrite(by, [:]))
        // Only the service can evaluate these.
        case .nest, .addNested, .join, .relatives, .traverse, .function: transformation
        case .identity, .search, .top, .skip: transformation
        }
    }

    mutating func rewrite(_ item: AggregateItem) -> AggregateItem {
        guard case .values(let expression, let method) = item.subject else { return item }
        return AggregateItem(.values(rewrite(expression, [:]), method), steps: item.steps, as: item.name)
    }
}

extension QueryOptions {
    /// Returns the options with aliases replaced; see ``ServiceRequest/resolvingAliases()``.
    package func resolvingAliases() throws(EvaluationError) -> QueryOptions {
        try ServiceRequest(path: ResourcePath(segments: [], target: .nothing), options: self).resolvingAliases().options
    }
}
