import EDM
import ODataWire

/// Queries that compute and aggregate: `$compute`, `$search` and `$apply`.
///
/// The order of the calls counts: what was said before ``groupBy(_:_:)`` or ``aggregate(_:)`` decides what is aggregated,
/// what is said after it is about the results. These are entities of values alone, read by name: `entity["Total"]`.
extension DataQuery {
    /// Also gives each entity the value of an expression under a name, which conditions and orders may use as well.
    public func compute(_ operand: some QueryOperand, as name: String) -> DataQuery {
        with { $0.options.compute.append(ComputeItem(operand.queryExpression, as: name)) }
    }

    /// Only entities that have each of the texts in one of their string properties, whatever their case. With
    /// ``select(_:)`` only the selected properties are looked at.
    public func search(_ texts: String...) -> DataQuery {
        with { query in
            for text in texts {
                let phrase = SearchExpression.phrase(text)
                query.options.search = query.options.search.map { .and($0, phrase) } ?? phrase
            }
        }
    }

    /// One result for each combination of the properties' values, with these aggregates of the entities that have it.
    /// Entities are grouped by structural properties, also those behind single-valued navigation properties
    /// (``Property/path(_:)``); by other values under the name that ``compute(_:as:)`` gives them (``QueryPath/named(_:)``).
    public func groupBy(_ properties: [any QueryPathOperand], _ aggregates: QueryAggregate...) -> DataQuery {
        transforming {
            .groupBy(
                properties.map { .property($0.queryPath.expressionPath) },
                aggregates.isEmpty ? [] : [.aggregate(aggregates.map(\.item))])
        }
    }

    /// One result with these aggregates of all entities.
    public func aggregate(_ aggregates: QueryAggregate...) -> DataQuery {
        transforming { .aggregate(aggregates.map(\.item)) }
    }

    /// What was asked for up to here happens before the transformation.
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

    /// How many entities there are.
    public static func count(as name: String) -> QueryAggregate {
        QueryAggregate(item: AggregateItem(.count(ExpressionPath(segments: [.count(QueryOptions())])), as: name))
    }

    fileprivate init(_ operand: some QueryOperand, _ method: AggregationMethod, _ name: String) {
        item = AggregateItem(.values(operand.queryExpression, method), as: name)
    }

    private init(item: AggregateItem) { self.item = item }
}

/// Of null no aggregate takes notice; over nothing each is null but the number of different values, which is 0.
extension DynamicOperand {
    /// Exact for whole and decimal numbers.
    public func sum(as name: String) -> QueryAggregate { QueryAggregate(self, .sum, name) }
    public func min(as name: String) -> QueryAggregate { QueryAggregate(self, .min, name) }
    public func max(as name: String) -> QueryAggregate { QueryAggregate(self, .max, name) }
    /// A decimal with up to 28 digits behind the point for whole and decimal numbers.
    public func average(as name: String) -> QueryAggregate { QueryAggregate(self, .average, name) }
    /// How many different values there are.
    public func countDistinct(as name: String) -> QueryAggregate { QueryAggregate(self, .countDistinct, name) }
}

extension TypedOperand where Value: NumberLiteral {
    /// Exact for whole and decimal numbers.
    public func sum(as name: String) -> QueryAggregate { QueryAggregate(self, .sum, name) }
    /// A decimal with up to 28 digits behind the point for whole and decimal numbers.
    public func average(as name: String) -> QueryAggregate { QueryAggregate(self, .average, name) }
}

extension TypedOperand where Value: OrderedLiteral {
    public func min(as name: String) -> QueryAggregate { QueryAggregate(self, .min, name) }
    public func max(as name: String) -> QueryAggregate { QueryAggregate(self, .max, name) }
}

extension TypedOperand where Value: QueryLiteral {
    /// How many different values there are.
    public func countDistinct(as name: String) -> QueryAggregate { QueryAggregate(self, .countDistinct, name) }
}
