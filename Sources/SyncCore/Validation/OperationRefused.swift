package import EDM

/// An operation that the metadata forbid. It was refused before anything was logged.
public struct OperationRefused: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason of a refusal.
    public enum Code: String, Sendable, Hashable {
        /// The metadata have no such entity set.
        case unknownEntitySet
        /// The type has no such property.
        case unknownProperty
        /// The type has no such navigation property.
        case unknownNavigationProperty
        /// The value does not match the property's type or violates a facet.
        case typeMismatch
        /// The entity is not in the store, or was deleted.
        case entityNotFound
        /// The target of a link does not have the navigation property's type.
        case wrongTargetType
        /// The target of a link is not in the entity set that the navigation property is bound to.
        case wrongTargetSet
        /// The operation is for to-one navigation properties only, or requires a target for a collection.
        case wrongNavigationKind
        /// The link to be removed does not exist.
        case linkNotFound
        /// All key properties are set, and another entity of the set has the same key.
        case duplicateKey
        /// The key of an entity never changes.
        case keyIsFixed
        /// An entity would lose a mandatory partner.
        case mandatoryEnd
        /// An abstract type has no instances; a singleton is neither created nor deleted.
        case notAllowed
        /// The operation cannot be undone or redone now: it is in flight, has ended, or does not exist.
        case notUndoable
        /// The conflict no longer exists, or cannot be resolved in this way.
        case notResolvable
        /// Other operations depend on the operation and would have to be undone with it.
        case hasDependants
    }

    /// The reason of the refusal.
    public let code: Code
    /// The violation: one sentence that names the element.
    public let message: String
    /// A legal alternative.
    public let recovery: String?

    /// Creates a refusal with a sentence that names the element, and optionally a legal alternative.
    public init(_ code: Code, _ message: String, recovery: String? = nil) {
        self.code = code
        self.message = message
        self.recovery = recovery
    }

    /// Returns the refusal of `updateLink` on a collection.
    package static func singleValuedOnly(_ navigation: Property) -> OperationRefused {
        OperationRefused(
            .wrongNavigationKind,
            "\(navigation) is a collection, but updateLink replaces the target of a single-valued property.",
            recovery: "Use createLink and deleteLink.")
    }

    /// Returns the refusal of `deleteLink` on a collection without the other entity.
    package static func targetNeeded(_ navigation: Property) -> OperationRefused {
        OperationRefused(
            .wrongNavigationKind, "\(navigation) is a collection, so the link to be removed must be named.",
            recovery: "Name the other entity too.")
    }

    /// The largest depth of a deep insert.
    package static let deepestInsert = 32

    package static let nestedTooDeeply = OperationRefused(
        .notAllowed, "The deep insert has more than \(deepestInsert) levels.",
        recovery: "Create the entities one by one, each in its parent, in a change set.")

    public var description: String { recovery.map { "\(message) \($0)" } ?? message }
}

/// The reason why an operation was not logged: a rule forbids it, or the state could not be read.
package enum ValidationError: Error, Sendable, Hashable {
    case refused(OperationRefused)
    case state(StateError)
}
