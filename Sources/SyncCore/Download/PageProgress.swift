package import EDM
import ODataQuery
package import ODataWire

/// Detects a service whose pages continue without new content: each with a new next link, and either empty or with
/// repeated entities.
///
/// A page counts as progress if its first item was not the first of an earlier page. This requires no memory for the
/// other items, and still detects a service that repeats a finite number of entities.
package struct PageProgress: Sendable, Hashable {
    private let limit: Int
    private var firsts: Set<ExactText> = []
    private var fruitless = 0

    /// Creates an empty history.
    ///
    /// - Parameter limit: The number of consecutive pages that may contain nothing new.
    package init(limit: Int) { self.limit = limit }

    /// Records a page. Returns whether the service may continue.
    ///
    /// - Parameter first: The identity of the page's first item, or nil if the page is empty.
    package mutating func shouldContinue(after first: ExactText?) -> Bool {
        if let first, firsts.insert(first).inserted {
            fruitless = 0
        } else {
            fruitless += 1
        }
        return fruitless < limit
    }
}

extension DeltaItem {
    /// Returns the identity of the item within its collection, as far as the payload contains it.
    ///
    /// - Parameter type: The type of the collection's entities.
    package func identity(_ type: EntityType) -> ExactText {
        switch self {
        case .entity(let entity): ExactText(Self.identity(entity, type))
        case .removed(let removed): ExactText("removed " + Self.identity(removed.entity, type))
        case .link(let link): ExactText("link \(link.source) \(link.relationship) \(link.target ?? "")")
        case .unreadable(let found): ExactText(Self.identity(found.entity, type) + found.text)
        }
    }

    private static func identity(_ entity: EntityPayload, _ type: EntityType) -> String {
        if let id = entity.id ?? entity.editLink { return id }
        return type.keyProperties.map { property in
            let value = entity.values[property.name] ?? .null
            return PrimitiveLiteral.format(value, version: .v4, form: .url)
        }.joined(separator: ",")
    }
}
