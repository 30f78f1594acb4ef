internal import EDM
internal import ODataQuery

/// Evaluates `$filter` and `$orderby` over entities in the representation of one version.
struct QueryEvaluation {
    let view: ServiceView
    let state: SandboxState
    let now: GlobalDateTime?

    /// Returns the rows that match the filter in the requested order. Sorting is stable.
    func select(_ rows: [Row], _ options: QueryOptions) throws(SandboxError) -> [Row] {
        try select(rows, options, scope: scope(of:))
    }

    /// Returns the combinations that match the filter in the requested order. Each entity is named by its set.
    func select(_ combinations: [[Row]], _ options: QueryOptions) throws(SandboxError) -> [[Row]] {
        try select(combinations, options) { rows in
            EvaluationScope(
                property: { name in rows.first { $0.id.set == name }.map { .entity(self.scope(of: $0)) } },
                isInstance: { _ in false }, type: nil)
        }
    }

    private func select<Item>(
        _ rows: [Item], _ options: QueryOptions, scope: (Item) -> EvaluationScope
    ) throws(SandboxError) -> [Item] {
        guard options.filter != nil || !options.orderBy.isEmpty else { return rows }
        do {
            let resolved = try options.resolvingAliases()
            return try select(rows, filter: resolved.filter, resolved, scope)
        } catch {
            throw SandboxError(error.code == .unsupported ? 501 : 400, .badRequest, "\(error)")
        }
    }

    private func select<Item>(
        _ rows: [Item], filter: Expression?, _ options: QueryOptions, _ scope: (Item) -> EvaluationScope
    ) throws(EvaluationError) -> [Item] {
        let evaluator = ExpressionEvaluator(now: now, aliases: options.aliases, model: view.model)
        var passed: [(row: Item, keys: [Value])] = []
        for row in rows {
            let scope = scope(row)
            if let filter, try !evaluator.isTrue(filter, for: scope) { continue }
            passed.append((row, try evaluator.sortKeys(options.orderBy, for: scope)))
        }
        guard !options.orderBy.isEmpty else { return passed.map(\.row) }
        return passed.enumerated().sorted { a, b in
            if ExpressionEvaluator.precedes(a.element.keys, b.element.keys, by: options.orderBy) { return true }
            if ExpressionEvaluator.precedes(b.element.keys, a.element.keys, by: options.orderBy) { return false }
            return a.offset < b.offset
        }.map(\.element.row)
    }

    private func scope(of row: Row) -> EvaluationScope {
        let type = view.set(row.id.set)?.entityType
        return EvaluationScope(
            property: { name in
                guard let property = type?.findProperty(name) else { return nil }
                guard property.isNavigation else {
                    return .value((row.values[name] ?? .null).converted(to: property.type))
                }
                let targets = targets(of: row, name).map(scope(of:))
                return property.isCollection ? .entities(targets) : .entity(targets.first)
            },
            isInstance: { name in type.map { view.model.isType($0.name, derivedFrom: name) } ?? false }, type: type)
    }

    private func targets(of row: Row, _ name: String) -> [Row] {
        let property = view.master.model.findEntitySet(row.id.set)?.entityType.findProperty(name)
        guard let navigation = property?.navigation else { return [] }
        return state.targets(of: row.id, through: navigation).compactMap { state[$0] }
    }
}
