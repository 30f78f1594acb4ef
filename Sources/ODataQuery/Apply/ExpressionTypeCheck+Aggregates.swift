internal import EDM

/// The type check of aggregates, as path segments and in `$apply`.
extension ExpressionTypeCheck {
    /// Returns the type of an aggregate over a collection of the current type.
    mutating func type(of item: AggregateItem, _ whole: Expression) throws(URLSyntaxError) -> ExpressionType {
        for step in item.steps {
            for path in step.properties { _ = try groupingType(path) }
        }
        switch item.subject {
        case .count(let path):
            _ = try aggregatedType(ExpressionPath(root: path.root, segments: path.segments.dropLast()))
            return .primitive(.decimal)
        case .custom(let path):
            guard case .property(let name)? = path.segments.last else { return .unknown }
            let owner = try aggregatedType(ExpressionPath(root: path.root, segments: path.segments.dropLast()))
            // An earlier transformation may have returned the custom aggregate as a property.
            if case .structured(let type) = owner, let property = type.findProperty(name),
                property.type.primitive != .untyped
            {
                throw error(
                    .wrongArgumentType, "The property \(name) must be followed by \"with\" and an aggregation method.",
                    .path(path))
            }
            return .unknown
        case .values(let expression, let method):
            let type: ExpressionType
            if case .path(let path) = expression {
                type = try aggregatedType(path)
            } else {
                type = try self.type(of: expression)
            }
            return try result(method, of: type, expression)
        }
    }

    private func result(
        _ method: AggregationMethod, of type: ExpressionType, _ expression: Expression
    ) throws(URLSyntaxError) -> ExpressionType {
        switch method {
        case .custom: return .unknown
        case .countDistinct: return .primitive(.decimal)
        case .sum, .average:
            guard type.family == .number || type.family == .any || type == .primitive(.duration) else {
                throw error(
                    .wrongArgumentType, "\(method.name) aggregates numbers and durations, not \(type.name).", expression
                )
            }
            return method == .average && type.family == .number && type != .primitive(.double)
                ? .primitive(.decimal) : type
        case .min, .max:
            guard ![.collection, .structured, .geo, .stream].contains(type.family) else {
                throw error(.wrongArgumentType, "Values of type \(type.name) have no order.", expression)
            }
            return type
        }
    }

    /// Returns the type at the end of a path, evaluated for each item of the collections along it.
    mutating func aggregatedType(_ path: ExpressionPath) throws(URLSyntaxError) -> ExpressionType {
        // An absolute path has a type from its first segment on.
        let head = path.root == .root ? Array(path.segments.prefix(1)) : []
        var type = try self.type(of: ExpressionPath(root: path.root, segments: head), .path(path))
        for segment in path.segments.dropFirst(head.count) {
            // A type cast filters the collection. It is a qualified name or, in 4.01, an unqualified one.
            if case .property(let name) = segment, case .collection(let item) = type, !isCast(name, of: item) {
                type = item
            }
            type = try self.type(behind: segment, of: type, .path(path))
        }
        while case .collection(let item) = type { type = item }
        return type
    }

    private func isCast(_ name: String, of item: ExpressionType) -> Bool {
        guard version == .v401, case .structured(let owner) = item, owner.findProperty(name) == nil else {
            return false
        }
        return model.findType(name, isLocalAllowed: true) != nil
    }

    /// Returns the type of a grouping path, which may only contain single-valued properties.
    func groupingType(_ path: ExpressionPath) throws(URLSyntaxError) -> ExpressionType {
        var type = current
        for segment in path.segments {
            switch (segment, type) {
            case (_, .unknown): return .unknown
            case (.type(let name), _): type = try namedType(name, .path(path))
            case (.property(let name), .structured(let owner)):
                guard let property = owner.findProperty(name) else {
                    if owner.isOpen(to: name) || computed.contains(name) { return .unknown }
                    throw error(.unknownProperty, model.missingProperty(name, of: owner), .path(path))
                }
                type = ExpressionType(property.type, in: model)
                // A property that is declared as primitive has no properties, whatever its values are.
                if type == .unknown, case .primitive(.primitiveType) = property.type.kind { type = .null }
            default:
                throw error(
                    .misplacedSegment, "Instances can only be grouped by paths of single-valued properties.",
                    .path(path))
            }
        }
        guard case .collection = type else { return type }
        throw error(.misplacedSegment, "Instances cannot be grouped by a collection.", .path(path))
    }
}
