public import EDM

/// An operation that the metadata forbids, refused before anything was logged.
public struct OperationRefused: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable, Hashable {
        case unknownEntitySet
        case unknownProperty
        case unknownNavigationProperty
        /// The value is not of the property's type, or breaks a facet.
        case typeMismatch
        /// The entity is not in the store, or was deleted.
        case entityNotFound
        /// The target of a link is not of the navigation property's type.
        case wrongTargetType
        /// The target of a link is not in the entity set that the navigation property is bound to.
        case wrongTargetSet
        /// The operation is for single-valued navigation properties only, or needs a target for a collection.
        case wrongNavigationKind
        /// There is no such link to remove.
        case linkNotFound
        /// All key properties are set, and another entity of the set has the same key.
        case duplicateKey
        /// The key of an entity never changes.
        case keyIsFixed
        /// An entity would be without a partner that it must have.
        case mandatoryEnd
        /// An abstract type has no instances; a singleton is neither created nor deleted.
        case notAllowed
        /// The operation is not one that can be undone or redone now: it is on its way to the service, has ended, or never was.
        case notUndoable
        /// There is no such conflict any more, or it cannot be resolved in that way.
        case notResolvable
        /// Others depend on the operation and would have to go with it.
        case hasDependants
    }

    public let code: Code
    /// What is wrong, in one sentence that names the thing.
    public let message: String
    /// What would be legal.
    public let recovery: String?

    public init(_ code: Code, _ message: String, recovery: String? = nil) {
        self.code = code
        self.message = message
        self.recovery = recovery
    }

    /// `updateLink` at a collection.
    public static func singleValuedOnly(_ navigation: Property) -> OperationRefused {
        OperationRefused(
            .wrongNavigationKind, "\(navigation) is a collection; updateLink replaces a single target only.",
            recovery: "Use createLink and deleteLink.")
    }

    /// `deleteLink` at a collection without the other entity.
    public static func targetNeeded(_ navigation: Property) -> OperationRefused {
        OperationRefused(
            .wrongNavigationKind, "\(navigation) is a collection; say which link is to be removed.",
            recovery: "Name the other entity as well.")
    }

    /// How many levels a deep insert may have.
    public static let deepestInsert = 32

    public static let nestedTooDeeply = OperationRefused(
        .notAllowed, "The deep insert is nested too deeply: it may have \(deepestInsert) levels.",
        recovery: "Create the entities one by one, each in its parent, in a change set.")

    public var description: String { recovery.map { "\(message) \($0)" } ?? message }
}

/// Why an operation did not get into the log: a rule forbids it, or the state could not be read.
public enum ValidationError: Error, Sendable, Hashable {
    case refused(OperationRefused)
    case state(StateError)
}
