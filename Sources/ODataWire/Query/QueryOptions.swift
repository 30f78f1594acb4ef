internal import EDM

/// The query options of a request, or of an item of `$expand` or `$select`, independent of the protocol version.
public struct QueryOptions: Sendable, Hashable {
    public var filter: Expression?
    public var orderBy: [OrderItem] = []
    /// The selected properties. Empty for all.
    public var select: [SelectItem] = []
    public var expand: [ExpandItem] = []
    public var top: Int64?
    public var skip: Int64?
    /// `$count` of V4, or `$inlinecount=allpages` or `none` of V2.
    public var count: Bool?
    public var search: SearchExpression?
    public var format: String?
    public var skipToken: String?
    public var deltaToken: String?
    public var compute: [ComputeItem] = []
    /// The depth of a recursive `$expand`. Only within `$expand`.
    public var levels: Levels?
    public var index: Int64?
    public var schemaVersion: String?
    /// The entity-id in a request to `$entity`.
    public var id: String?
    /// The transformations of `$apply`, which precede every other option. Empty for none.
    public var apply: [Transformation] = []
    /// The parameter aliases `@name=value`, with names without `@`.
    public var aliases: [ParameterAlias] = []
    /// All options that do not begin with `$` or `@`, decoded and in order. A name without `=` has no value.
    public var custom: [CustomOption] = []

    public init() {}

    public enum Levels: Sendable, Hashable {
        case number(Int64)
        case max
    }

    public struct ParameterAlias: Sendable, Hashable {
        public var name: String
        public var value: Expression

        public init(name: String, value: Expression) {
            self.name = name
            self.value = value
        }
    }

    public struct CustomOption: Sendable, Hashable {
        public var name: String
        public var value: String?

        public init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The system query options by name, without `$`.
    enum Name: String, CaseIterable {
        case filter, orderby, select, expand, top, skip, count, search, format, skiptoken, deltatoken, compute, levels,
            index, schemaversion, id, apply, inlinecount
    }
}

public struct OrderItem: Sendable, Hashable {
    public var expression: Expression
    public var isDescending: Bool

    public init(_ expression: Expression, isDescending: Bool = false) {
        self.expression = expression
        self.isDescending = isDescending
    }
}

/// An item `expression as Name` of `$compute`.
public struct ComputeItem: Sendable, Hashable {
    public var expression: Expression
    public var name: String

    public init(_ expression: Expression, as name: String) {
        self.expression = expression
        self.name = name
    }
}

/// A segment of a path in `$select` or `$expand`.
public enum SelectSegment: Sendable, Hashable {
    /// A property, navigation property, action, function, or an unqualified type name of 4.01.
    case name(String)
    /// A qualified name: a type, action or function. A function may be followed by the parameter names of one overload.
    case qualifiedName(String, parameters: [String]?)
    /// An annotation `@Namespace.Term`, without the `@`.
    case annotation(String)
    /// `*`; or `Namespace.*` for all actions and functions of a schema.
    case star(namespace: String?)
    /// `$value`, the media stream.
    case value
}

/// An item of `$select`.
public struct SelectItem: Sendable, Hashable {
    public var path: [SelectSegment]
    /// The nested options of 4.01, empty if there are none.
    public var options: QueryOptions

    public init(path: [SelectSegment], options: QueryOptions = QueryOptions()) {
        self.path = path
        self.options = options
    }

    public init(_ property: String) { self.init(path: property.split(separator: "/").map { .name(String($0)) }) }
}

/// An item of `$expand`. V2's `Orders/Items` is represented as `Orders` with a nested `Items`.
public struct ExpandItem: Sendable, Hashable {
    public enum Form: String, Sendable, Hashable {
        case entities
        /// `/$ref`: only the links.
        case references
        /// `/$count`: only the number.
        case count
    }

    public var path: [SelectSegment]
    public var form: Form
    public var options: QueryOptions

    public init(path: [SelectSegment], form: Form = .entities, options: QueryOptions = QueryOptions()) {
        self.path = path
        self.form = form
        self.options = options
    }

    public init(_ navigation: String, options: QueryOptions = QueryOptions()) {
        self.init(path: [.name(navigation)], options: options)
    }
}
