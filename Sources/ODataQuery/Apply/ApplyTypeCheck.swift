internal import EDM

/// The type check of `$apply`: the names in each transformation, and the type of its output instances.
struct ApplyTypeCheck {
    /// The check of the expressions in the transformations. Their paths start from the output of the previous one.
    var expressions: ExpressionTypeCheck

    /// Returns the type of the instances after a sequence of transformations, and makes paths start from it.
    mutating func type(
        behind sequence: [Transformation], of type: StructuredType
    ) throws(URLSyntaxError) -> StructuredType {
        guard !sequence.isEmpty else { return type }
        var type = type
        for transformation in sequence {
            enter(type)
            type = try self.type(behind: transformation, of: type)
        }
        enter(type)
        return type
    }

    private mutating func enter(_ type: StructuredType) {
        expressions.current = .structured(type)
        expressions.these = expressions.current
    }

    /// Returns the type after a sequence. Paths start from the same type as before afterwards.
    private mutating func branch(
        _ sequence: [Transformation], of type: StructuredType
    ) throws(URLSyntaxError) -> StructuredType {
        let outer = (expressions.current, expressions.these)
        defer { (expressions.current, expressions.these) = outer }
        return try self.type(behind: sequence, of: type)
    }

    private mutating func type(
        behind transformation: Transformation, of type: StructuredType
    ) throws(URLSyntaxError) -> StructuredType {
        switch transformation {
        case .identity, .search, .top, .skip: return type
        case .filter(let condition):
            try expressions.expectBoolean(condition)
            return type
        case .orderBy(let items):
            for item in items { try expressions.expectOrder(item) }
            return type
        case .ranked(_, let amount, let key):
            for expression in [amount, key] {
                let found = try expressions.type(of: expression)
                guard found.family == .number || found.family == .any else {
                    throw expressions.error(.wrongArgumentType, "Expected a number, not \(found.name).", expression)
                }
            }
            return type
        case .compute(let items):
            var result = type
            for item in items {
                result = result.adding(item.name, try expressions.type(of: item.expression))
                expressions.current = .structured(result)
            }
            return result
        case .aggregate(let items): return try aggregated(items, of: type)
        case .groupBy(let items, let inner): return try grouped(items, inner, of: type)
        case .concat(let sequences):
            var results: [StructuredType] = []
            for sequence in sequences { results.append(try branch(sequence, of: type)) }
            return StructuredType.union(results, of: type)
        case .nest(let sequences):
            for sequence in sequences { _ = try branch(sequence.transformations, of: type) }
            return StructuredType.result(of: type, sequences.map { .dynamic($0.name, of: type) })
        case .addNested(let path, let sequences): return try nested(sequences, path, of: type)
        case .join(let path, let name, let inner, _):
            guard let item = try collection(path) else {
                throw expressions.error(
                    .wrongArgumentType, "join requires a collection, not a single instance.", .path(path))
            }
            if case .structured(let item) = item { _ = try branch(inner, of: item) }
            return type.adding(name, .unknown)
        case .relatives(let relatives):
            _ = try nodeType(of: relatives.hierarchy)
            _ = try branch(relatives.start, of: type)
            return type
        case .traverse(let traversal):
            _ = try nodeType(of: traversal.hierarchy)
            _ = try branch(traversal.nodes, of: type)
            for item in traversal.siblings { try expressions.expectOrder(item) }
            return type
        case .function(let name, let arguments):
            guard !expressions.model.operations(called: name, isLocalAllowed: false).isEmpty else {
                throw URLSyntaxError(.unknownFunction, "\(name) is not a function of the expressions.model.", in: name)
            }
            for argument in arguments { _ = try expressions.type(of: argument.value) }
            return StructuredType.union([type], of: type, isOpen: true)
        }
    }

    /// Returns the type of a hierarchy's nodes, which must be entities.
    private mutating func nodeType(of hierarchy: Transformation.Hierarchy) throws(URLSyntaxError) -> ExpressionType {
        guard let item = try collection(hierarchy.nodes) else {
            throw expressions.error(
                .wrongArgumentType, "Expected a collection of nodes, not a single node.", .path(hierarchy.nodes))
        }
        return item
    }

    private mutating func nested(
        _ sequences: [Transformation.NestedSequence], _ path: ExpressionPath, of type: StructuredType
    ) throws(URLSyntaxError) -> StructuredType {
        let reached = try expressions.aggregatedType(path)
        switch reached {
        case .structured, .unknown: break
        default:
            throw expressions.error(
                .wrongArgumentType, "addnested applies to entities and complex values, not to \(reached.name).",
                .path(path))
        }
        var result = type
        for sequence in sequences {
            if case .structured(let item) = reached { _ = try branch(sequence.transformations, of: item) }
            result = result.adding(sequence.name, .unknown)
        }
        return result
    }

