import EDM
import ODataQuery
import ODataWire
public import OfflineStore

/// A query of a ``Box``: conditions, a sort order and a range of the result.
///
/// Each method returns a new query. Nothing is read before ``find()``, ``first()`` or ``count()``; each of them reads
/// again. ``observe()`` returns a new result whenever a change affects it.
public struct BoxQuery<Entity: EntityValue>: Sendable {
    let box: Box<Entity>
    private(set) var query = DataQuery()
    /// The reason why a condition is invalid. Thrown when the query is executed.
    private var failure: TidelogError?

    init(box: Box<Entity>, conditions: [QueryFilter]) {
        self.box = box
        for condition in conditions { query = query.filter(condition) }
    }

    init(box: Box<Entity>, query: DataQuery) {
        self.box = box
        self.query = query
    }

    /// Adds a condition on the entities themselves. All conditions must hold.
    public func filter(_ condition: () -> QueryFilter) -> BoxQuery { with { $0.filter(condition()) } }

    /// Adds a condition on the target of a single-valued navigation property: `.link(Order.customer) { Customer.name
    /// == "Ada" }`.
    ///
    /// An entity without a target does not match.
    public func link<Target>(_ property: ToOneProperty<some Any, Target>, where condition: () -> QueryFilter)
        -> BoxQuery
    {
        // A path through a missing target is null, and the condition could match null.
        with { $0.filter(.entityExists(property.property)) }.linked(property, condition())
    }

    /// Adds a condition that at least one target of a collection-valued navigation property must satisfy.
    public func link<Target>(
        _ property: ToManyProperty<some Any, Target>, where condition: () -> QueryFilter
    ) -> BoxQuery { linked(property, condition()) }

    private func linked(_ property: some PropertyReference, _ condition: QueryFilter) -> BoxQuery {
        var copy = self
        do throws(TidelogError) {
            copy.query = query.filter(try condition.below(property))
        } catch {
            copy.failure = failure ?? error
        }
        return copy
    }

    /// Sorts by the operand. Further calls add lower-priority sort criteria.
    public func orderBy<Operand: TypedOperand>(
        _ operand: Operand, _ order: DataQuery.SortOrder = .ascending
    ) -> BoxQuery where Operand.Value: QueryLiteral { with { $0.orderBy(operand, order) } }

    /// Sorts by the operand. Further calls add lower-priority sort criteria.
    public func orderBy(_ operand: some DynamicOperand, _ order: DataQuery.SortOrder = .ascending) -> BoxQuery {
        with { $0.orderBy(operand, order) }
    }

    /// Limits the result to at most `count` entities.
    public func top(_ count: Int) -> BoxQuery { with { $0.top(count) } }

    /// Skips the first `count` entities.
    public func skip(_ count: Int) -> BoxQuery { with { $0.skip(count) } }

    /// Reads the targets of the properties together with the entities, instead of on first access.
    public func expand(_ properties: any NavigationReference...) -> BoxQuery {
        with { query in properties.reduce(query) { $0.expand($1) } }
    }

    // MARK: Results

    /// Returns all matching entities, in the order of their IDs if the query has no sort order.
    ///
    /// - Throws: `invalidRequest` if a condition or the sort order is not possible, or if an entity has another class;
    ///   `unsupported` if the store cannot evaluate an expression; `noStore` if the store is not open.
    public func find() async throws(TidelogError) -> [Entity] {
        let service = box.service
        let model = try await service.backend.model()
        // No paging: the caller expects the whole result, whatever the page size of the store.
        let whole: HTTPHeaders = ["Prefer": "odata.maxpagesize=\(Int64.max)"]
        var answer = try await service.backend.query(request(query.options, model), headers: whole)
        var objects = EntityObjects(service.factory(model))
        var entities: [Entity] = []
        entities.reserveCapacity(answer.entities.count)
        for place in answer.entities.indices {
            guard let found = objects.entity(moving: &answer.entities[place]) else { continue }
            guard let entity = found as? Entity else {
                throw TidelogError(
                    .invalidRequest,
                    "The query found an entity of type \(found.entityType.name), which is not a \(Entity.self).")
            }
            entities.append(entity)
        }
        return entities
    }

    /// Returns the first matching entity, or `nil` if none matches.
    ///
    /// - Throws: Like ``find()``.
    public func first() async throws(TidelogError) -> Entity? { try await top(1).find().first }

    /// Returns the number of matching entities, ignoring ``top(_:)`` and ``skip(_:)``. Reads no entities.
    ///
    /// - Throws: `invalidRequest` if a condition is not possible; `unsupported` if the store cannot evaluate an
    ///   expression; `noStore` if the store is not open.
    public func count() async throws(TidelogError) -> Int {
        let model = try await box.service.backend.model()
        var options = query.options
        (options.count, options.top, options.skip, options.orderBy, options.expand) = (true, 0, nil, [], [])
        let answer = try await box.service.backend.query(request(options, model), headers: .empty)
        return answer.count.flatMap { Int(exactly: $0) } ?? 0
    }

    func request(_ options: QueryOptions, _ model: EntityDataModel) throws(TidelogError) -> QueryRequest {
        if let failure { throw failure }
        guard box.place.isDerived else { return .set(box.place.set, options) }
        do throws(URLSyntaxError) {
            let text = try options.print(version: model.version)
            let path = "\(box.place.set.name)/\(box.place.type.name)"
            return .url(text.isEmpty ? path : "\(path)?\(text)")
        } catch {
            throw TidelogError(.invalidRequest, error.description, cause: error)
        }
    }

    func with(_ change: (DataQuery) -> DataQuery) -> BoxQuery {
        var copy = self
        copy.query = change(query)
        return copy
    }
}
