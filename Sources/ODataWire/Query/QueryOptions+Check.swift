public import EDM

extension QueryOptions {
    /// Checks every name and operand against the type that the request's path leads to.
    public func check(
        against type: StructuredType, model: EntityDataModel, version: ODataVersion
    ) throws(URLSyntaxError) {
        var check = ExpressionTypeCheck(type: .structured(type), model: model, version: version)
        let type = try check.type(behind: apply, of: type)
        for item in compute {
            _ = try check.type(of: item.expression)
            check.computed.insert(item.name)
        }
        if let filter { try check.expectBoolean(filter) }
        for item in orderBy { try check.expectOrder(item) }
        for item in select {
            try Self.check(select: item, type, check.computed, model, version)
        }
        for item in expand { try Self.check(expand: item, type, model, version) }
    }

    private static func check(
        select item: SelectItem, _ type: StructuredType, _ computed: Set<String>, _ model: EntityDataModel,
        _ version: ODataVersion
    ) throws(URLSyntaxError) {
        var walk = PathWalk(
            type: type, model: model, version: version, text: item.path.map(\.text).joined(separator: "/"))
        for (index, segment) in item.path.enumerated() {
            if index == 0, case .name(let name) = segment, computed.contains(name) { return }
            try walk.step(segment, isExpand: false)
            // V2 selects properties of the entity, and below navigation properties, but no parts of complex values.
            if version.isLegacy, index + 1 < item.path.count, walk.lastProperty?.isNavigation == false {
                throw walk.error("V2 cannot select a part of a complex value.")
            }
        }
        if let inner = walk.type { try item.options.check(against: inner, model: model, version: version) }
    }

    private static func check(
        expand item: ExpandItem, _ type: StructuredType, _ model: EntityDataModel, _ version: ODataVersion
    ) throws(URLSyntaxError) {
        var walk = PathWalk(
            type: type, model: model, version: version, text: item.path.map(\.text).joined(separator: "/"))
        for segment in item.path { try walk.step(segment, isExpand: true) }
        if let last = walk.lastProperty, !last.isNavigation, last.type.primitive != .stream {
            throw walk.error("\(last.name) is not a navigation property.")
        }
        if let inner = walk.type { try item.options.check(against: inner, model: model, version: version) }
    }
}

/// Follows a path of `$select` or `$expand` through types.
private struct PathWalk {
    /// The type at hand; nil behind a primitive property, and where nothing is known.
    var type: StructuredType?
    let model: EntityDataModel
    let version: ODataVersion
    let text: String
    /// The property that the path came through last.
    var lastProperty: Property?
    private var isUnknown = false

    init(type: StructuredType, model: EntityDataModel, version: ODataVersion, text: String) {
        self.type = type
        self.model = model
        self.version = version
        self.text = text
    }

    func error(_ message: String) -> URLSyntaxError { URLSyntaxError(.unknownProperty, message, in: text) }

    mutating func step(_ segment: SelectSegment, isExpand: Bool) throws(URLSyntaxError) {
        if isUnknown { return }
        guard let owner = type else { throw error("\(lastProperty?.name ?? "The path") has no properties.") }
        switch segment {
        case .star, .value: lastProperty = nil
        case .annotation: isUnknown = true
        case .name(let name):
            if let property = owner.findProperty(name) {
                lastProperty = property
                switch property.type.kind {
                case .complex(let name): type = model.findComplexType(name)
                case .entity(let name): type = model.findEntityType(name)
                case .unresolved: isUnknown = true
                default: type = nil
                }
            } else if version == .v401, case .structured(let cast)? = model.findType(name, isLocalAllowed: true) {
                type = cast
                lastProperty = nil
            } else if owner.isOpen(to: name) || !model.operations(called: name, isLocalAllowed: version == .v401).isEmpty {
                isUnknown = true
            } else {
                throw error(model.missingProperty(name, of: owner))
            }
        case .qualifiedName(let name, _):
            if case .structured(let cast)? = model.findType(name, isLocalAllowed: version == .v401) {
                type = cast
                lastProperty = nil
            } else if !isExpand, !model.operations(called: name, isLocalAllowed: version == .v401).isEmpty {
                isUnknown = true
            } else {
                throw error("\(name) is neither a type nor an operation of the model.")
            }
        }
        if isUnknown {
            type = nil
            lastProperty = nil
        }
    }
}
