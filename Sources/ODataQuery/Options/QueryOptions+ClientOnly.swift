package import EDM

extension QueryOptions {
    /// Returns a property in `$filter`, `$orderby`, `$compute`, `$select` or `$expand` that exists only in the store,
    /// so that no service can evaluate it.
    package func clientOnlyProperty(of type: EntityType, in model: EntityDataModel) -> Property? {
        for path in select.map(\.path) {
            if let found = type.clientOnlyProperty(in: path.names, model) { return found }
        }
        for expression in [filter].compactMap({ $0 }) + orderBy.map(\.expression) + compute.map(\.expression) {
            if let found = expression.clientOnlyProperty(of: type, in: model) { return found }
        }
        for item in expand {
            if let found = type.clientOnlyProperty(in: item.path.names, model) { return found }
            let target = item.path.names.last.flatMap { type.findProperty($0)?.navigation?.targetType }
            guard let target = target.flatMap({ model.findEntityType($0) }) else { continue }
            if let found = item.options.clientOnlyProperty(of: target, in: model) { return found }
        }
        return nil
    }
}

extension [SelectSegment] {
    fileprivate var names: [String] { compactMap { if case .name(let name) = $0 { name } else { nil } } }
}

extension EntityType {
    fileprivate func clientOnlyProperty(in path: [String], _ model: EntityDataModel) -> Property? {
        var type: EntityType? = self
        for name in path {
            guard let property = type?.findProperty(name) else { return nil }
            if property.isClientOnly { return property }
            type = property.navigation.flatMap { model.findEntityType($0.targetType) }
        }
        return nil
    }
}

extension Expression {
    /// Returns a client-only property that a path of the expression names, beginning at the entity.
    fileprivate func clientOnlyProperty(of type: EntityType, in model: EntityDataModel) -> Property? {
        if case .path(let path) = self {
            let names = path.segments.compactMap { if case .property(let name) = $0 { name } else { nil } }
            if let found = type.clientOnlyProperty(in: names, model) { return found }
        }
        for operand in operands {
            if let found = operand.clientOnlyProperty(of: type, in: model) { return found }
        }
        return nil
    }
}
