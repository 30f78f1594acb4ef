internal import EDM

extension ExpressionTypeCheck {
    mutating func type(of path: ExpressionPath, _ whole: Expression) throws(URLSyntaxError) -> ExpressionType {
        var type: ExpressionType
        var segments = path.segments[...]
        switch path.root {
        case .implicit: type = current
        case .it: type = root
        case .these: type = .collection(these)
        case .this: type = current
        case .variable(let name): type = variables[name] ?? .unknown
        case .alias: type = .unknown
        case .expression(let inner): type = try self.type(of: inner)
        case .root:
            type = try rootType(segments.first, whole)
            segments = segments.dropFirst()
        }
        if path.root == .implicit, segments.count == 1, case .type(let name)? = segments.first {
            throw error(.unknownProperty, "\(name) is a type and must be followed by a property.", whole)
        }
        for segment in segments { type = try self.type(behind: segment, of: type, whole) }
        return type
    }

    /// Returns the type of an absolute path's first segment: a set, a set with a named key, a singleton, or a function
    /// import.
    private mutating func rootType(
        _ segment: ExpressionPath.Segment?, _ whole: Expression
    ) throws(URLSyntaxError) -> ExpressionType {
        let name: String
        var arguments: [ExpressionPath.Argument]?
        switch segment {
        case .property(let set): name = set
        case .function(let called, let given): (name, arguments) = (called, given)
        default:
            throw error(.unknownSegment, "$root must be followed by an entity set, a singleton or a function.", whole)
        }
        if let set = model.findEntitySet(name) {
            let item = ExpressionType.structured(set.entityType)
            guard let arguments else { return set.isSingleton ? item : .collection(item) }
            guard !set.isSingleton else { throw error(.misplacedSegment, "A singleton has no key.", whole) }
            try checkKey(arguments, of: item, whole)
            return item
        }
        let imports = model.schemas.flatMap(\.containers).flatMap(\.functionImports)
        guard let arguments, let found = imports.first(where: { $0.name == name }) else {
            throw error(
                .unknownSegment, "The service has no entity set, singleton or function \(name).", whole)
        }
        for argument in arguments { _ = try self.type(of: argument.value) }
        let overload = model.operations.first { $0.name == found.operation && !$0.isBound }
        return overload?.returnType.map { ExpressionType($0.type, in: model) } ?? .unknown
    }

    /// Checks the values of a key predicate against the key of the type.
    private mutating func checkKey(
        _ arguments: [ExpressionPath.Argument], of type: ExpressionType, _ whole: Expression
    ) throws(URLSyntaxError) {
        guard case .structured(let type) = type else { return }
        guard type.kind == .entity else { throw error(.misplacedSegment, "Only entities have keys.", whole) }
        let keys = [type.keyParts] + type.alternateKeys.map(\.parts)
        let isUnnamed = arguments.count == 1 && arguments[0].name == nil
        let fitting = keys.first { parts in
            isUnnamed ? parts.count == 1 : Set(parts.map(\.name)) == Set(arguments.map { $0.name ?? "" })
        }
        guard let fitting, !arguments.isEmpty else {
            throw error(.invalidKey, "This is not a key of \(type.name).", whole)
        }
        for argument in arguments {
            switch argument.value {
            case .literal, .enumeration: break
            case _ where argument.value.isAlias: break
            default: throw error(.invalidKey, "A key consists of literals and parameter aliases.", whole)
            }
            let part = fitting.first { $0.name == argument.name } ?? fitting[0]
            let (wanted, given) = (ExpressionType(part.type, in: model), try self.type(of: argument.value))
            guard wanted.isComparable(with: given) else {
                throw error(.invalidKey, "\(part.name) is of type \(wanted.name), not \(given.name).", whole)
            }
        }
    }

    mutating func type(
        behind segment: ExpressionPath.Segment, of type: ExpressionType, _ whole: Expression
    ) throws(URLSyntaxError) -> ExpressionType {
        switch segment {
        case .property(let name): return try property(name, of: type, whole)
        case .type(let name):
            let cast = try namedType(name, whole)
            if case .collection = type { return .collection(cast) }
            return cast
        case .annotation: return .unknown
        case .function(let name, let arguments): return try function(name, arguments, of: type, whole)
        case .key(let arguments):
            guard case .collection(let item) = type else {
                if type == .unknown { return .unknown }
                throw error(.misplacedSegment, "Only a collection of entities can be followed by a key.", whole)
            }
            switch item {
            case .structured, .unknown: break
            default: throw error(.misplacedSegment, "Only a collection of entities can be followed by a key.", whole)
            }
            try checkKey(arguments, of: item, whole)
            return item
        case .count(let options):
            let item = try item(of: type, whole)
            if let filter = options.filter {
                try within(item) { (check) throws(URLSyntaxError) in try check.expectBoolean(filter) }
            }
            return .primitive(.int64)
        case .filter(let predicate):
            let item = try item(of: type, whole)
            try within(item) { (check) throws(URLSyntaxError) in try check.expectBoolean(predicate) }
            return type
        case .any(let lambda):
            let item = try item(of: type, whole)
            if let lambda { try self.lambda(lambda, over: item) }
            return .primitive(.boolean)
        case .all(let lambda):
            try self.lambda(lambda, over: try item(of: type, whole))
            return .primitive(.boolean)
        case .aggregate(let item):
            let inner = try self.item(of: type, whole)
            var result = ExpressionType.unknown
            try within(inner) { (check) throws(URLSyntaxError) in result = try check.type(of: item, whole) }
            return result
        }
    }

