package import EDM
package import ODataQuery
import Operations

extension SQLCompiler {
    /// The maximum number of nodes of an expression after the terms of `$compute` were inlined.
    private static let inliningLimit = 2_000

    /// Returns the condition of `$filter` and `$search` for `WHERE`, which also determines the count of a query.
    package mutating func condition(of options: QueryOptions, in set: EntitySet) throws(EvaluationError) -> SQLText {
        var conditions: [SQLText] = []
        if let filter = options.filter { conditions.append(try self.filter(try inlined(filter, options))) }
        if let search = options.search, let condition = try self.search(search, options.select, set.entityType) {
            conditions.append(condition)
        }
        return conditions.isEmpty ? SQLText("1") : SQLText.joined(conditions, by: " AND ")
    }

    /// Returns the terms of `$orderby`, and then the entity ID.
    ///
    /// - Parameter entity: The column of the entity ID.
    package mutating func order(of options: QueryOptions, entity: String) throws(EvaluationError) -> [SQLText] {
        var terms: [SQLText] = []
        for item in options.orderBy { terms.append(try order(try inlined(item, options))) }
        terms.append(SQLText(options.orderBy.hasDescendingIDs ? entity + " DESC" : entity))
        return terms
    }

    /// Returns the condition that a row follows the position in `$skiptoken`, or nil without one.
    ///
    /// - Parameter entity: The column of the entity ID, by which rows are sorted last.
    package mutating func position(
        of options: QueryOptions, entity: String
    ) throws(EvaluationError) -> SQLText? {
        guard let token = options.skipToken else { return nil }
        let position = try PagePosition(token: token, orderBy: options.orderBy)
        // All terms are equal and the entity ID follows; or a term follows, and the terms before it are equal.
        var condition = SQLText(
            "\(entity) \(options.orderBy.hasDescendingIDs ? "<" : ">") ?",
            [.integer(Int64(bitPattern: position.entity.rawValue))])
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
            throw unsupported("A $compute of this length")
        }
        return inlined
    }

    private func inlined(_ item: OrderItem, _ options: QueryOptions) throws(EvaluationError) -> OrderItem {
        OrderItem(try inlined(item.expression, options), isDescending: item.isDescending)
    }

    /// Returns the condition of `$search`, or nil if there are no texts to search, so that the option has no effect.
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
        guard columns.count <= Self.argumentLimit else { throw unsupported("$search in this number of properties") }
        recordPassing()
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
                // A value of a derived type may have texts without a column.
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
