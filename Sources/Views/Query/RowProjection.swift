import EDM
import ODataQuery

/// The columns that a query reads of each entity instead of the whole row: those of some properties, including
/// properties of entities at the end of to-one navigation properties.
struct RowProjection {
    private struct Column {
        let path: [String]
        let kind: StoredKind
        /// Whether the property is of an enumeration type, whose column contains text.
        let isEnumeration: Bool
    }

    private let type: EntityType
    private let columns: [Column]
    /// The paths of navigation properties on the way, whose target entities are read too.
    private let navigations: [[String]]
    /// The terms to select, ``columns`` first.
    let terms: [SQLText]

    /// Creates a projection. Throws `unsupported` if one of the properties has no column.
    ///
    /// - Parameter paths: Paths of properties. Names that the type does not have are ignored, because transformations
    ///   define such names.
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

    /// Returns the property at the end of a path through single-valued properties.
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

    /// Returns the entity with the properties that were read.
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

    /// A node of a tree of names.
    private struct Node {
        var value = Value.null
        var children: [String: Node] = [:]
        /// The target of a navigation property; nil for other nodes.
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
