import EDM
public import ODataWire

/// Modifications that take effect together or not at all, first in the store and later on the service.
///
/// The methods only record the modifications; nothing is checked or executed before ``DataService/applyChanges(_:)``
/// or ``DataService/processBatch(_:)``. Later modifications can refer to an entity that an earlier one creates.
public final class ChangeSet {
    private(set) var operations: [Operation] = []
    /// A Boolean value that indicates whether the change set has been applied.
    public internal(set) var isApplied = false

    /// Creates an empty change set.
    public init() {}

    /// Records the creation of an entity.
    public func createEntity(_ entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none) {
        operations.append(Operation(.create(entity, parent: nil), headers, options))
    }

    /// Records the creation of an entity that is linked to a parent.
    ///
    /// - Parameter parent: an existing entity, or an entity that an earlier modification of this change set creates.
    public func createRelatedEntity(
        _ entity: EntityValue, in parent: EntityValue, property: some PropertyReference, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) {
        operations.append(Operation(.create(entity, parent: (parent, property.property)), headers, options))
    }

    /// Records an update with the changed properties of an entity.
    public func updateEntity(_ entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none) {
        operations.append(Operation(.update(entity), headers, options))
    }

    /// Records the deletion of an entity.
    public func deleteEntity(_ entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none) {
        operations.append(Operation(.delete(entity), headers, options))
    }

    /// Records the creation of a link between two entities.
    public func createLink(
        from: EntityValue, property: some PropertyReference, to: EntityValue, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) {
        operations.append(Operation(.createLink(from, property.property, to), headers, options))
    }

    /// Records that a single-valued navigation property leads to another entity.
    public func updateLink(
        from: EntityValue, property: some PropertyReference, to: EntityValue, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) {
        operations.append(Operation(.updateLink(from, property.property, to), headers, options))
    }

    /// Records the deletion of a link.
    ///
    /// - Parameter to: the target of the link. Optional if the navigation property is single-valued.
    public func deleteLink(
        from: EntityValue, property: some PropertyReference, to: EntityValue? = nil, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) {
        operations.append(Operation(.deleteLink(from, property.property, to), headers, options))
    }

    func append(_ operation: Operation) { operations.append(operation) }

    /// One recorded modification. A class, because a copy would retain each of its parts.
    final class Operation {
        enum Modification {
            case create(EntityValue, parent: (EntityValue, Property)?)
            case update(EntityValue)
            case delete(EntityValue)
            case createLink(EntityValue, Property, EntityValue)
            case updateLink(EntityValue, Property, EntityValue)
            case deleteLink(EntityValue, Property, EntityValue?)
            case invoke(ActionInvocation)
        }

        let kind: Modification
        let headers: HTTPHeaders
        let options: RequestOptions
        /// Whether a plan saves the entity, with separate operations for its collections and its removed links.
        let isFlat: Bool
        /// For a flat create: a binding of the new entity, in addition to those that the app has set.
        let bound: (property: Property, entity: EntityValue)?
        /// For a flat entity: single-valued relations that other operations of the plan save.
        let later: [String]

        init(_ kind: Modification, _ headers: HTTPHeaders, _ options: RequestOptions) {
            (self.kind, self.headers, self.options) = (kind, headers, options)
            (isFlat, bound, later) = (false, nil, [])
        }

        /// Creates an operation of a plan, which saves an entity.
        init(
            flat kind: Modification, bound: (property: Property, entity: EntityValue)?, later: [String]
        ) {
            (self.kind, headers, options) = (kind, .empty, .none)
            (isFlat, self.bound, self.later) = (true, bound, later)
        }

        /// The entity whose version the request names.
        var versioned: EntityValue? {
            if case .invoke(let call) = kind { call.boundEntity } else { subject }
        }

        /// Whether the modification saves the changed properties of its subject. A link modification saves only the
        /// link.
        var savesSubject: Bool {
            switch kind {
            case .create, .update: true
            case .invoke(let call): if case .update = call.effect { true } else { false }
            case .delete, .createLink, .updateLink, .deleteLink: false
            }
        }

        /// The existing entity that is changed, or whose navigation property the modification uses, if there is one.
        var source: EntityValue? { if case .create(_, let parent) = kind { parent?.0 } else { subject } }

        /// The entity that the modification changes; `nil` for a call that is about no entity.
        var subject: EntityValue? {
            switch kind {
            case .create(let entity, _), .update(let entity), .delete(let entity), .createLink(let entity, _, _),
                .updateLink(let entity, _, _), .deleteLink(let entity, _, _):
                entity
            case .invoke(let call): call.subject
            }
        }
    }
}
