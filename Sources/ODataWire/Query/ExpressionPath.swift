/// A path in an expression: where it starts and what it walks through.
public struct ExpressionPath: Sendable, Hashable {
    public indirect enum Root: Sendable, Hashable {
        /// The entity in question, as in `Name`; in `$filter` of a collection-valued path the same as `$it`.
        case implicit
        /// `$it`: the entity that the request's resource path leads to.
        case it
        /// `$this`: the item that a nested option looks at.
        case this
        /// `$these`: the collection that a query option or transformation looks at, as a whole.
        case these
        /// `$root`: the service, for absolute paths.
        case root
        /// The range variable of an enclosing `any` or `all`.
        case variable(String)
        /// `@name`, without the `@`.
        case alias(String)
        /// A parenthesised or computed value, as in `(a)/b`.
        case expression(Expression)
    }

    public enum Segment: Sendable, Hashable {
        /// A structural or navigation property, an entity set after `$root`, or an unqualified type name of 4.01.
        case property(String)
        /// A qualified type name: only instances of it go on.
        case type(String)
        /// `@Namespace.Term`, or with a qualifier `@Namespace.Term#Qualifier`; without the `@`.
        case annotation(String)
        /// A function, bound to what is before it, or an import after `$root`. Also a property with a key of named
        /// values, which only the model can tell apart.
        case function(String, [Argument])
        /// A key predicate: one unnamed value, or several named ones.
        case key([Argument])
        /// `$count`, with the `$filter` and `$search` that 4.01 allows.
        case count(QueryOptions)
        /// `$filter(…)`.
        case filter(Expression)
        /// `any(x:…)`; nil for `any()`.
        case any(Lambda?)
        case all(Lambda)
        /// `aggregate(Amount with sum)`: one value for the collection before it.
        case aggregate(AggregateItem)
    }

    public struct Argument: Sendable, Hashable {
        public let name: String?
        public let value: Expression

        public init(name: String?, value: Expression) {
            self.name = name
            self.value = value
        }
    }

    public struct Lambda: Sendable, Hashable {
        public let variable: String
        public let predicate: Expression

        public init(variable: String, predicate: Expression) {
            self.variable = variable
            self.predicate = predicate
        }
    }

    public var root: Root
    public var segments: [Segment]

    public init(root: Root = .implicit, segments: [Segment]) {
        self.root = root
        self.segments = segments
    }

    /// The names, where the path consists of nothing but properties of the entity in question.
    public var propertyNames: [String]? {
        guard root == .implicit || root == .it else { return nil }
        var names: [String] = []
        for segment in segments {
            guard case .property(let name) = segment else { return nil }
            names.append(name)
        }
        return names
    }
}
