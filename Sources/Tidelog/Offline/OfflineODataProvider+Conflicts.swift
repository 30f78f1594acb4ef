public import Operations
public import SyncCore
public import SyncEngine

/// Entities that others have changed, or deleted, while changes of them are pending here.
///
/// They are found when a download, the reading of an entity, or the service's refusal shows what others did. What
/// ``UploadOptions/conflicts`` decides, the next upload settles. The rest waits here, with all that is pending on
/// the entity; everything else is sent.
extension OfflineODataProvider {
    /// The conflicts that are not settled yet, by entity, each with the three versions of what differs: the base that the
    /// change was made on, mine, and theirs.
    public func conflicts() async throws(TidelogError) -> [Conflict] { try await engine().store.conflicts() }

    /// The conflict on an entity; nil where there is none.
    public func conflict(on entity: EntityValue) async throws(TidelogError) -> Conflict? {
        let store = try engine().store
        return try await store.conflict(on: try IntentBuilder(model: try await store.model).address(of: entity))
    }

    /// The conflict on the entity that a readLink or editLink names; nil where there is none.
    public func conflict(at link: String) async throws(TidelogError) -> Conflict? {
        try await engine().store.conflict(on: .link(link))
    }

    /// Decides a conflict. Nothing is sent before the next upload.
    ///
    /// *Theirs* undoes what is pending on the entity; ``redo(_:)`` puts it back, on top of theirs then. *Mine* sends it over
    /// what others did. Single properties and links can be decided otherwise, also by a value that is neither side's.
    /// Objects in memory keep what they have until they are loaded again.
    ///
    /// - Returns: the operations that are undone by it, those included that could not have been made without the others.
    /// - Throws: `refused(.notResolvable)` where the conflict is another one by now, or where others deleted the entity and
    ///   the changes are to be kept: create it anew then.
    @discardableResult
    public func resolve(
        _ conflict: Conflict, with resolution: ConflictResolution
    ) async throws(TidelogError) -> [SequenceNumber] {
        try await engine().store.resolve(conflict, with: resolution).takenBack
    }
}
