public import EDM
import SyncEngine

/// Client-only changes, and drafts of entities.
extension DataService {
    /// Makes all changes of client-only entities, properties and links permanent, so that they cannot be undone any
    /// more.
    ///
    /// Changes that depend on operations for the service are kept later. A store does this by itself with the oldest
    /// changes; see ``OfflineODataParameters/undoableClientChanges``.
    ///
    /// - Returns: The number of operations that ended.
    /// - Throws: `unsupported` if the provider is not a store.
    @discardableResult
    public func keepClientChanges() async throws(TidelogError) -> Int {
        guard let store = provider as? OfflineODataProvider else {
            throw TidelogError(.unsupported, "Client-only changes belong to a store, not to a service.")
        }
        return try await ClientChanges.keepAll(in: try store.engine().store)
    }

    /// Creates a draft of an entity: a copy in a client-only set, which is never sent.
    ///
    /// The draft contains the values of the entity, including its key, and its single-valued relations. Changes of the
    /// draft do not affect the entity before ``activateDraft(_:)``. To discard the draft, delete it.
    ///
    /// - Parameters:
    ///   - entity: an entity of a set that has a set of drafts (annotation `Offline.v1.LocalDraft`); see
    ///     ``OfflineODataParameters/clientOnlyMetadata``.
    ///   - children: the collections whose entities are copied too. In the set of drafts, each has to be bound to
    ///     another set of drafts.
    /// - Throws: `refused(.unknownEntitySet)` if there is no set of drafts for the entity.
    public func makeDraftCopy(
        of entity: EntityValue, children: [any PropertyReference] = []
    ) async throws(TidelogError) -> EntityValue {
        let model = try await provider.model()
        let saved = try await saved(entity)
        guard let set = saved.entitySet, let drafts = model.draftSet(of: set) else {
            throw TidelogError(
                .refused(.unknownEntitySet),
                "There is no set of drafts for entities of \(saved.entitySet?.name ?? saved.entityType.name).",
                recovery: "Declare a client-only set with the annotation LocalDraft in clientOnlyMetadata.")
        }
        let changes = ChangeSet()
        let draft = try await LocalDraft(service: self, model: model).copy(
            saved, in: drafts, children.map(\.property), changes)
        try await applyChanges(changes)
        return draft
    }

    /// Makes a draft active: its changes become one change set, which is sent with the next upload.
    ///
    /// A draft that was copied from an entity updates that entity with the values that the draft has changed; another
    /// draft creates an entity. The same applies to its children. The drafts are deleted. An undo restores them.
    ///
    /// - Parameters:
    ///   - draft: the draft.
    ///   - changes: a change set for the changes, to which the app can add others before it applies it; `nil` applies
    ///     the changes at once. Children that were removed from the draft are not deleted: add their deletion.
    /// - Returns: The active entity.
    @discardableResult
    public func activateDraft(
        _ draft: EntityValue, adding changes: ChangeSet? = nil
    ) async throws(TidelogError) -> EntityValue {
        let model = try await provider.model()
        let saved = try await saved(draft)
        let collected = changes ?? ChangeSet()
        let entity = try await LocalDraft(service: self, model: model).activate(saved, collected)
        if changes == nil { try await applyChanges(collected) }
        return entity
    }

    /// Returns an entity as the store has it, without unsaved changes of the object.
    private func saved(_ entity: EntityValue) async throws(TidelogError) -> EntityValue {
        let address = try IntentBuilder(model: try await provider.model()).address(of: entity, forReading: true)
        let snapshot = try await provider.load(address, options: .init(), headers: .empty)
        guard let found = factory(try await provider.model()).entity(snapshot) else {
            throw TidelogError(.notFound, "The entity is no longer in the store.", place: entity.readLink)
        }
        return found
    }
}

extension EntityValue {
    /// A Boolean value that indicates whether the entity is a draft: its set has the annotation `Offline.v1.LocalDraft`.
    public var isDraft: Bool { entitySet?.activeSet != nil }
}
