import EDM
import ODataWire
public import SyncEngine

/// A query of a ``Box``: conditions that all have to hold, an order, and a part of what is found.
///
/// Each step returns a new query. Nothing is read before ``find()``, ``first()`` or ``count()``; each of them reads anew.
public struct BoxQuery<Entity: EntityValue> {
    let box: Box<Entity>
    private var query = DataQuery()
    /// Why a condition cannot be asked. Thrown when the query is executed.
    private var failure: TidelogError?

    init(box: Box<Entity>, conditions: [QueryFilter]) {
        self.box = box
        for condition in conditions { query = query.filter(condition) }
    }

    /// Another condition on the entities themselves.
    public func filter(_ condition: () -> QueryFilter) -> BoxQuery { with { $0.filter(condition()) } }

    /// A condition on the entity that the property leads to: `.link(Order.customer) { Customer.name == "Ada" }`. An entity
    /// without target is not found.
    public func link<Target>(_ property: ToOneProperty<some Any, Target>, where condition: () -> QueryFilter)
        -> BoxQuery
    {
        // A path behind nothing is null, and null may be what the condition asks for.
        with { $0.filter(.entityExists(property.property)) }.linked(property, condition())
    }

    /// A condition that has to hold for at least one of the entities that the property leads to.
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

    /// Sorts by the operand, what is the same in it by the operand of the next call.
    public func orderBy<Operand: TypedOperand>(
        _ operand: Operand, _ order: DataQuery.SortOrder = .ascending
    ) -> BoxQuery where Operand.Value: QueryLiteral { with { $0.orderBy(operand, order) } }

    public func orderBy(_ operand: some DynamicOperand, _ order: DataQuery.SortOrder = .ascending) -> BoxQuery {
        with { $0.orderBy(operand, order) }
    }

    /// At most so many entities.
    public func top(_ count: Int) -> BoxQuery { with { $0.top(count) } }

    /// Leaves out so many at the start.
    public func skip(_ count: Int) -> BoxQuery { with { $0.skip(count) } }

    /// Reads what the properties lead to along with the entities, instead of when it is first looked at.
    public func expand(_ properties: any NavigationReference...) -> BoxQuery {
        with { query in properties.reduce(query) { $0.expand($1) } }
    }

    // MARK: Results

    /// All entities that were found, in the order of their IDs where the query says no other.
    public func find() async throws(TidelogError) -> [Entity] {
        let service = box.service
        let model = try await service.provider.model()
        // Whatever size the pages of the store have: nobody asks for the next one.
        let whole: HTTPHeaders = ["Prefer": "odata.maxpagesize=\(Int64.max)"]
        let answer = try await service.provider.query(request(query.options, model), headers: whole)
        let factory = service.factory(model)
        var entities: [Entity] = []
        entities.reserveCapacity(answer.entities.count)
        for snapshot in answer.entities {
            guard let found = factory.entity(snapshot) else { continue }
            guard let entity = found as? Entity else {
                throw TidelogError(
                    .invalidRequest,
                    "The query found an entity of type \(found.entityType.name), which is no \(Entity.self).")
            }
            entities.append(entity)
        }
        return entities
    }

    /// The first entity that was found; nil where there is none.
    public func first() async throws(TidelogError) -> Entity? { try await top(1).find().first }

    /// How many entities there are, ``top(_:)`` and ``skip(_:)`` left aside. Reads no entities.
    public func count() async throws(TidelogError) -> Int {
        let model = try await box.service.provider.model()
        var options = query.options
        (options.count, options.top, options.skip, options.orderBy, options.expand) = (true, 0, nil, [], [])
        let answer = try await box.service.provider.query(request(options, model), headers: .empty)
        return answer.count.flatMap { Int(exactly: $0) } ?? 0
    }

    private func request(_ options: QueryOptions, _ model: EntityDataModel) throws(TidelogError) -> QueryRequest {
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

    private func with(_ change: (DataQuery) -> DataQuery) -> BoxQuery {
        var copy = self
        copy.query = change(query)
        return copy
    }
}
