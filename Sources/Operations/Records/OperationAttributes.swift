/// Whether an operation goes to the service.
public enum Delivery: UInt8, Sendable, Hashable, CaseIterable {
    /// With the next upload.
    case queued = 0
    /// Not before the app releases it.
    case draft = 1
    /// Never: a change for this store only.
    case localOnly = 2
}

/// What operations are told apart by where an upload is to send some of them only.
public enum UploadCategory: Sendable, Hashable {
    case named(String)
    /// All that has to do with one entity, whose key need not be known yet.
    case entity(EntityID)
}

/// A header whose value has keys of entities in it. An entity that the service does not know yet has none, so the value is
/// put together when the request is written.
public struct HeaderTemplate: Sendable, Hashable {
    public var name: String
    public var parts: [Part]

    public enum Part: Sendable, Hashable {
        case text(String)
        /// The value of a key property.
        case key(EntityID, property: String)
    }

    public init(name: String, parts: [Part]) {
        self.name = name
        self.parts = parts
    }

    /// The entities whose keys the value needs.
    public var entities: [EntityID] {
        parts.compactMap { if case .key(let entity, _) = $0 { entity } else { nil } }
    }
}

extension Operation {
    /// Whether it has one of the attributes that were added to operations after their first record kinds had been fixed.
    package var hasLaterAttributes: Bool {
        isUnmodifiable || uploadCategory != nil || delivery != .queued || !headerTemplates.isEmpty
    }
}