    /// Returns the type of the items if the path leads to a collection; otherwise nil.
    private mutating func collection(_ path: ExpressionPath) throws(URLSyntaxError) -> ExpressionType? {
        switch try expressions.type(of: path, .path(path)) {
        case .collection(let item): item
        case .unknown: .unknown
        default: nil
        }
    }

    // MARK: aggregate

    private mutating func aggregated(
        _ items: [AggregateItem], of type: StructuredType
    ) throws(URLSyntaxError) -> StructuredType {
        var properties: [Property] = []
        for item in items {
            let found = try expressions.type(of: item, .path(ExpressionPath(segments: [])))
            guard let name = item.resultName else { continue }
            guard !properties.contains(where: { $0.name == name }) else {
                throw URLSyntaxError(.invalidOptionValue, "Two aggregates have the name \(name).", in: name)
            }
            properties.append(.dynamic(name, found, of: type))
        }
        return StructuredType.result(of: type, properties)
    }

    // MARK: groupby

    private mutating func grouped(
        _ items: [GroupingItem], _ inner: [Transformation], of type: StructuredType
    ) throws(URLSyntaxError) -> StructuredType {
        var paths: [ExpressionPath] = []
        var recursive: [ExpressionPath] = []
        for item in items {
            switch item {
            case .property(let path): paths.append(path)
            case .rollup(let levels):
                // A single name may be the name of a hierarchy, which only the service defines.
                if levels.count == 1, case .property(let name)? = levels[0].segments.first,
                    type.findProperty(name) == nil
                {
                    continue
                }
                paths += levels.filter { !$0.segments.isEmpty }
            case .recursiveRollup(let hierarchy, let start):
                // The transformations that filter the hierarchy apply to its nodes.
                if case .structured(let node) = try nodeType(of: hierarchy) { _ = try branch(start, of: node) }
                // An instance may belong to several nodes.
                _ = try expressions.aggregatedType(hierarchy.node)
                recursive.append(hierarchy.node)
            }
        }
        var properties: [Property] = []
        for path in paths { _ = try expressions.groupingType(path) }
        for path in paths + recursive {
            for case .property(let name) in path.segments {
                properties.append(type.findProperty(name) ?? .dynamic(name, of: type))
                break
            }
        }
        guard !inner.isEmpty else { return StructuredType.result(of: type, properties) }
        let result = try branch(inner, of: type)
        return StructuredType.union([StructuredType.result(of: type, properties), result], of: type)
    }

}

extension AggregateItem {
    /// The name of the property that contains the aggregate, or nil.
    var resultName: String? {
        if let name { return name }
        guard case .custom(let path) = subject, case .property(let name)? = path.segments.last else { return nil }
        return name
    }
}

extension Property {
    /// Returns a property that a transformation adds.
    fileprivate static func dynamic(
        _ name: String, _ type: ExpressionType = .unknown, of owner: StructuredType
    ) -> Property {
        let reference: TypeReference
        switch type {
        case .primitive(let primitive): reference = TypeReference(.primitive(primitive))
        case .enumeration(let name): reference = TypeReference(.enumeration(name: name))
        default: reference = TypeReference(.primitive(.untyped))
        }
        return Property(name: name, type: reference, declaringType: owner.name)
    }
}

extension StructuredType {
    /// Returns the type of instances that have exactly these properties. It keeps the name of the original type for
    /// messages.
    fileprivate static func result(of type: StructuredType, _ properties: [Property]) -> StructuredType {
        StructuredType(
            kind: .entity, name: type.name, properties: properties.filter { !$0.isNavigation },
            navigationProperties: properties.filter(\.isNavigation), unusableProperties: type.unusableProperties)
    }

    /// Returns the type with the properties of all types.
    fileprivate static func union(
        _ types: [StructuredType], of type: StructuredType, isOpen: Bool = false
    ) -> StructuredType {
        StructuredType(
            kind: .entity, name: type.name, isOpen: isOpen || types.contains(where: \.isOpen),
            properties: types.flatMap(\.properties), navigationProperties: types.flatMap(\.navigationProperties),
            unusableProperties: type.unusableProperties)
    }

    fileprivate func adding(_ name: String, _ type: ExpressionType) -> StructuredType {
        StructuredType(
            kind: kind, name: self.name, baseType: baseType, isOpen: isOpen, hasStream: hasStream,
            properties: properties + [.dynamic(name, type, of: self)], navigationProperties: navigationProperties,
            keyProperties: keyProperties, unusableProperties: unusableProperties)
    }
}
