import EDM
import ODataQuery

/// Queries that compute and aggregate: `$compute`, `$search` and `$apply`.
///
/// The order of the calls matters: calls before ``groupBy(_:_:)`` or ``aggregate(_:)`` apply to the aggregated
/// entities, calls after it to the results. The results are entities that contain only values, accessible by name:
/// `entity["Total"]`.
extension DataQuery {
    /// Adds the value of an expression to each entity, under a name that conditions and sort orders can use.
    public func compute(_ operand: some QueryOperand, as name: String) -> DataQuery {
        with { $0.options.compute.append(ComputeItem(operand.syntax, as: name)) }
    }

    /// Restricts the result to entities that contain each of the texts in a string property, ignoring case.
    ///
    /// With ``select(_:)``, only the selected properties are searched.
    public func search(_ texts: String...) -> DataQuery {
        with { query in
            for text in texts {
                let phrase = SearchExpression.phrase(text)
                query.options.search = query.options.search.map { .and($0, phrase) } ?? phrase
            }
        }
    }

    /// Returns one result for each combination of the properties' values, with aggregates of the entities in that
    /// group.
    ///
    /// Group by structural properties, including those reached by single-valued navigation properties
    /// (``Property/path(_:)``). Group by other values with the names that ``compute(_:as:)`` assigns
    /// (``QueryPath/named(_:)``).
    public func groupBy(_ properties: [any QueryPathOperand], _ aggregates: QueryAggregate...) -> DataQuery {
        transforming {
            .groupBy(
                properties.map { .property($0.queryPath.expressionPath) },
                aggregates.isEmpty ? [] : [.aggregate(aggregates.map(\.item))])
        }
    }

    /// Returns one result with aggregates of all entities.
    public func aggregate(_ aggregates: QueryAggregate...) -> DataQuery {
        transforming { .aggregate(aggregates.map(\.item)) }
    }

    /// Moves the previous options before the transformation.
    private func transforming(_ transformation: () -> Transformation) -> DataQuery {
        with { query in
            var steps: [Transformation] = []
            if !query.options.compute.isEmpty { steps.append(.compute(query.options.compute)) }
            if let filter = query.options.filter { steps.append(.filter(filter)) }
            if let search = query.options.search { steps.append(.search(search)) }
            if !query.options.orderBy.isEmpty { steps.append(.orderBy(query.options.orderBy)) }
            if let skip = query.options.skip { steps.append(.skip(skip)) }
            if let top = query.options.top { steps.append(.top(top)) }
            (query.options.compute, query.options.filter, query.options.search) = ([], nil, nil)
            (query.options.orderBy, query.options.skip, query.options.top) = ([], nil, nil)
            query.options.apply += steps + [transformation()]
        }
    }
}

/// An aggregate of ``DataQuery/groupBy(_:_:)`` and ``DataQuery/aggregate(_:)``.
public struct QueryAggregate: Sendable, Hashable {
    let item: AggregateItem

    /// Returns an aggregate that counts the entities.
    public static func count(as name: String) -> QueryAggregate {
        QueryAggregate(item: AggregateItem(.count(ExpressionPath(segments: [.count(QueryOptions())])), as: name))
    }

    fileprivate init(_ operand: some QueryOperand, _ method: AggregationMethod, _ name: String) {
        item = AggregateItem(.values(operand.syntax, method), as: name)
    }

    private init(item: AggregateItem) { self.item = item }
}

/// Aggregates ignore null. Without values each is null, except the number of distinct values, which is 0.
extension DynamicOperand {
    /// Returns the sum, which is exact for integers and decimal numbers.
    public func sum(as name: String) -> QueryAggregate { QueryAggregate(self, .sum, name) }
    /// Returns the smallest value.
    public func min(as name: String) -> QueryAggregate { QueryAggregate(self, .min, name) }
    /// Returns the largest value.
    public func max(as name: String) -> QueryAggregate { QueryAggregate(self, .max, name) }
    /// Returns the average. For integers and decimal numbers it is a decimal with up to 28 fractional digits.
    public func average(as name: String) -> QueryAggregate { QueryAggregate(self, .average, name) }
    /// Returns the number of distinct values.
    public func countDistinct(as name: String) -> QueryAggregate { QueryAggregate(self, .countDistinct, name) }
}

extension TypedOperand where Value: NumberLiteral {
    /// Returns the sum, which is exact for integers and decimal numbers.
    public func sum(as name: String) -> QueryAggregate { QueryAggregate(self, .sum, name) }
    /// Returns the average. For integers and decimal numbers it is a decimal with up to 28 fractional digits.
    public func average(as name: String) -> QueryAggregate { QueryAggregate(self, .average, name) }
}

extension TypedOperand where Value: OrderedLiteral {
    /// Returns the smallest value.
    public func min(as name: String) -> QueryAggregate { QueryAggregate(self, .min, name) }
    /// Returns the largest value.
    public func max(as name: String) -> QueryAggregate { QueryAggregate(self, .max, name) }
}

extension TypedOperand where Value: QueryLiteral {
    /// Returns the number of distinct values.
    public func countDistinct(as name: String) -> QueryAggregate { QueryAggregate(self, .countDistinct, name) }
}
