package import EDM

extension ResourcePathParser {
    /// Parses a function or action import, which is only valid as the first segment.
    mutating func readImport(_ name: String, _ parentheses: String?) throws(URLSyntaxError) -> Bool {
        let imports = model.schemas.flatMap(\.containers).flatMap { $0.functionImports + $0.actionImports }
        guard let found = imports.first(where: { $0.name == name }) else { return false }
        let set = found.entitySet.flatMap { model.findEntitySet($0) }
        if version.isLegacy {
            guard parentheses == nil || parentheses == "()" else {
                throw error(.invalidParameter, "The parameters of \(name) are query options.")
            }
            segments.append(.operationImport(found, []))
            setTarget(found.returnType?.type, in: set)
            return true
        }
        guard parentheses == nil || found.kind == .function else {
            throw error(.invalidParameter, "The parameters of the action \(name) are in the request's body.")
        }
        let (arguments, rest) = try self.arguments(parentheses)
        let overloads = model.operations.filter { $0.name == found.operation && !$0.isBound }
        segments.append(.operationImport(found, arguments))
        let matching = overloads.first { accepts($0, arguments, bound: false) } ?? overloads.first
        if let matching, !arguments.isEmpty, !overloads.contains(where: { accepts($0, arguments, bound: false) }) {
            throw error(.invalidParameter, "\(matching.name) has no overload with these parameters.")
        }
        setTarget(matching?.returnType?.type, in: set)
        isFinal = found.kind == .action
        if let rest { try applyKey(after: rest) }
        return true
    }

    /// Parses a type cast or a bound operation, with a qualified name or, in 4.01, an unqualified one.
    mutating func readTypeOrOperation(_ name: String, _ parentheses: String?) throws(URLSyntaxError) -> Bool {
        if let type = findType(name), try cast(to: type) {
            try applyKey(parentheses)
            return true
        }
        guard !version.isLegacy, name.utf8.contains(UInt8(ascii: ".")) || version == .v401 else { return false }
        let candidates = model.operations(called: name, isLocalAllowed: version == .v401).filter {
            $0.isBound && isBindable($0)
        }
        guard let first = candidates.first else { return false }
        guard parentheses == nil || first.kind == .function else {
            throw error(.invalidParameter, "The parameters of the action \(first.name) are in the request's body.")
        }
        let (arguments, rest) = try self.arguments(parentheses)
        guard let chosen = candidates.first(where: { accepts($0, arguments, bound: true) }) else {
            throw error(.invalidParameter, "\(first.name) has no overload with these parameters.")
        }
        segments.append(.operation(chosen, arguments))
        setTarget(chosen.returnType?.type, in: nil)
        isFinal = chosen.kind == .action
        if let rest { try applyKey(after: rest) }
        return true
    }

    /// Parses the optional key in the remainder of a segment after `$filter(…)` or a function with its arguments.
    mutating func applyKey(after cursor: QueryCursor) throws(URLSyntaxError) {
        guard !cursor.isAtEnd else { return }
        let key = String(decoding: cursor.bytes[cursor.offset...], as: UTF8.self)
        guard key.hasPrefix("("), key != "()" else { throw cursor.error("Expected a key or the end of the segment.") }
        try applyKey(key)
    }

    private func findType(_ name: String) -> StructuredType? {
        let full = model.resolveAlias(name)
        if let type = model.findEntityType(full) ?? model.findComplexType(full) { return type }
        guard version == .v401, !name.utf8.contains(UInt8(ascii: ".")) else { return nil }
        for schema in model.schemas {
            let full = "\(schema.namespace).\(name)"
            if let type = model.findEntityType(full) ?? model.findComplexType(full) { return type }
        }
        return nil
    }

    private mutating func cast(to type: StructuredType) throws(URLSyntaxError) -> Bool {
        func isRelated(_ other: String) -> Bool {
            model.isType(type.name, derivedFrom: other) || model.isType(other, derivedFrom: type.name)
        }
        switch target {
        case .entities(let current, let set) where type.kind == .entity && isRelated(current.name):
            target = .entities(type, in: set)
        case .entity(let current, let set) where type.kind == .entity && isRelated(current.name):
            target = .entity(type, in: set)
        case .anyEntities where type.kind == .entity:
            target = .entity(type, in: nil)
        case .value(let current) where type.kind == .complex && isRelated(current.name):
            target = .value(TypeReference(.complex(name: type.name), isCollection: current.isCollection))
        default: return false
        }
        segments.append(.type(type))
        return true
    }

    /// Returns whether the operation's binding parameter accepts the target of the path.
    private func isBindable(_ operation: ServiceOperation) -> Bool {
        guard let binding = operation.parameters.first else { return false }
        func accepts(_ type: String) -> Bool { model.isType(type, derivedFrom: binding.type.name) }
        return switch target {
        case .entities(let type, _): binding.type.isCollection && accepts(type.name)
        case .entity(let type, _): !binding.type.isCollection && accepts(type.name)
        case .value(let type):
            type.isCollection == binding.type.isCollection && (type.name == binding.type.name || accepts(type.name))
        default: false
        }
    }

    private func accepts(_ operation: ServiceOperation, _ arguments: [ExpressionPath.Argument], bound: Bool) -> Bool {
        let parameters = operation.parameters.dropFirst(bound ? 1 : 0).map(\.name)
        return arguments.count <= parameters.count
            && arguments.allSatisfy { argument in argument.name.map(parameters.contains) ?? false }
    }

    private mutating func setTarget(_ type: TypeReference?, in set: EntitySet?) {
        guard let type else {
            target = .nothing
            return
        }
        if case .entity(let name) = type.kind, let entityType = model.findEntityType(name) {
            target = type.isCollection ? .entities(entityType, in: set) : .entity(entityType, in: set)
        } else {
            target = .value(type)
        }
    }

    /// Parses `(a=1,b=@x)` with its parentheses, and returns the position after it, where a key may follow.
    private func arguments(
        _ text: String?
    ) throws(URLSyntaxError) -> (arguments: [ExpressionPath.Argument], rest: QueryCursor?) {
        guard let text else { return ([], nil) }
        var parser = try ArgumentListParser(text, version: version)
        parser.cursor.offset = 1
        return (try parser.literals(), parser.cursor)
    }
}

extension EntityDataModel {
    /// All overloads of all functions and actions.
    package var operations: [ServiceOperation] { schemas.flatMap { $0.functions + $0.actions } }

    package func operations(called name: String, isLocalAllowed: Bool) -> [ServiceOperation] {
        let full = resolveAlias(name)
        return operations.filter { operation in
            operation.name == full
                || isLocalAllowed && !name.utf8.contains(UInt8(ascii: "."))
                    && operation.name.hasSuffix(".\(name)")
        }
    }
}
