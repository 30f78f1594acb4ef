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
            guard case .property(let name)? = segments.first, let set = model.findEntitySet(name) else {
                return .unknown
            }
            type = .structured(set.entityType)
            if !set.isSingleton { type = .collection(type) }
            segments = segments.dropFirst()
        }
        for segment in segments { type = try self.type(behind: segment, of: type, whole) }
        return type
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
        case .annotation, .value: return .unknown
        case .function(let name, let arguments): return try function(name, arguments, of: type, whole)
        case .key(let arguments):
            for argument in arguments { _ = try self.type(of: argument.value) }
            guard case .collection(let item) = type else {
                if type == .unknown { return .unknown }
                throw error(.misplacedSegment, "Only a collection takes a key.", whole)
            }
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
        case .ref: return type
        }
    }

    private func item(of type: ExpressionType, _ whole: Expression) throws(URLSyntaxError) -> ExpressionType {
        switch type {
        case .collection(let item): return item
        case .unknown: return .unknown
        default: throw error(.misplacedSegment, "A value of type \(type.name) is no collection.", whole)
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
            // 4.01: an unqualified type name behind a collection.
            if version == .v401, let cast = model.findType(name, isLocalAllowed: true) { return .collection(cast) }
            throw error(
                .misplacedSegment, "\(name) cannot be taken of a Collection(\(item.name)); use any, all or $count.",
                whole)
        default: throw error(.unknownProperty, "\(type.name) has no property \(name).", whole)
        }
    }

    /// A bound function, or a collection-valued navigation property with a key of named values.
    private mutating func function(
        _ name: String, _ arguments: [ExpressionPath.Argument], of type: ExpressionType, _ whole: Expression
    ) throws(URLSyntaxError) -> ExpressionType {
        for argument in arguments { _ = try self.type(of: argument.value) }
        if case .structured(let owner) = type, let property = owner.findProperty(name), property.isCollection {
            return ExpressionType(property.type.item, in: model)
        }
        let candidates = model.operations(called: name, isLocalAllowed: version == .v401)
        if let found = candidates.first {
            return found.returnType.map { ExpressionType($0.type, in: model) } ?? .unknown
        }
        if type == .unknown { return .unknown }
        throw error(.unknownFunction, "\(name) is not a function of the model.", whole)
    }
}
