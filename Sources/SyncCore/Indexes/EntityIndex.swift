package import EDM

/// An index over entities of a set or type, for queries that compare or sort by its properties.
///
/// An index makes such queries faster, and each download and change of the entities slower. Keys and the properties of
/// constraints are always indexed, as are the properties that defining queries compare with values.
public struct EntityIndex: Sendable, Hashable {
    /// An entity set, such as `Orders`, or a qualified entity type, such as `Shop.Order`. A type stands for every set
    /// that may contain it.
    public var name: String
    /// At least one term, the most significant first.
    public var terms: [Term]

    /// A sort term of an index.
    public struct Term: Sendable, Hashable {
        /// The path from the entity: `["Status"]`, or `["Address", "City"]` in a complex property.
        public var path: [String]
        /// A Boolean value that indicates whether the order is descending.
        public var isDescending: Bool

        /// Creates a term for a path from the entity; by default ascending.
        public init(_ path: [String], isDescending: Bool = false) {
            self.path = path
            self.isDescending = isDescending
        }

        /// Creates an ascending term.
        ///
        /// - Parameter path: A path such as `Status` or `Address/City`.
        public static func ascending(_ path: String) -> Term { Term(path.split(separator: "/").map(String.init)) }

        /// Creates a descending term.
        ///
        /// - Parameter path: A path such as `Status` or `Address/City`.
        public static func descending(_ path: String) -> Term {
            Term(path.split(separator: "/").map(String.init), isDescending: true)
        }
    }

    /// Creates an index with the given name and terms, the most significant first.
    public init(_ name: String, _ terms: Term...) { self.init(name, terms) }

    /// Creates an index with the given name and terms, the most significant first.
    public init(_ name: String, _ terms: [Term]) {
        self.name = name
        self.terms = terms
    }

    /// Returns the indexed sets, or none if the metadata have no such set or type.
    package func sets(in model: EntityDataModel) -> [EntitySet] {
        let all = model.allSets
        if let set = all.first(where: { $0.name == name }) { return [set] }
        guard let type = model.findEntityType(name) else { return [] }
        return all.filter { model.isType(type.name, derivedFrom: $0.entityType.name) }
    }
}

extension EntityIndex: CustomStringConvertible {
    /// A text such as `Shop.Order: Status, OrderedAt DESC`.
    public var description: String {
        "\(name): "
            + terms.map { $0.path.joined(separator: "/") + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
    }
}
