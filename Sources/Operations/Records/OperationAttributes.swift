/// Whether an operation is sent to the service.
public enum Delivery: UInt8, Sendable, Hashable, CaseIterable {
    /// Sent with the next upload.
    case queued = 0
    /// Kept until the app releases it.
    case draft = 1
    /// Never sent: a change of this store only.
    case localOnly = 2
}

/// A category by which an upload can select operations.
public enum UploadCategory: Sendable, Hashable {
    /// The operations to which the app assigned this name.
    case named(String)
    /// All operations on one entity, whose key need not be known yet.
    case entity(EntityID)
}

/// A header whose value contains keys of entities. The value is built when the request is encoded, because an entity
/// that the service has not confirmed has no key.
package struct HeaderTemplate: Sendable, Hashable {
    package var name: String
    package var parts: [ValuePart]

    package enum ValuePart: Sendable, Hashable {
        case text(String)
        /// The value of a key property.
        case key(EntityID, property: String)
    }

    package init(name: String, parts: [ValuePart]) {
        self.name = name
        self.parts = parts
    }

    /// The entities whose keys the value needs.
    package var entities: [EntityID] {
        parts.compactMap { if case .key(let entity, _) = $0 { entity } else { nil } }
    }
}
