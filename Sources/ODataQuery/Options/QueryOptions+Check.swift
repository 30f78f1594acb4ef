package import EDM

extension QueryOptions {
    /// Checks all names and operands against the type at the end of the request's path.
    package func check(
        against type: StructuredType, model: EntityDataModel, version: ODataVersion
    ) throws(URLSyntaxError) {
        var transformations = ApplyTypeCheck(
            expressions: ExpressionTypeCheck(type: .structured(type), model: model, version: version))
        let type = try transformations.type(behind: apply, of: type)
        var check = transformations.expressions
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
            // V2 selects properties of the entity, and properties of related entities, but not parts of complex values.
            if version.isLegacy, index + 1 < item.path.count, walk.lastProperty?.isNavigation == false {
                throw walk.error("V2 cannot select a part of a complex value.")
            }
        }
        try Self.check(selectOptions: item, walk)
        if let inner = walk.type { try item.options.check(against: inner, model: model, version: version) }
    }

    /// Checks the nested options of a selected property: none for a single value, and filtering ones for a collection
    /// of values.
    private static func check(selectOptions item: SelectItem, _ walk: PathWalk) throws(URLSyntaxError) {
        guard item.options != QueryOptions(), let last = walk.lastProperty else { return }
        if last.isNavigation { throw walk.error("\(last.name) is selected with options, which only $expand accepts.") }
        guard walk.type == nil, last.type.primitive.map({ $0 != .untyped }) ?? true else { return }
        let options = item.options
        guard last.type.isCollection, options.select.isEmpty, options.compute.isEmpty, options.aliases.isEmpty else {
            throw walk.error("\(last.name) has no properties to which the options could apply.")
        }
    }

    private static func check(
        expand item: ExpandItem, _ type: StructuredType, _ model: EntityDataModel, _ version: ODataVersion
    ) throws(URLSyntaxError) {
        var walk = PathWalk(
            type: type, model: model, version: version, text: item.path.map(\.text).joined(separator: "/"))
        for segment in item.path { try walk.step(segment, isExpand: true) }
        if let last = walk.lastProperty, !last.isNavigation {
            guard last.type.primitive == .stream else {
                throw walk.error("\(last.name) is not a navigation property.")
            }
            guard item.form == .entities, item.options == QueryOptions() else {
                throw walk.error("\(last.name) is a stream, which accepts no options.")
            }
        }
        if case .qualifiedName(let name, _)? = item.path.last, !walk.isBehindNavigation, walk.type != nil {
            throw walk.error("\(name) is a type and must be followed by a navigation property.")
        }
        if let inner = walk.type { try item.options.check(against: inner, model: model, version: version) }
    }
}

/// Follows a path of `$select` or `$expand` through types.
private struct PathWalk {
    /// The current type. Nil after a primitive property, and if the type is unknown.
    var type: StructuredType?
    let model: EntityDataModel
    let version: ODataVersion
    let text: String
    /// The last property in the path.
    var lastProperty: Property?
    /// Whether the path contains a navigation property.
    private(set) var isBehindNavigation = false
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
        if isExpand, isBehindNavigation, !version.isLegacy { try expectType(segment) }
        switch segment {
        case .star(let namespace?):
            guard model.schemas.contains(where: { $0.namespace == namespace || $0.alias == namespace }) else {
                throw error("\(namespace) is not a namespace of the model.")
            }
            lastProperty = nil
        case .star, .value: lastProperty = nil
        case .annotation: isUnknown = true
        case .name(let name):
            if let property = owner.findProperty(name) {
                lastProperty = property
                if property.isNavigation { isBehindNavigation = true }
                switch property.type.kind {
                case .complex(let name): type = model.findComplexType(name)
                case .entity(let name): type = model.findEntityType(name)
                case .unresolved: isUnknown = true
                default: type = nil
                }
            } else if version == .v401, case .structured(let cast)? = model.findType(name, isLocalAllowed: true) {
                type = cast
                lastProperty = nil
            } else if owner.isOpen(to: name)
                || !model.operations(called: name, isLocalAllowed: version == .v401).isEmpty
            {
                isUnknown = true
            } else {
                throw error(model.missingProperty(name, of: owner))
            }
        case .qualifiedName(let name, let parameters):
            if parameters == nil, case .structured(let cast)? = model.findType(name, isLocalAllowed: version == .v401) {
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
    /// Checks that the segment is a type. V4 expands relationships of related entities with options in parentheses.
    private func expectType(_ segment: SelectSegment) throws(URLSyntaxError) {
        switch segment {
        case .name(let name), .qualifiedName(let name, _):
            if model.findType(name, isLocalAllowed: version == .v401) != nil { return }
        case .annotation, .star, .value: break
        }
        throw error("\(segment.text) cannot follow a navigation property; write $expand within its parentheses.")
    }
}
