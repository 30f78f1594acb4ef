package import EDM

extension Transformation {
    /// Returns the sequence as the value of `$apply`, without percent-encoding.
    ///
    /// - Throws: `notExpressible` if the version does not support it.
    package static func print(_ sequence: [Transformation], version: ODataVersion) throws(URLSyntaxError) -> String {
        guard !version.isLegacy else {
            throw URLSyntaxError(.notExpressible, "OData \(version.rawValue) has no $apply.", in: "$apply")
        }
        return try ApplyPrinter(version: version).text(sequence)
    }
}

struct ApplyPrinter {
    let version: ODataVersion

    func text(_ sequence: [Transformation]) throws(URLSyntaxError) -> String {
        try joined(sequence, "/") { (item) throws(URLSyntaxError) in try text(item) }
    }

    private func text(_ transformation: Transformation) throws(URLSyntaxError) -> String {
        if transformation == .identity { return "identity" }
        return transformation.name + "(" + (try arguments(transformation)) + ")"
    }

    private func arguments(_ transformation: Transformation) throws(URLSyntaxError) -> String {
        switch transformation {
        case .identity: return ""
        case .aggregate(let items): return try joined(items) { (item) throws(URLSyntaxError) in try text(item) }
        case .groupBy(let items, let inner):
            let keys = try joined(items) { (item) throws(URLSyntaxError) in try text(item) }
            return "(\(keys))" + (inner.isEmpty ? "" : "," + (try text(inner)))
        case .filter(let condition): return try condition.print(version: version)
        case .search(let search): return search.description
        case .compute(let items):
            return try joined(items) { (item) throws(URLSyntaxError) in
                "\(try item.expression.print(version: version)) as \(item.name)"
            }
        case .orderBy(let items): return try text(items)
        case .top(let count), .skip(let count): return "\(count)"
        case .concat(let sequences): return try joined(sequences) { (item) throws(URLSyntaxError) in try text(item) }
        case .ranked(_, let amount, let key):
            return try amount.print(version: version) + "," + (try key.print(version: version))
        case .nest(let sequences): return try text(sequences)
        case .addNested(let path, let sequences): return try text(path) + "," + (try text(sequences))
        case .join(let path, let name, let inner, _):
            return try text(path) + " as \(name)" + (inner.isEmpty ? "" : "," + (try text(inner)))
        case .relatives(let relatives):
            return try text(relatives.hierarchy) + "," + (try text(relatives.start))
                + (relatives.distance.map { ",\($0)" } ?? "") + (relatives.keepsStart ? ",keep start" : "")
        case .traverse(let traversal):
            return try text(traversal.hierarchy) + ",\(traversal.order.rawValue)"
                + (traversal.nodes.isEmpty ? "" : "," + (try text(traversal.nodes)))
                + (traversal.siblings.isEmpty ? "" : "," + (try text(traversal.siblings)))
        case .function(_, let arguments):
            return try joined(arguments) { (argument) throws(URLSyntaxError) in
                (argument.name.map { "\($0)=" } ?? "") + (try argument.value.print(version: version))
            }
        }
    }

    /// Returns the content of `aggregate(…)`.
    func text(_ item: AggregateItem) throws(URLSyntaxError) -> String {
        var result: String
        switch item.subject {
        case .values(let expression, let method):
            result = try expression.print(version: version) + " with \(method.name)"
        case .count(let path), .custom(let path): result = try text(path)
        }
        for step in item.steps {
            result += " from " + (try joined(step.properties) { (path) throws(URLSyntaxError) in try text(path) })
            if let method = step.method { result += " with \(method.name)" }
        }
        return result + (item.name.map { " as \($0)" } ?? "")
    }

    private func text(_ item: GroupingItem) throws(URLSyntaxError) -> String {
        switch item {
        case .property(let path): return try text(path)
        case .rollup(let levels):
            return "rollup("
                + (try joined(levels) { (path) throws(URLSyntaxError) in
                    path.segments.isEmpty ? "$all" : try text(path)
                }) + ")"
        case .recursiveRollup(let hierarchy, let inner):
            return "rolluprecursive(" + (try text(hierarchy)) + (inner.isEmpty ? "" : "," + (try text(inner))) + ")"
        }
    }

    private func text(_ sequences: [Transformation.NestedSequence]) throws(URLSyntaxError) -> String {
        try joined(sequences) { (item) throws(URLSyntaxError) in "\(try text(item.transformations)) as \(item.name)" }
    }

    private func text(_ hierarchy: Transformation.Hierarchy) throws(URLSyntaxError) -> String {
        try text(hierarchy.nodes) + ",\(hierarchy.qualifier)," + (try text(hierarchy.node))
    }

    private func text(_ items: [OrderItem]) throws(URLSyntaxError) -> String {
        try joined(items) { (item) throws(URLSyntaxError) in
            try item.expression.print(version: version) + (item.isDescending ? " desc" : "")
        }
    }

    private func text(_ path: ExpressionPath) throws(URLSyntaxError) -> String {
        try Expression.path(path).print(version: version)
    }

    private func joined<T>(
        _ items: [T], _ separator: String = ",", _ text: (T) throws(URLSyntaxError) -> String
    ) throws(URLSyntaxError) -> String {
        var parts: [String] = []
        for item in items { parts.append(try text(item)) }
        return parts.joined(separator: separator)
    }
}
