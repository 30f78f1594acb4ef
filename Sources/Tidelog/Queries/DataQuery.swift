public import EDM
import ODataWire
public import SyncEngine

/// A query, built step by step: `DataQuery().from(customers).filter(name.equal("A")).orderBy(name).top(10)`.
///
/// Each step returns a new query; nothing is executed before ``DataService/executeQuery(_:headers:)``.
public struct DataQuery: Sendable, Hashable {
    var set: EntitySet?
    var url: String?
    var options = QueryOptions()
    var selectsKey = false
    var size: Int64?

    public init() {}

    /// The entity set to read from.
    public func from(_ set: EntitySet) -> DataQuery { with { $0.set = set } }

    /// Reads what the URL leads to: a readLink, or a path with query options, relative to the service root or absolute. Other
    /// query options have to be part of the URL.
    public func withURL(_ url: String) -> DataQuery { with { $0.url = url } }

    /// Only entities for which the condition is true. Several conditions all have to be.
    public func filter(_ condition: QueryFilter) -> DataQuery {
        with { $0.options.filter = Expression.all(of: [$0.options.filter, condition.expression].compactMap { $0 }) }
    }

    /// Only these properties, and the key: `select(Customer.name, Customer.address.city)`. A navigation property comes with
    /// the entities that it leads to, as with ``expand(_:)``.
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

    /// Only the key.
    public func selectKey() -> DataQuery { with { $0.selectsKey = true } }

    /// Sorts by the operand, what is the same in it by the operand of the next call.
    public func orderBy(_ operand: some DynamicOperand, _ order: SortOrder = .ascending) -> DataQuery {
        sorted(by: operand.queryExpression, order)
    }

    public func orderBy<Operand: TypedOperand>(_ operand: Operand, _ order: SortOrder = .ascending) -> DataQuery
    where Operand.Value: QueryLiteral {
        sorted(by: operand.queryExpression, order)
    }

    private func sorted(by expression: Expression, _ order: SortOrder) -> DataQuery {
        with { $0.options.orderBy.append(OrderItem(expression, isDescending: order == .descending)) }
    }

    /// At most so many entities. A negative number counts as none.
    public func top(_ count: Int) -> DataQuery { with { $0.options.top = Int64(max(0, count)) } }

    /// Leaves out so many entities at the start.
    public func skip(_ count: Int) -> DataQuery { with { $0.options.skip = Int64(max(0, count)) } }

    /// Reads related entities along with each entity.
    public func expand(_ properties: any NavigationReference...) -> DataQuery {
        with { $0.options.expand += properties.map { ExpandItem($0.property.name) } }
    }

    /// Reads related entities along, with conditions, order or further expansion of their own.
    public func expand(_ property: some NavigationReference, with nested: DataQuery) -> DataQuery {
        with { $0.options.expand.append(ExpandItem(property.property.name, options: nested.options)) }
    }

    /// Reads related entities along, as ``expand(_:with:)``: `expand(Customer.orders) { $0.orderBy(Order.total).top(3) }`.
    public func expand(_ property: some NavigationReference, _ nested: (DataQuery) -> DataQuery) -> DataQuery {
        expand(property, with: nested(DataQuery()))
    }

    /// Also asks how many entities there are without ``top(_:)`` and ``skip(_:)``.
    public func inlineCount() -> DataQuery { with { $0.options.count = true } }

    /// Reads a page of at most so many entities; ``QueryResult/nextQuery`` leads to the next. A service may make pages
    /// smaller. What is not greater than 0 is refused.
    public func pageSize(_ count: Int) -> DataQuery { with { $0.size = Int64(count) } }

    public enum SortOrder: Sendable {
        case ascending
        case descending
    }

    func with(_ change: (inout DataQuery) -> Void) -> DataQuery {
        var copy = self
        change(&copy)
        return copy
    }

    /// The options with the key selected where that was asked for.
    func resolvedOptions(_ type: EntityType) -> QueryOptions {
        var options = options
        if selectsKey { options.select += type.keyProperties.map { SelectItem($0.name) } }
        return options
    }
}

/// What a query found.
public struct QueryResult {
    let entities: [EntityValue]
    /// The query for the page behind this one; nil where there is none.
    public let nextQuery: DataQuery?
    /// The value of the property that the query's URL leads to, of `$value`, or of `$count`; nil for entities.
    public let value: Value?
    /// How many there are without `top` and `skip`; nil unless the query asked.
    public let count: Int?

    /// All entities, in the order of the query; by entity ID where the query names none.
    public func entityList() -> [EntityValue] { entities }

    /// The first entity. Throws `notFound` where there is none.
    public func requiredEntity() throws(TidelogError) -> EntityValue {
        guard let first = entities.first else { throw TidelogError(.notFound, "The query found no entity.") }
        return first
    }

    public func optionalEntity() -> EntityValue? { entities.first }
}
