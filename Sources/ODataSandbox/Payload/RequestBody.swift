internal import EDM
internal import ODataWire

/// What the body of a create or update says.
struct RequestBody {
    /// Structural properties, typed as the version's own model has them.
    var values = PropertyValues()
    /// By navigation property: URLs of the entities to be linked. None unlinks a single-valued one.
    var bindings: [(navigation: String, urls: [String])] = []
    /// By navigation property: new entities.
    var inline: [(navigation: String, entities: [RequestBody])] = []

    /// Every navigation property that the body decides.
    var navigations: [String] { bindings.map(\.navigation) + inline.map(\.navigation) }
}
