package import EDM
package import ODataWire
import Operations

extension SQLCompiler {
    /// The most nodes that an expression may have after `$compute` was put into it.
    private static let inliningLimit = 2_000

    /// The condition of a query's `$filter` and `$search` for `WHERE`; the count of a query is over these.
    package mutating func condition(of options: QueryOptions, in set: EntitySet) throws(EvaluationError) -> SQLText {
        var conditions: [SQLText] = []
        if let filter = options.filter { conditions.append(try self.filter(try inlined(filter, options))) }
        if let search = options.search, let condition = try self.search(search, options.select, set.entityType) {
            conditions.append(condition)
        }
        return conditions.isEmpty ? SQLText("1") : SQLText.joined(conditions, by: " AND ")
    }

    /// The terms of a query's `$orderby`.
    package mutating func order(of options: QueryOptions) throws(EvaluationError) -> [SQLText] {
        var terms: [SQLText] = []
        for item in options.orderBy { terms.append(try order(try inlined(item, options))) }
        return terms
    }

    /// The condition that a row comes behind the place that `$skiptoken` names; nil without one.
    ///
    /// - Parameter entity: the column of the entity ID, the last that rows are sorted by.
    package mutating func position(
        of options: QueryOptions, entity: String
    ) throws(EvaluationError) -> SQLText? {
        guard let token = options.skipToken else { return nil }
        let position = try PagePosition(token: token, orderBy: options.orderBy)
        // Equal in all terms, and a greater entity ID; or behind in one, and equal in those before it.
        var condition = SQLText(
            "\(entity) > ?", [.integer(Int64(bitPattern: position.entity.rawValue))])
        for (item, value) in zip(options.orderBy, position.keys).reversed() {
            let key = try orderKey(try inlined(item, options).expression)
            let bound = key.bound(value)
            let equal = key.text + " IS " + bound
            let isBehind: SQLText =
                switch (item.isDescending, value == .null) {
                case (false, true): key.text + " IS NOT NULL"
                case (false, false): key.text + " > " + bound
                case (true, true): SQLText("0")
                case (true, false): "(" + key.text + " < " + bound + " OR " + key.text + " IS NULL)"
                }
            condition = "(" + isBehind + " OR (" + equal + " AND " + condition + "))"
        }
        return condition
    }

    private func inlined(_ expression: Expression, _ options: QueryOptions) throws(EvaluationError) -> Expression {
        guard let inlined = expression.inlining(options.compute, limit: Self.inliningLimit) else {
            throw unsupported("So long a $compute")
        }
        return inlined
    }

    private func inlined(_ item: OrderItem, _ options: QueryOptions) throws(EvaluationError) -> OrderItem {
        OrderItem(try inlined(item.expression, options), isDescending: item.isDescending)
    }

    /// Nil where there is nothing to search in, so that the option does not count.
    private mutating func search(
        _ search: SearchExpression, _ select: [SelectItem], _ type: EntityType
    ) throws(EvaluationError) -> SQLText? {
        guard let model = functions.model, model.entityTypes(derivedFrom: type).count == 1 else {
            throw unsupported("$search over several types")
        }
        let texts = SearchedTexts(type, select, model)
        if texts.isEmpty { return nil }
        var columns: [SQLText] = []
        try add(columnsOf: texts.properties, [], model, to: &columns)
        if texts.isOpen { throw unsupported("$search in dynamic properties") }
        guard columns.count <= Self.argumentLimit else { throw unsupported("$search in so many properties") }
        notePassing()
        let number = SQLText("?", [.integer(functions.number(of: search))])
        return "tl_search(" + SQLText.joined([number] + columns, by: ", ") + ")"
    }

    private func add(
        columnsOf properties: [Property], _ prefix: [String], _ model: EntityDataModel, to columns: inout [SQLText]
    ) throws(EvaluationError) {
        for property in properties where SearchedTexts.holdsText(property.type, model, depth: prefix.count) {
            let path = prefix + [property.name]
            if property.isCollection { throw unsupported("$search in collections") }
            if case .complex(let name) = property.type.kind, let complex = model.findComplexType(name) {
                // A value of a derived type may have texts that have no column.
                guard model.derivedTypes(of: name).isEmpty, !complex.isOpen else {
                    throw unsupported("$search in complex values of several types")
                }
                try add(columnsOf: complex.properties, path, model, to: &columns)
            } else {
                guard let column = current.column(path) else { throw unsupported("$search in \(property.name)") }
                columns.append(SQLText(column.sql))
            }
        }
    }
}
