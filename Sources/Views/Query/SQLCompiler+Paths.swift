import EDM
import ODataWire

extension SQLCompiler {
    /// A path through to-one navigation properties, from the inside out.
    private struct Walk {
        var scope: any SQLScope
        /// The table of the last entity on the path.
        var table = ""
        /// The sources of the entities on the path.
        var sources: [SQLText] = []
        /// The properties of the current entity that the path has named so far.
        var names: [String] = []
        /// The collection at the end of the path.
        var collection: SQLNavigation?

        /// Returns `text`, which refers to the last entity, from the perspective of the first; `missing` if there is no
        /// last entity.
        func wrap(_ text: SQLText, missing: String? = nil) -> SQLText {
            guard !sources.isEmpty else { return text }
            var text = text
            for source in sources.reversed() { text = "(SELECT " + text + " FROM " + source + " LIMIT 1)" }
            return missing.map { "COALESCE(" + text + ", \($0))" } ?? text
        }
    }

    private mutating func step(_ walk: inout Walk, _ name: String) throws(EvaluationError) {
        guard walk.collection == nil else { throw unsupported("A property of a collection") }
        let table = nextTable()
        if walk.names.isEmpty, let navigation = walk.scope.navigation(name, alias: table) {
            walk.table = table
            if navigation.isCollection {
                walk.collection = navigation
            } else {
                walk.sources.append(navigation.source)
                walk.scope = navigation.scope
            }
        } else {
            walk.names.append(name)
        }
    }

    /// Returns the path as a value in SQL.
    mutating func resolve(_ path: ExpressionPath) throws(EvaluationError) -> Scalar {
        var walk = Walk(scope: try start(of: path))
        for (index, segment) in path.segments.enumerated() {
            switch segment {
            case .property(let name): try step(&walk, name)
            case .any(let lambda):
                let test = try exists(walk, lambda, isAll: false)
                try expectEnd(path, index)
                return Scalar(walk.wrap(test, missing: "0"), .boolean)
            case .all(let lambda):
                let test = try exists(walk, lambda, isAll: true)
                try expectEnd(path, index)
                return Scalar(walk.wrap(test, missing: "1"), .boolean)
            case .count(let options):
                guard let collection = walk.collection, options.search == nil else {
                    throw unsupported("This kind of $count")
                }
                var source = collection.source
                if let filter = options.filter {
                    source = source + " AND " + (try within(collection.scope, nil, filter, isExact: false))
                }
                try expectEnd(path, index)
                return Scalar(walk.wrap("(SELECT COUNT(*) FROM " + source + ")", missing: "0"), .integer)
            case .type, .annotation, .function, .key, .filter, .aggregate:
                throw unsupported("This kind of path")
            }
        }
        guard walk.collection == nil, let column = walk.scope.column(walk.names) else {
            throw unsupported("The path \(walk.names.joined(separator: "/"))")
        }
        return Scalar(walk.wrap(SQLText(column.sql)), column.kind, enumeration: column.enumeration)
    }

    private func expectEnd(_ path: ExpressionPath, _ index: Int) throws(EvaluationError) {
        guard index == path.segments.count - 1 else { throw unsupported("This kind of path") }
    }

    private mutating func exists(
        _ walk: Walk, _ lambda: ExpressionPath.Lambda?, isAll: Bool
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
        var walk = Walk(scope: scope)
        for segment in path.segments {
            guard case .property(let name) = segment, walk.collection == nil else { return false }
            try step(&walk, name)
        }
        return walk.names.isEmpty && walk.collection == nil && !walk.sources.isEmpty
    }

    /// Returns the entity ID at the end of a path of to-one navigation properties; null if there is no entity.
    mutating func entity(at path: ExpressionPath) throws(EvaluationError) -> SQLText {
        var walk = Walk(scope: try start(of: path))
        for segment in path.segments {
            guard case .property(let name) = segment else { throw unsupported("This kind of path") }
            try step(&walk, name)
        }
        guard walk.names.isEmpty, walk.collection == nil, !walk.sources.isEmpty else {
            throw unsupported("This kind of path")
        }
        return walk.wrap(SQLText("\(walk.table).entity"))
    }

    /// Returns whether there is an entity at the end of a path of navigation properties.
    mutating func exists(_ path: ExpressionPath) throws(EvaluationError) -> SQLText {
        var walk = Walk(scope: try start(of: path))
        for segment in path.segments {
            guard case .property(let name) = segment else { throw unsupported("This kind of path") }
            try step(&walk, name)
        }
        if let collection = walk.collection {
            return walk.wrap("EXISTS (SELECT 1 FROM " + collection.source + ")", missing: "0")
        }
        guard let last = walk.sources.popLast() else { throw unsupported("entityexists of a property") }
        return walk.wrap("EXISTS (SELECT 1 FROM " + last + ")", missing: "0")
    }
}
