import EDM

/// The entity set of an object, and the provider with which it was read or saved. The objects of a result share it.
final class EntityPlacement: Sendable {
    let set: EntitySet?
    let factory: EntityFactory?

    init(_ set: EntitySet?, _ factory: EntityFactory?) {
        self.set = set
        self.factory = factory
    }
}