    private func item(of type: ExpressionType, _ whole: Expression) throws(URLSyntaxError) -> ExpressionType {
        switch type {
        case .collection(let item): return item
        case .unknown: return .unknown
        default: throw error(.misplacedSegment, "A value of type \(type.name) is not a collection.", whole)
        }
    }

    private mutating func lambda(
        _ lambda: ExpressionPath.Lambda, over item: ExpressionType
    ) throws(URLSyntaxError) {
        let outer = variables[lambda.variable]
        variables[lambda.variable] = item
        defer { variables[lambda.variable] = outer }
        try expectBoolean(lambda.predicate)
    }

    mutating func within(
        _ type: ExpressionType, _ body: (inout ExpressionTypeCheck) throws(URLSyntaxError) -> Void
    ) throws(URLSyntaxError) {
        let outer = current
        current = type
        defer { current = outer }
        try body(&self)
    }

    private func property(
        _ name: String, of type: ExpressionType, _ whole: Expression
    ) throws(URLSyntaxError) -> ExpressionType {
        switch type {
        case .unknown: return .unknown
        case .structured(let owner):
            if let property = owner.findProperty(name) { return ExpressionType(property.type, in: model) }
            if computed.contains(name) { return .unknown }
            if version == .v401, let cast = model.findType(name, isLocalAllowed: true) { return cast }
            if owner.isOpen(to: name) { return .unknown }
            throw error(.unknownProperty, model.missingProperty(name, of: owner), whole)
        case .collection(let item):
            // 4.01: an unqualified type name after a collection.
            if version == .v401, let cast = model.findType(name, isLocalAllowed: true) { return .collection(cast) }
            throw error(
                .misplacedSegment, "\(name) cannot be read from a Collection(\(item.name)); use any, all or $count.",
                whole)
        default: throw error(.unknownProperty, "\(type.name) has no property \(name).", whole)
        }
    }

    /// Returns the type of a bound function, or of a collection-valued navigation property or type cast with a named
    /// key.
    private mutating func function(
        _ name: String, _ arguments: [ExpressionPath.Argument], of type: ExpressionType, _ whole: Expression
    ) throws(URLSyntaxError) -> ExpressionType {
        if case .structured(let owner) = type, let property = owner.findProperty(name), property.isCollection {
            let item = ExpressionType(property.type.item, in: model)
            try checkKey(arguments, of: item, whole)
            return item
        }
        if case .collection = type, let cast = model.findType(name, isLocalAllowed: version == .v401),
            case .structured = cast
        {
            try checkKey(arguments, of: cast, whole)
            return cast
        }
        for argument in arguments { _ = try self.type(of: argument.value) }
        let candidates = model.operations(called: name, isLocalAllowed: version == .v401)
        if let found = candidates.first(where: { isCallable($0, on: type) }) {
            return found.returnType.map { ExpressionType($0.type, in: model) } ?? .unknown
        }
        if !candidates.isEmpty {
            throw error(.misplacedSegment, "\(name) cannot be called on a value of type \(type.name).", whole)
        }
        if type == .unknown { return .unknown }
        throw error(.unknownFunction, "\(name) is not a function of the model.", whole)
    }
    /// Returns whether the operation is unbound, or its binding parameter accepts the preceding value.
    private func isCallable(_ operation: ServiceOperation, on type: ExpressionType) -> Bool {
        guard operation.isBound, let binding = operation.parameters.first else { return true }
        return takes(ExpressionType(binding.type, in: model), type)
    }

    private func takes(_ wanted: ExpressionType, _ given: ExpressionType) -> Bool {
        switch (wanted, given) {
        case (.unknown, _), (_, .unknown): true
        case (.collection(let wanted), .collection(let given)): takes(wanted, given)
        case (.collection, _), (_, .collection): false
        case (.structured(let wanted), .structured(let given)): model.isType(given.name, derivedFrom: wanted.name)
        default: wanted.isComparable(with: given)
        }
    }
}
