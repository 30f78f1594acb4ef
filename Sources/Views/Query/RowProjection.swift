import EDM
import ODataWire

/// What a query reads of each entity instead of the whole: the columns of some properties, also of those behind
/// single-valued navigation properties.
struct RowProjection {
    private struct Column {
        let path: [String]
        let kind: StoredKind
        /// The column of an enumeration holds text.
        let isEnumeration: Bool
    }

    private let type: EntityType
    private let columns: [Column]
    /// Paths of navigation properties on the way; which entities they lead to is read as well.
    private let navigations: [[String]]
    /// What to select, ``columns`` first.
    let terms: [SQLText]

    /// Throws `unsupported` where one of the properties has no column.
    ///
    /// - Parameter paths: names that the type does not have are left out: transformations give such names.
    init(
        _ paths: [[String]], of type: EntityType, _ model: EntityDataModel?, _ compiler: inout SQLCompiler
    ) throws(EvaluationError) {
        var columns: [Column] = []
        var terms: [SQLText] = []
        var navigations: [[String]] = []
        for path in paths where type.findProperty(path[0]) != nil {
            guard let model, let property = Self.property(path, type, model, &navigations),
                let scalar = try compiler.scalar(.property(path.joined(separator: "/"))), let kind = scalar.kind
            else { throw compiler.unsupported("The path \(path.joined(separator: "/"))") }
            let isEnumeration = if case .enumeration = property.type.kind { true } else { false }
            columns.append(Column(path: path, kind: kind, isEnumeration: isEnumeration))
            terms.append(scalar.text)
        }
        for path in navigations {
            let walked = ExpressionPath(segments: path.map { .property($0) })
            terms.append(try compiler.entity(at: walked))
        }
        self.type = type
        self.columns = columns
        self.navigations = navigations
        self.terms = terms
    }

    /// The property at the end of a path through single-valued properties.
    private static func property(
        _ path: [String], _ type: EntityType, _ model: EntityDataModel, _ navigations: inout [[String]]
    ) -> Property? {
        var owner: StructuredType? = type
        for (index, name) in path.enumerated() {
            guard let property = owner?.findProperty(name), !property.isCollection else { return nil }
            if index == path.count - 1 { return property.isNavigation ? nil : property }
            switch property.type.kind {
            case .complex(let name): owner = model.findComplexType(name)
            case .entity(let name): owner = model.findEntityType(name)
            default: return nil
            }
            let walked = Array(path[...index])
            if property.isNavigation, !navigations.contains(walked) { navigations.append(walked) }
        }
        return nil
    }

    /// The entity as far as it was read.
    func scope(_ row: Row) -> EvaluationScope {
        var root = Node()
        for (index, column) in columns.enumerated() {
            var value = column.kind.value(row[index])
            if column.isEnumeration, case .string(let text) = value { value = .enumeration(text) }
            root.set(value, at: column.path[...])
        }
        for (index, path) in navigations.enumerated() {
            let place = columns.count + index
            root.mark(at: path[...], row.isNull(place) ? .missing : .entity(row.integer(place)))
        }
        var scope = root.scope
        scope.type = type
        return scope
    }

    /// A tree of names.
    private struct Node {
        var value = Value.null
        var children: [String: Node] = [:]
        /// Set for what a navigation property leads to.
        var target: Target?

        enum Target {
            case missing
            case entity(Int64)
        }

        mutating func set(_ value: Value, at path: ArraySlice<String>) {
            guard let name = path.first else { return self.value = value }
            children[name, default: Node()].set(value, at: path.dropFirst())
        }

        mutating func mark(at path: ArraySlice<String>, _ target: Target) {
            guard let name = path.first else { return self.target = target }
            children[name, default: Node()].mark(at: path.dropFirst(), target)
        }

        var scope: EvaluationScope {
            let identity: String? = if case .entity(let id)? = target { "\(id)" } else { nil }
            return EvaluationScope(property: { children[$0]?.operand }, identity: identity)
        }

        private var operand: EvaluationOperand {
            switch target {
            case .missing: .entity(nil)
            case .entity: .entity(scope)
            case nil: .value(asValue)
            }
        }

        private var asValue: Value {
            guard !children.isEmpty else { return value }
            return .complex(ComplexValue(properties: PropertyValues(children.map { ($0.key, $0.value.asValue) })))
        }
    }
}
