internal import EDM

/// The query options of a request, or of an item of `$expand` or `$select`, independent of the protocol version.
package struct QueryOptions: Sendable, Hashable {
    package var filter: Expression?
    package var orderBy: [OrderItem] = []
    /// The selected properties. Empty for all.
    package var select: [SelectItem] = []
    package var expand: [ExpandItem] = []
    package var top: Int64?
    package var skip: Int64?
    /// `$count` of V4, or `$inlinecount=allpages` or `none` of V2.
    package var count: Bool?
    package var search: SearchExpression?
    package var format: String?
    package var skipToken: String?
    package var deltaToken: String?
    package var compute: [ComputeItem] = []
    /// The depth of a recursive `$expand`. Only within `$expand`.
    package var levels: Levels?
    package var index: Int64?
    package var schemaVersion: String?
    /// The entity-id in a request to `$entity`.
    package var id: String?
    /// The transformations of `$apply`, which precede every other option. Empty for none.
    package var apply: [Transformation] = []
    /// The parameter aliases `@name=value`, with names without `@`.
    package var aliases: [ParameterAlias] = []
    /// All options that do not begin with `$` or `@`, decoded and in order. A name without `=` has no value.
    package var custom: [CustomOption] = []

    package init() {}

    package enum Levels: Sendable, Hashable {
        case number(Int64)
        case max
    }

    package struct ParameterAlias: Sendable, Hashable {
        package var name: String
        package var value: Expression

        package init(name: String, value: Expression) {
            self.name = name
            self.value = value
        }
    }

    package struct CustomOption: Sendable, Hashable {
        package var name: String
        package var value: String?

        package init(name: String, value: String?) {
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

package struct OrderItem: Sendable, Hashable {
    package var expression: Expression
    package var isDescending: Bool

    package init(_ expression: Expression, isDescending: Bool = false) {
        self.expression = expression
        self.isDescending = isDescending
    }
}

extension [OrderItem] {
    /// Whether entities with equal sort values are in descending order of entity ID: in the direction of the last item,
    /// because an index has its entries in this order in both directions.
    package var hasDescendingIDs: Bool { last?.isDescending == true }
}

/// An item `expression as Name` of `$compute`.
package struct ComputeItem: Sendable, Hashable {
    package var expression: Expression
    package var name: String

    package init(_ expression: Expression, as name: String) {
        self.expression = expression
        self.name = name
    }
}

/// A segment of a path in `$select` or `$expand`.
package enum SelectSegment: Sendable, Hashable {
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
package struct SelectItem: Sendable, Hashable {
    package var path: [SelectSegment]
    /// The nested options of 4.01, empty if there are none.
    package var options: QueryOptions

    package init(path: [SelectSegment], options: QueryOptions = QueryOptions()) {
        self.path = path
        self.options = options
    }

    package init(_ property: String) { self.init(path: property.split(separator: "/").map { .name(String($0)) }) }
}

/// An item of `$expand`. V2's `Orders/Items` is represented as `Orders` with a nested `Items`.
package struct ExpandItem: Sendable, Hashable {
    package enum ExpandForm: String, Sendable, Hashable {
        case entities
        /// `/$ref`: only the links.
        case references
        /// `/$count`: only the number.
        case count
    }

    package var path: [SelectSegment]
    package var form: ExpandForm
    package var options: QueryOptions

    package init(path: [SelectSegment], form: ExpandForm = .entities, options: QueryOptions = QueryOptions()) {
        self.path = path
        self.form = form
        self.options = options
    }

    package init(_ navigation: String, options: QueryOptions = QueryOptions()) {
        self.init(path: [.name(navigation)], options: options)
    }
}
