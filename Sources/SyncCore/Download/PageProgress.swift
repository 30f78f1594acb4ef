public import EDM
public import ODataWire

/// Notices a service whose pages go on without bringing anything that earlier pages did not bring: each with a next link that
/// was not there before, and either empty or with entities that came already.
///
/// A page counts as progress if its first item was not the first of an earlier one. That needs no memory for the other items,
/// and a service that repeats a finite number of entities is found out all the same.
public struct PageProgress: Sendable, Hashable {
    private let limit: Int
    private var firsts: Set<ExactText> = []
    private var fruitless = 0

    /// - Parameter limit: how many pages in a row may bring nothing new.
    public init(limit: Int) { self.limit = limit }

    /// Notes a page. Returns whether the service may go on.
    ///
    /// - Parameter first: identifies the first item of the page; nil where the page is empty.
    public mutating func goesOn(behind first: ExactText?) -> Bool {
        if let first, firsts.insert(first).inserted {
            fruitless = 0
        } else {
            fruitless += 1
        }
        return fruitless < limit
    }
}

extension DeltaItem {
    /// What tells the item from others of the same collection, as far as the item says it.
    ///
    /// - Parameter type: of the collection's entities.
    public func identity(_ type: EntityType) -> ExactText {
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
