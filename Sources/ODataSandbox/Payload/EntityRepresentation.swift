internal import EDM
internal import ODataWire

/// An entity as a response shows it, before V2 or V4 gives it its form.
struct EntityRepresentation {
    let set: EntitySet
    /// Absolute.
    let url: String
    let etag: String?
    var values = PropertyValues()
    var expanded: [(navigation: Property, entities: [EntityRepresentation])] = []
    /// Navigation properties that V2 shows as links.
    var deferred: [String] = []
    var mediaContentType: String?
}

struct FeedRepresentation {
    let set: EntitySet
    let entities: [EntityRepresentation]
    var count: Int?
    var nextLink: String?
}
