import EDM
import ODataQuery

extension SQLCompiler {
    /// Returns the path as a value in SQL.
    mutating func resolve(_ path: ExpressionPath) throws(EvaluationError) -> SQLScalar {
        var walk = SQLPathWalk(scope: try start(of: path))
        for (index, segment) in path.segments.enumerated() {
            switch segment {
            case .property(let name): try walk.step(name, table: nextTable())
            case .any(let lambda):
                let test = try exists(walk, lambda, isAll: false)
                try expectEnd(path, index)
                return SQLScalar(walk.wrap(test, missing: "0"), .boolean)
            case .all(let lambda):
                let test = try exists(walk, lambda, isAll: true)
                try expectEnd(path, index)
                return SQLScalar(walk.wrap(test, missing: "1"), .boolean)
            case .count(let options):
                guard let collection = walk.collection, options.search == nil else {
                    throw unsupported("This kind of $count")
                }
                var source = collection.source
                if let filter = options.filter {
                    source = source + " AND " + (try within(collection.scope, nil, filter, isExact: false))
                }
                try expectEnd(path, index)
                return SQLScalar(walk.wrap("(SELECT COUNT(*) FROM " + source + ")", missing: "0"), .integer)
            case .type, .annotation, .function, .key, .filter, .aggregate:
                throw unsupported("This kind of path")
            }
        }
        guard walk.collection == nil, let column = walk.scope.column(walk.names) else {
            throw unsupported("The path \(walk.names.joined(separator: "/"))")
        }
        return SQLScalar(walk.wrap(SQLText(column.sql)), column.kind, enumeration: column.enumeration)
    }

    private func expectEnd(_ path: ExpressionPath, _ index: Int) throws(EvaluationError) {
        guard index == path.segments.count - 1 else { throw unsupported("This kind of path") }
    }

    private mutating func exists(
        _ walk: SQLPathWalk, _ lambda: ExpressionPath.Lambda?, isAll: Bool
    ) throws(EvaluationError) -> SQLText {
        guard let collection = walk.collection else { throw unsupported("any or all over values") }
        guard let lambda else { return "EXISTS (SELECT 1 FROM " + collection.source + ")" }
        let test = try within(collection.scope, lambda.variable, lambda.predicate, isExact: isAll)
        // Null does not satisfy the condition.
        return isAll
            ? "(NOT EXISTS (SELECT 1 FROM " + collection.source + " AND NOT COALESCE(" + test + ", 0)))"
            : "EXISTS (SELECT 1 FROM " + collection.source + " AND " + test + ")"
    }

    /// Returns a condition on the items of a collection, with a range variable or with paths that start at the item.
    private mutating func within(
        _ scope: any SQLScope, _ variable: String?, _ condition: Expression, isExact: Bool
    ) throws(EvaluationError) -> SQLText {
        if let variable {
            let outer = variables[variable]
            variables[variable] = scope
            defer { variables[variable] = outer }
            return try self.condition(condition, isExact: isExact)
        }
        let outer = current
        current = scope
        defer { current = outer }
        return try self.condition(condition, isExact: isExact)
    }

    /// Returns whether the path ends with a to-one navigation property.
    mutating func isNavigation(_ path: ExpressionPath) throws(EvaluationError) -> Bool {
        guard !path.segments.isEmpty, let scope = try? start(of: path) else { return false }
        var walk = SQLPathWalk(scope: scope)
        for segment in path.segments {
            guard case .property(let name) = segment, walk.collection == nil else { return false }
            try walk.step(name, table: nextTable())
        }
        return walk.names.isEmpty && walk.collection == nil && !walk.sources.isEmpty
    }

    /// Returns the entity ID at the end of a path of to-one navigation properties; null if there is no entity.
    mutating func entity(at path: ExpressionPath) throws(EvaluationError) -> SQLText {
        var walk = SQLPathWalk(scope: try start(of: path))
        for segment in path.segments {
            guard case .property(let name) = segment else { throw unsupported("This kind of path") }
            try walk.step(name, table: nextTable())
        }
        guard walk.names.isEmpty, walk.collection == nil, !walk.sources.isEmpty else {
            throw unsupported("This kind of path")
        }
        return walk.wrap(SQLText("\(walk.table).entity"))
    }

    /// Returns whether there is an entity at the end of a path of navigation properties.
    mutating func exists(_ path: ExpressionPath) throws(EvaluationError) -> SQLText {
        var walk = SQLPathWalk(scope: try start(of: path))
        for segment in path.segments {
            guard case .property(let name) = segment else { throw unsupported("This kind of path") }
            try walk.step(name, table: nextTable())
        }
        if let collection = walk.collection {
            return walk.wrap("EXISTS (SELECT 1 FROM " + collection.source + ")", missing: "0")
        }
        guard let last = walk.sources.popLast() else { throw unsupported("entityexists of a property") }
        return walk.wrap("EXISTS (SELECT 1 FROM " + last + ")", missing: "0")
    }
}
