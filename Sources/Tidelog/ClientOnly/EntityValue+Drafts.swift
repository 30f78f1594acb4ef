import EDM
import ODataQuery
import OfflineStore

/// Drafts: copies of entities in a client-only set.
extension EntityValue {
    /// A Boolean value that indicates whether the entity is a draft: its set has the annotation `Offline.v1.LocalDraft`.
    public var isDraft: Bool { entitySet?.activeSet != nil }

    /// Creates a draft of the entity: a copy in a client-only set, which is never sent.
    ///
    /// The draft contains the values of the entity in the store, including its key, and its single-valued relations.
    /// Changes of the draft do not affect the entity before ``activateDraft(in:adding:)``. To discard the draft, delete
    /// it.
    ///
    /// - Parameters:
    ///   - service: the service of the store. The set of the entity has to have a set of drafts there (annotation
    ///     `Offline.v1.LocalDraft`); see ``OfflineODataParameters/clientOnlyMetadata``.
    ///   - children: the collections whose entities are copied too. In the set of drafts, each has to be bound to
    ///     another set of drafts.
    /// - Throws: `refused(.unknownEntitySet)` if there is no set of drafts for the entity.
    public func makeDraftCopy(
        in service: DataService, children: [any PropertyReference] = []
    ) async throws(TidelogError) -> EntityValue {
        let model = try await service.backend.model()
        let saved = try await saved(service, model)
        guard let set = saved.entitySet, let drafts = model.draftSet(of: set) else {
            throw TidelogError(
                .refused(.unknownEntitySet),
                "There is no set of drafts for entities of \(saved.entitySet?.name ?? saved.entityType.name).",
                recovery: "Declare a client-only set with the annotation LocalDraft in clientOnlyMetadata.")
        }
        let changes = ChangeSet()
        let draft = try await LocalDraft(model: model).copy(saved, in: drafts, children.map(\.property), changes)
        try await service.applyChanges(changes)
        return draft
    }

    /// Makes the draft active: its changes become one change set, which is sent with the next upload.
    ///
    /// A draft that was copied from an entity updates that entity with the values that the draft has changed; another
    /// draft creates an entity. The same applies to its children. The drafts are deleted. An undo restores them.
    ///
    /// - Parameters:
    ///   - service: the service of the store.
    ///   - changes: a change set for the changes, to which the app can add others before it applies it; `nil` applies
    ///     the changes at once. Children that were removed from the draft are not deleted: add their deletion.
    /// - Returns: The active entity.
    /// - Throws: `notFound` if the draft is a copy of an entity that was deleted. Nothing is changed then.
    @discardableResult
    public func activateDraft(
        in service: DataService, adding changes: ChangeSet? = nil
    ) async throws(TidelogError) -> EntityValue {
        let model = try await service.backend.model()
        let collected = changes ?? ChangeSet()
        let entity = try await LocalDraft(model: model).activate(try await saved(service, model), collected)
        if changes == nil { try await service.applyChanges(collected) }
        return entity
    }

    /// Returns the entity as the store has it, without unsaved changes of the object.
    private func saved(_ service: DataService, _ model: EntityDataModel) async throws(TidelogError) -> EntityValue {
        let address = try IntentBuilder(model: model).address(of: self, forReading: true)
        let snapshot = try await service.backend.load(address, options: QueryOptions(), headers: .empty)
        guard let found = service.factory(model).entity(snapshot) else {
            throw TidelogError(.notFound, "The entity is no longer in the store.", place: readLink)
        }
        return found
    }
}
