import EDM
import ODataQuery
import ODataWire
public import OfflineStore

/// The values of one property of the entities that a ``BoxQuery`` finds, and aggregates of them.
///
/// Null is no value: no method counts or returns it. Each method reads again. Aggregates are computed by the store
/// without creating entities.
public struct BoxPropertyQuery<Entity: EntityValue, Value: PropertyConvertible>: Sendable {
    let query: BoxQuery<Entity>
    let property: Property

    /// Returns the values, in the order of the query.
    ///
    /// - Throws: `invalidRequest` if a condition is not possible, or if a value does not fit `Value`; `unsupported` if
    ///   the store cannot evaluate an expression; `noStore` if the store is not open.
    public func find() async throws(TidelogError) -> [Value] {
        try await values(query.query.options, by: property.name)
    }

    /// Returns each different value once, in no particular order.
    ///
    /// - Throws: Like ``find()``.
    public func distinct() async throws(TidelogError) -> [Value] {
        try await values(query.query.groupBy([property]).options, by: property.name)
    }

    /// Returns the only value, or `nil` if there is none.
    ///
    /// - Throws: `invalidRequest` if there is more than one different value.
    public func findUnique() async throws(TidelogError) -> Value? {
        let found = try await distinct()
        guard found.count < 2 else {
            throw TidelogError(.invalidRequest, "The query found more than one value of \(property.name).")
        }
        return found.first
    }

    /// Returns the number of values.
    ///
    /// - Throws: Like ``find()``.
    public func count() async throws(TidelogError) -> Int {
        // A condition would be applied before the limit of the query.
        let options = query.query.options
        guard options.top == nil, options.skip == nil else { return try await find().count }
        let query = query.query.filter(property.isNotNull())
        return try await number(aggregate(query, .count(as: Self.result)))
    }

    /// Returns the number of different values.
    ///
    /// - Throws: Like ``find()``.
    public func countDistinct() async throws(TidelogError) -> Int {
        try await number(aggregate(query.query, property.countDistinct(as: Self.result)))
    }

    /// Returns a count, which is a decimal number in OData.
    private func number(_ count: DecimalValue?) throws(TidelogError) -> Int {
        guard let count else { return 0 }
        guard let number = count.int64Value.flatMap({ Int(exactly: $0) }) else {
            throw TidelogError(.invalidRequest, "The number of values of \(property.name) does not fit Int.")
        }
        return number
    }

    static var result: String { "Result" }

    func aggregate<Result: PropertyConvertible>(
        _ query: DataQuery, _ aggregate: QueryAggregate
    ) async throws(TidelogError) -> Result? {
        // Its sort order matters only together with a limit.
        let found: [Result] = try await values(query.aggregate(aggregate).options, by: Self.result)
        return found.first
    }

    private func values<Result: PropertyConvertible>(
        _ options: QueryOptions, by name: String
    ) async throws(TidelogError) -> [Result] {
        var values: [Result] = []
        for value in try await results(options, by: name) {
            guard let converted = Result(propertyValue: value) else {
                throw TidelogError(.invalidRequest, "The result for \(property.name) does not fit \(Result.self).")
            }
            values.append(converted)
        }
        return values
    }

    /// Returns the values of the results except null.
    private func results(_ options: QueryOptions, by name: String) async throws(TidelogError) -> [EDM.Value] {
        let backend = query.box.service.backend
        var options = options
        (options.expand, options.select) = ([], options.apply.isEmpty ? [SelectItem(property.name)] : [])
        let whole: HTTPHeaders = ["Prefer": "odata.maxpagesize=\(Int64.max)"]
        let answer = try await backend.query(
            try query.request(options, try await backend.model()), headers: whole)
        return answer.entities.compactMap { $0.values[name] }.filter { !$0.isNull }
    }

    /// Returns the average of the values. It is a decimal number for integers and decimal numbers.
    fileprivate func averageOfValues(_ aggregate: QueryAggregate) async throws(TidelogError) -> Double? {
        switch try await results(query.query.aggregate(aggregate).options, by: Self.result).first {
        case .double(let value)?: value
        case .single(let value)?: Double(value)
        case .decimal(let value)?: value.doubleValue
        case .integer(let value)?: Double(value)
        default: nil
        }
    }
}

extension BoxPropertyQuery where Value: NumberLiteral {
    /// Returns the sum, or `nil` without values. It is exact for integers and decimal numbers.
    ///
    /// - Throws: `invalidRequest` if the sum does not fit the type of the property.
    public func sum() async throws(TidelogError) -> Value? {
        try await aggregate(query.query, property.sum(as: BoxPropertyQuery.result))
    }

    /// Returns the average, or `nil` without values. For the exact average of decimal numbers, use
    /// ``DataQuery/aggregate(_:)``.
    ///
    /// - Throws: Like ``find()``.
    public func average() async throws(TidelogError) -> Double? {
        try await averageOfValues(property.average(as: BoxPropertyQuery.result))
    }
}

extension BoxPropertyQuery where Value: OrderedLiteral {
    /// Returns the smallest value, or `nil` without values.
    ///
    /// - Throws: Like ``find()``.
    public func min() async throws(TidelogError) -> Value? {
        try await aggregate(query.query, property.min(as: BoxPropertyQuery.result))
    }

    /// Returns the largest value, or `nil` without values.
    ///
    /// - Throws: Like ``find()``.
    public func max() async throws(TidelogError) -> Value? {
        try await aggregate(query.query, property.max(as: BoxPropertyQuery.result))
    }
}
