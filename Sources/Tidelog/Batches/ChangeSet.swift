import EDM
public import ODataWire

/// Operations that take effect together or not at all, here at once and later on the service.
///
/// The calls only record; nothing is checked or done before ``DataService/applyChanges(_:)`` or
/// ``DataService/processBatch(_:)``. An entity that the change set creates can be referred to by what follows.
public final class ChangeSet {
    private(set) var operations: [Operation] = []
    /// Whether the change set has been applied.
    public internal(set) var isApplied = false

    public init() {}

    public func createEntity(_ entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none) {
        operations.append(Operation(.create(entity, parent: nil), headers, options))
    }

    /// - Parameter parent: an existing entity, or one that the change set creates before.
    public func createRelatedEntity(
        _ entity: EntityValue, in parent: EntityValue, property: some PropertyReference, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) {
        operations.append(Operation(.create(entity, parent: (parent, property.property)), headers, options))
    }

    public func updateEntity(_ entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none) {
        operations.append(Operation(.update(entity), headers, options))
    }

    public func deleteEntity(_ entity: EntityValue, headers: HTTPHeaders = .empty, options: RequestOptions = .none) {
        operations.append(Operation(.delete(entity), headers, options))
    }

    public func createLink(
        from: EntityValue, property: some PropertyReference, to: EntityValue, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) {
        operations.append(Operation(.createLink(from, property.property, to), headers, options))
    }

    /// `property` is single-valued.
    public func updateLink(
        from: EntityValue, property: some PropertyReference, to: EntityValue, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) {
        operations.append(Operation(.updateLink(from, property.property, to), headers, options))
    }

    /// `to` may be left out for a single-valued navigation property.
    public func deleteLink(
        from: EntityValue, property: some PropertyReference, to: EntityValue? = nil, headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) {
        operations.append(Operation(.deleteLink(from, property.property, to), headers, options))
    }

    /// One recorded call.
    struct Operation {
        enum Kind {
            case create(EntityValue, parent: (EntityValue, Property)?)
            case update(EntityValue)
            case delete(EntityValue)
            case createLink(EntityValue, Property, EntityValue)
            case updateLink(EntityValue, Property, EntityValue)
            case deleteLink(EntityValue, Property, EntityValue?)
        }

        let kind: Kind
        let headers: HTTPHeaders
        let options: RequestOptions
        /// Whether the entity is saved by a plan that has operations of their own for its collections and for links that go.
        var isFlat = false
        /// Of a flat create: what the new entity is bound to besides what the app has bound it to.
        var bound: (property: Property, entity: EntityValue)?
        /// Of a flat create: single-valued relations that follow as operations of their own as well.
        var later: Set<String> = []

        init(_ kind: Kind, _ headers: HTTPHeaders, _ options: RequestOptions) {
            self.kind = kind
            self.headers = headers
            self.options = options
        }

        /// Whether the call saves what was changed in its subject: a link alone saves nothing else.
        var savesSubject: Bool {
            switch kind {
            case .create, .update: true
            case .delete, .createLink, .updateLink, .deleteLink: false
            }
        }

        /// The entity that the call changes.
        var subject: EntityValue {
            switch kind {
            case .create(let entity, _), .update(let entity), .delete(let entity), .createLink(let entity, _, _),
                .updateLink(let entity, _, _), .deleteLink(let entity, _, _):
                entity
            }
        }
    }
}
