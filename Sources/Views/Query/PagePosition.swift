import EDM
import ODataQuery
import Operations

/// The end of a page, which the `$skiptoken` of the store's next links contains.
///
/// It identifies the last entity by its sort values and its entity ID, not by a number of rows. Therefore the next page
/// continues after it even if entities before it were added or removed.
struct PagePosition: Hashable {
    /// The values of `$orderby` for the last entity of the page.
    var keys: [Value]
    var entity: EntityID
    /// The maximum number of entities in a page.
    var pageSize: Int64

    /// The place of the entity in the order of the query.
    var place: SortPlace { SortPlace(keys: keys, entity: entity) }

    private static let names = (keys: "k", entity: "e", pageSize: "n")

    var token: String {
        let content: PropertyValues = [
            Self.names.keys: .collection(keys), Self.names.entity: .integer(Int64(bitPattern: entity.rawValue)),
            Self.names.pageSize: .integer(pageSize),
        ]
        return String(Base64.encode(ValueCodec.encode(content), .urlSafe).prefix { $0 != "=" })
    }

    init(keys: [Value], entity: EntityID, pageSize: Int64) {
        self.keys = keys
        self.entity = entity
        self.pageSize = pageSize
    }

    /// Throws if the token is not from this store, or from a query with another `$orderby`.
    init(token: String, orderBy: [OrderItem]) throws(EvaluationError) {
        guard let bytes = Base64.decode(Array(token.utf8)), let content = try? ValueCodec.decode(bytes),
            case .collection(let keys)? = content[Self.names.keys], keys.count == orderBy.count,
            case .integer(let entity)? = content[Self.names.entity],
            case .integer(let size)? = content[Self.names.pageSize], size > 0
        else { throw EvaluationError(.wrongOperand, "$skiptoken=\(token) does not belong to this query.") }
        self.init(keys: keys, entity: EntityID(rawValue: UInt64(bitPattern: entity)), pageSize: size)
    }
}

/// The sort values and the entity ID of an entity, which determine its place in the order of a query.
struct SortPlace {
    var keys: [Value]
    var entity: EntityID

    func precedes(_ other: SortPlace, by orderBy: [OrderItem]) -> Bool {
        if ExpressionEvaluator.precedes(keys, other.keys, by: orderBy) { return true }
        if ExpressionEvaluator.precedes(other.keys, keys, by: orderBy) { return false }
        return orderBy.hasDescendingIDs ? other.entity < entity : entity < other.entity
    }
}
