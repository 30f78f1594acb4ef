import EDM
import ODataWire
import Operations

/// Where a page ended: what `$skiptoken` of the store's own next links holds.
///
/// It names the last entity by what it was sorted by and its entity ID, not by a number of rows, so that the next page
/// goes on behind it whatever came or went before it.
struct PagePosition: Hashable {
    /// The values of `$orderby` for the last entity of the page.
    var keys: [Value]
    var entity: EntityID
    /// How many entities a page has at most.
    var pageSize: Int64

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

    /// Throws where the token is none of this store, or of a query with another `$orderby`.
    init(token: String, orderBy: [OrderItem]) throws(EvaluationError) {
        guard let bytes = Base64.decode(Array(token.utf8)), let content = try? ValueCodec.decode(bytes),
            case .collection(let keys)? = content[Self.names.keys], keys.count == orderBy.count,
            case .integer(let entity)? = content[Self.names.entity],
            case .integer(let size)? = content[Self.names.pageSize], size > 0
        else { throw EvaluationError(.wrongOperand, "$skiptoken=\(token) is none of this query.") }
        self.init(keys: keys, entity: EntityID(rawValue: UInt64(bitPattern: entity)), pageSize: size)
    }

    /// Whether an entity comes behind the position.
    func precedes(_ keys: [Value], _ entity: EntityID, by orderBy: [OrderItem]) -> Bool {
        if ExpressionEvaluator.precedes(self.keys, keys, by: orderBy) { return true }
        if ExpressionEvaluator.precedes(keys, self.keys, by: orderBy) { return false }
        return self.entity < entity
    }
}
