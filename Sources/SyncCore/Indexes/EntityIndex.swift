public import EDM

/// An index over entities of a set or type, for queries that compare or sort by these properties.
///
/// An index makes such queries quick and each download and change of the entities slower. Keys, and the properties that
/// links follow, have one already, and so have the properties that defining queries compare with values.
public struct EntityIndex: Sendable, Hashable {
    /// An entity set, `Orders`, or a qualified entity type, `Shop.Order`: then of every set that may hold it.
    public var name: String
    /// At least one, the most important first.
    public var terms: [Term]

    public struct Term: Sendable, Hashable {
        /// From the entity: `["Status"]`, or `["Address", "City"]` in a complex property.
        public var path: [String]
        public var isDescending: Bool

        public init(_ path: [String], isDescending: Bool = false) {
            self.path = path
            self.isDescending = isDescending
        }

        /// - Parameter path: `Status`, `Address/City`.
        public static func ascending(_ path: String) -> Term { Term(path.split(separator: "/").map(String.init)) }

        public static func descending(_ path: String) -> Term {
            Term(path.split(separator: "/").map(String.init), isDescending: true)
        }
    }

    public init(_ name: String, _ terms: Term...) { self.init(name, terms) }

    public init(_ name: String, _ terms: [Term]) {
        self.name = name
        self.terms = terms
    }

    /// The sets that it is over; none where the metadata know no such set or type.
    public func sets(in model: EntityDataModel) -> [EntitySet] {
        let all = model.allSets
        if let set = all.first(where: { $0.name == name }) { return [set] }
        guard let type = model.findEntityType(name) else { return [] }
        return all.filter { model.isType(type.name, derivedFrom: $0.entityType.name) }
    }
}

extension EntityIndex: CustomStringConvertible {
    /// `Shop.Order: Status, OrderedAt DESC`.
    public var description: String {
        "\(name): "
            + terms.map { $0.path.joined(separator: "/") + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
    }
}
