public import EDM
import ODataQuery
public import ODataWire
public import OfflineStore

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
    var tracksChanges = false
    var headers = HTTPHeaders.empty

    /// Creates a query without set or URL.
    public init() {}

    /// Sets the entity set to read from.
    public func from(_ set: EntitySet) -> DataQuery { with { $0.set = set } }

    /// Sets the URL to read: a readLink, or a path with query options, relative to the service root or absolute.
    ///
    /// Query options have to be part of the URL: with options of its own, except ``pageSize(_:)``, the query throws
    /// `invalidRequest`.
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
        sorted(by: operand.syntax, order)
    }

    /// Sorts by the operand. Further calls add lower-priority sort criteria.
    public func orderBy<Operand: TypedOperand>(_ operand: Operand, _ order: SortOrder = .ascending) -> DataQuery
    where Operand.Value: QueryLiteral {
        sorted(by: operand.syntax, order)
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

    /// Requests a delta link with the result: ``QueryResult/deltaQuery`` then returns the later changes.
    ///
    /// Online only, and only if the service tracks changes (OData 4.01 Part 1, sections 8.2.8.9 and 11.3). V2 has no
    /// such request; its services return a delta link on their own or not at all. A store downloads changes with its
    /// defining queries, and reports them in live queries (``DataService/observe(_:)``).
    public func trackChanges() -> DataQuery { with { $0.tracksChanges = true } }

    /// Adds headers to the request of the query, online only. Also for the queries that generated functions take.
    public func withHeaders(_ headers: HTTPHeaders) -> DataQuery { with { $0.headers.merge(headers) } }

    /// The direction of a sort order.
    public enum SortOrder: Sendable {
        /// The smallest value first.
        case ascending
        /// The largest value first.
        case descending
    }

    func with(_ change: (inout DataQuery) -> Void) -> DataQuery {
        var copy = self
        change(&copy)
        return copy
    }

    /// Returns a query for a link that the service returned, with the headers and the page size of this one.
    func continued(at url: String) -> DataQuery {
        DataQuery().withURL(url).with {
            $0.headers = headers
            $0.size = size
        }
    }

    /// Returns the headers of the request, with the preferences of the query.
    func requestHeaders(_ headers: HTTPHeaders) -> HTTPHeaders {
        var all = self.headers
        all.merge(headers)
        var preferences: [String] = []
        if let size { preferences.append("odata.maxpagesize=\(size)") }
        if tracksChanges { preferences.append("odata.track-changes") }
        guard !preferences.isEmpty else { return all }
        all["Prefer"] = ([all["Prefer"]].compactMap { $0 } + preferences).joined(separator: ", ")
        return all
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
    /// The combinations that `$crossjoin` returns, each with its entities by the name of their set; empty for all other
    /// queries. Entities that the query does not expand have only a readLink.
    public let joinedEntities: [[String: EntityValue]]
    /// The query for the next page, or `nil` if this is the last one.
    public let nextQuery: DataQuery?
    /// The query for the changes since this result; `nil` if the service does not track them, before the last page, and
    /// offline. See ``DataQuery/trackChanges()``.
    ///
    /// Its result contains the added and changed entities, the latter possibly without unchanged properties, and
    /// ``removedLinks``.
    public let deltaQuery: DataQuery?
    /// The readLinks of entities that a ``deltaQuery`` reports as removed: deleted, or no longer in the result.
    public let removedLinks: [String]
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
