import EDM
import Operations

/// The metadata of a set and a type of its entities.
final class KindMetadata {
    let kind: EntityKind
    let set: EntitySet
    let type: EntityType
    /// The relationships of the set.
    let relationships: RelationshipIndex.SetRelationships?
    /// The constraints whose dependent properties are in the set.
    var dependents: [RelationshipIndex.Constraint] { relationships?.dependents ?? [] }
    /// Whether dependent properties of other entities can refer to the set's entities.
    let isPrincipal: Bool

    init(_ set: EntitySet, _ type: EntityType, _ kind: EntityKind, _ index: RelationshipIndex) {
        self.kind = kind
        self.set = set
        self.type = type
        relationships = index.relationships(of: set.name)
        isPrincipal = relationships?.principals.isEmpty == false
    }

    /// The properties that refer to a partner with at most one dependent.
    var namesPartner: Set<String> { relationships?.namingSinglePlaces ?? [] }
}
