public import OfflineStore
public import Operations
public import SyncCore

/// Conflicts: entities that other clients have changed or deleted while changes of them are pending in the store.
///
/// The store finds a conflict when a download, the reading of an entity or a rejection by the service shows the
/// changes of other clients. The next upload resolves conflicts for which ``UploadOptions/conflicts`` has a policy.
/// Other conflicts wait here together with all pending operations on the entity; all other operations are sent.
extension OfflineODataProvider {
    /// Returns the unresolved conflicts, by entity, each with three versions of the differing values: the base of the
    /// local change, the local version, and the service's version.
    ///
    /// - Throws: `noStore` if the store is not open.
    public func conflicts() async throws(TidelogError) -> [Conflict] { try await engine().store.conflicts.all() }

    /// Returns the conflict on an entity, or `nil` if there is none.
    ///
    /// - Throws: `refused(.entityNotFound)` if the object has neither link nor key; `notFound` if the entity is not in
    ///   the store; `noStore` if the store is not open.
    public func conflict(on entity: EntityValue) async throws(TidelogError) -> Conflict? {
        let store = try engine().store
        return try await store.conflicts.conflict(
            on: try IntentBuilder(model: try await store.model).address(of: entity))
    }

    /// Returns the conflict on the entity with the given readLink or editLink, or `nil` if there is none.
    ///
    /// - Throws: `invalidRequest` if the text is not a link; `notFound` if it leads to no entity of the store;
    ///   `noStore` if the store is not open.
    public func conflict(at link: String) async throws(TidelogError) -> Conflict? {
        try await engine().store.conflicts.conflict(on: .link(link))
    }

    /// Resolves a conflict. Nothing is sent before the next upload.
    ///
    /// *Theirs* undoes the pending operations on the entity; ``redo(_:)`` reapplies them to the service's version.
    /// *Mine* sends them and overwrites the changes of other clients. Single properties and links can have their own
    /// resolution, including a value of neither side. Objects in memory keep their values until they are loaded
    /// again.
    ///
    /// - Returns: The undone operations, including those that depend on them.
    /// - Throws: `refused(.notResolvable)` if the conflict has changed meanwhile, or if other clients deleted the
    ///   entity and the changes are to be kept. In the latter case create the entity again.
    @discardableResult
    public func resolve(
        _ conflict: Conflict, with resolution: ConflictResolution
    ) async throws(TidelogError) -> [SequenceNumber] {
        try await engine().store.conflicts.resolve(conflict, with: resolution).takenBack
    }
}
