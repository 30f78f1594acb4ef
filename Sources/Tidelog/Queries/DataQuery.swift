public import EDM
import ODataWire
public import SyncEngine

/// A query that is built step by step: `DataQuery().from(customers).filter(name.equal("A")).orderBy(name).top(10)`.
///
/// Each method returns a new query. Nothing is executed before ``DataService/executeQuery(_:headers:)``.
public struct DataQuery: Sendable, Hashable {
    var set: EntitySet?
    var url: String?
    var options = QueryOptions()
    var selectsKey = false
    var size: Int64?
    var countsOnly = false

    /// Creates a query without set or URL.
    public init() {}

    /// Sets the entity set to read from.
    public func from(_ set: EntitySet) -> DataQuery { with { $0.set = set } }

    /// Sets the URL to read: a readLink, or a path with query options, relative to the service root or absolute.
    ///
    /// Query options have to be part of the URL; except for ``pageSize(_:)``, those of the query are ignored.
    public func withURL(_ url: String) -> DataQuery { with { $0.url = url } }

    /// Restricts the result to entities that satisfy the condition. Multiple conditions must all hold.
    public func filter(_ condition: QueryFilter) -> DataQuery {
        with { $0.options.filter = Expression.all(of: [$0.options.filter, condition.expression].compactMap { $0 }) }
    }

    /// Selects these properties and the key: `select(Customer.name, Customer.address.city)`.
    ///
    /// A navigation property is expanded, like with ``expand(_:)``.
    public func select(_ properties: any SelectOperand...) -> DataQuery {
        with { query in
            for item in properties {
                if let property = (item as? any PropertyReference)?.property, property.isNavigation {
                    query.options.expand.append(ExpandItem(property.name))
                } else {
                    query.options.select.append(SelectItem(path: item.queryPath.expressionPath.selectSegments))
                }
            }
        }
    }

    /// Selects only the key.
    public func selectKey() -> DataQuery { with { $0.selectsKey = true } }

    /// Sorts by the operand. Further calls add lower-priority sort criteria.
    public func orderBy(_ operand: some DynamicOperand, _ order: SortOrder = .ascending) -> DataQuery {
        sorted(by: operand.queryExpression, order)
    }

    /// Sorts by the operand. Further calls add lower-priority sort criteria.
    public func orderBy<Operand: TypedOperand>(_ operand: Operand, _ order: SortOrder = .ascending) -> DataQuery
    where Operand.Value: QueryLiteral {
        sorted(by: operand.queryExpression, order)
    }

    private func sorted(by expression: Expression, _ order: SortOrder) -> DataQuery {
        with { $0.options.orderBy.append(OrderItem(expression, isDescending: order == .descending)) }
    }

    /// Limits the result to at most `count` entities. A negative number counts as 0.
    public func top(_ count: Int) -> DataQuery { with { $0.options.top = Int64(max(0, count)) } }

    /// Skips the first `count` entities.
    public func skip(_ count: Int) -> DataQuery { with { $0.options.skip = Int64(max(0, count)) } }

    /// Expands navigation properties: reads the related entities together with each entity.
    public func expand(_ properties: any NavigationReference...) -> DataQuery {
        with { $0.options.expand += properties.map { ExpandItem($0.property.name) } }
    }

    /// Expands a navigation property with conditions, a sort order or further expansions.
    public func expand(_ property: some NavigationReference, with nested: DataQuery) -> DataQuery {
        with { $0.options.expand.append(ExpandItem(property.property.name, options: nested.options)) }
    }

    /// Expands a navigation property, like ``expand(_:with:)``: `expand(Customer.orders) {
    /// $0.orderBy(Order.total).top(3) }`.
    public func expand(_ property: some NavigationReference, _ nested: (DataQuery) -> DataQuery) -> DataQuery {
        expand(property, with: nested(DataQuery()))
    }

    /// Requests the number of entities in addition, ignoring ``top(_:)`` and ``skip(_:)``.
    public func inlineCount() -> DataQuery { with { $0.options.count = true } }

    /// Requests only the number of entities: ``QueryResult/count``. Reads no entities.
    ///
    /// The number ignores ``top(_:)`` and ``skip(_:)``. The query throws `invalidRequest` if it has a URL; use the URL
    /// `Orders/$count` then.
    public func count() -> DataQuery { with { $0.countsOnly = true } }

    /// Reads a page of at most `count` entities; ``QueryResult/nextQuery`` returns the next page.
    ///
    /// A service may return smaller pages. The query throws `invalidRequest` if `count` is not greater than 0.
    public func pageSize(_ count: Int) -> DataQuery { with { $0.size = Int64(count) } }

    /// The direction of a sort order.
    public enum SortOrder: Sendable {
        case ascending
        case descending
    }

    func with(_ change: (inout DataQuery) -> Void) -> DataQuery {
        var copy = self
        change(&copy)
        return copy
    }

    /// Returns the options, with the key selected if requested.
    func resolvedOptions(_ type: EntityType) -> QueryOptions {
        var options = options
        if countsOnly {
            (options.count, options.top, options.skip) = (true, 0, nil)
            (options.orderBy, options.expand, options.select) = ([], [], [])
            return options
        }
        if selectsKey { options.select += type.keyProperties.map { SelectItem($0.name) } }
        return options
    }
}

/// The result of a query.
public struct QueryResult {
    let entities: [EntityValue]
    /// The query for the next page, or `nil` if this is the last one.
    public let nextQuery: DataQuery?
    /// The value if the query's URL leads to a property, `$value` or `$count`; `nil` for entities.
    public let value: Value?
    /// The number of entities ignoring `top` and `skip`; `nil` unless the query requests it.
    public let count: Int?

    /// Returns all entities in the order of the query, or by entity ID if it has no sort order.
    public func entityList() -> [EntityValue] { entities }

    /// Returns the first entity.
    ///
    /// - Throws: `notFound` if there is none.
    public func requiredEntity() throws(TidelogError) -> EntityValue {
        guard let first = entities.first else { throw TidelogError(.notFound, "The query found no entity.") }
        return first
    }

    /// Returns the first entity, or `nil` if there is none.
    public func optionalEntity() -> EntityValue? { entities.first }
}
