/// A path in an expression: its root and its segments.
package struct ExpressionPath: Sendable, Hashable {
    package indirect enum Root: Sendable, Hashable {
        /// The current entity, as in `Name`. In `$filter` of a collection-valued path equal to `$it`.
        case implicit
        /// `$it`: the entity at the end of the request's resource path.
        case it
        /// `$this`: the current item of a nested option.
        case this
        /// `$these`: the whole collection that a query option or transformation applies to.
        case these
        /// `$root`: the service, for absolute paths.
        case root
        /// The range variable of an enclosing `any` or `all`.
        case variable(String)
        /// The alias `@name`, without the `@`.
        case alias(String)
        /// A parenthesized or computed value, as in `(a)/b`.
        case expression(Expression)
    }

    package enum Segment: Sendable, Hashable {
        /// A structural or navigation property, an entity set after `$root`, or an unqualified type name of 4.01.
        case property(String)
        /// A qualified type name, which selects the instances of the type.
        case type(String)
        /// An annotation `@Namespace.Term`, or with a qualifier `@Namespace.Term#Qualifier`; without the `@`.
        case annotation(String)
        /// A function that is bound to the preceding value, or an import after `$root`. Also a property with a named
        /// key, which only the model can distinguish.
        case function(String, [Argument])
        /// A key predicate: one unnamed value, or several named ones.
        case key([Argument])
        /// `$count`, with the `$filter` and `$search` options of 4.01.
        case count(QueryOptions)
        /// The segment `$filter(…)`.
        case filter(Expression)
        /// `any(x:…)`, or nil for `any()`.
        case any(Lambda?)
        case all(Lambda)
        /// `aggregate(Amount with sum)`: one value for the preceding collection.
        case aggregate(AggregateItem)
    }

    package struct Argument: Sendable, Hashable {
        package let name: String?
        package let value: Expression

        package init(name: String?, value: Expression) {
            self.name = name
            self.value = value
        }
    }

    package struct Lambda: Sendable, Hashable {
        package let variable: String
        package let predicate: Expression

        package init(variable: String, predicate: Expression) {
            self.variable = variable
            self.predicate = predicate
        }
    }

    package var root: Root
    package var segments: [Segment]

    package init(root: Root = .implicit, segments: [Segment]) {
        self.root = root
        self.segments = segments
    }

    /// The property names if the path consists only of properties of the current entity; otherwise nil.
    package var propertyNames: [String]? {
        guard root == .implicit || root == .it else { return nil }
        var names: [String] = []
        for segment in segments {
            guard case .property(let name) = segment else { return nil }
            names.append(name)
        }
        return names
    }
}
