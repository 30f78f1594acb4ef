import EDM
import ODataWire
public import Operations
public import SyncEngine
import Logging

/// Taking back what was not sent yet, or what the service refused, and putting it back again.
///
/// Everything that is undone is kept, also over a compaction, and can be redone as long as it is legal.
extension OfflineODataProvider {
    /// Undoes what was done to these entities: a changed one is as it was, a new one is gone, a deleted one is back. Nothing
    /// of it is sent. A deleted or unread entity may be named by its editLink or readLink alone.
    ///
    /// One call for several entities is one undo. Operations on other entities stay, but for those that could not have been
    /// made without what is undone: these are in the report. Afterwards the objects say what the store says; one that is gone
    /// is `unsaved`.
    @discardableResult
    public func undoPendingChanges(for entities: [EntityValue]) async throws(TidelogError) -> UndoReport {
        let engine = try engine()
        let model = try await engine.store.model
        let builder = IntentBuilder(model: model)
        var addresses: [EntityAddress] = []
        for entity in entities { addresses.append(try builder.address(of: entity)) }
        let report = try await engine.store.undo(.entities(addresses))
        for (entity, address) in zip(entities, addresses) {
            entity.related.removeAll()
            let factory =
                entity.factory
                ?? EntityFactory(model: model, classes: [:], provider: self, logger: Logger(label: "tidelog.odata"))
            do throws(TidelogError) {
                entity.apply(try await engine.store.load(address), factory)
            } catch {
                guard error.code == .notFound else { throw error }
                entity.state = .unsaved
            }
        }
        return report
    }

    /// Undoes what was done to one entity; see ``undoPendingChanges(for:)-([EntityValue])``.
    @discardableResult
    public func undoPendingChanges(for entity: EntityValue) async throws(TidelogError) -> UndoReport {
        try await undoPendingChanges(for: [entity])
    }

    /// Undoes one operation, wherever it stands in the queue.
    ///
    /// Its change set, and operations that could not have been made without it, go as well and are in the report.
    /// ``rehearseUndo(_:)`` tells beforehand.
    /// - Parameter withDependants: false refuses the call where others would have to go, and names them.
    @discardableResult
    public func undo(
        operation: SequenceNumber, withDependants: Bool = true
    ) async throws(TidelogError) -> UndoReport {
        try await engine().store.undo(.operations([operation]), withDependants: withDependants)
    }

    /// Undoes everything that the service does not have. What is on its way to it, or in doubt, is in the report as left.
    @discardableResult
    public func undoAllPendingChanges() async throws(TidelogError) -> UndoReport { try await undo(.everything) }

    /// Undoes what the target says, in one record.
    @discardableResult
    public func undo(_ target: UndoTarget) async throws(TidelogError) -> UndoReport {
        try await engine().store.undo(target)
    }

    /// What ``undo(_:)`` would do. Changes nothing. Cost: as the undo, a pass over the queue.
    public func rehearseUndo(_ target: UndoTarget) async throws(TidelogError) -> UndoReport {
        try await engine().store.rehearseUndo(target)
    }

    /// Puts undone operations back at their old places, change sets as a whole; they are pending, or refused, as they were.
    /// Returns all that were redone.
    ///
    /// What was done since stays. Where the two do not go together, the call is refused with the rule, and nothing is
    /// changed.
    @discardableResult
    public func redo(_ operations: [SequenceNumber]) async throws(TidelogError) -> [SequenceNumber] {
        try await engine().store.redo(operations)
    }

    /// Redoes what the last undo took back that is not redone yet. Called again, the one before it.
    @discardableResult
    public func redoLastUndo() async throws(TidelogError) -> [SequenceNumber] {
        try await engine().store.redoLast()
    }
}
