import EDM
public import OfflineStore
public import Operations
import Logging

/// Undo and redo of operations that have not been sent or that the service rejected.
///
/// Undone operations are kept, even by a compaction, and can be redone as long as the result is valid.
extension OfflineODataProvider {
    /// Undoes the pending changes of the given entities: a changed entity reverts, a new one disappears, a deleted
    /// one is restored.
    ///
    /// None of the changes is sent. A deleted or unread entity can be identified by its editLink or readLink alone.
    ///
    /// One call for several entities is one undo. Operations on other entities are kept, except those that depend on
    /// the undone ones; the report contains these. The objects are then updated from the store; an entity that no
    /// longer exists becomes `unsaved`.
    ///
    /// - Throws: `refused(.entityNotFound)` or `notFound` if an object has neither link nor key, or leads to no entity
    ///   of the store; `refused(.notUndoable)` if an operation that depends on the undone ones is in flight or in
    ///   doubt; nothing is undone then. `noStore` if the store is not open.
    @discardableResult
    public func undoPendingChanges(for entities: [EntityValue]) async throws(TidelogError) -> UndoReport {
        let engine = try engine()
        let model = try await engine.store.model
        let builder = IntentBuilder(model: model)
        var addresses: [EntityAddress] = []
        for entity in entities { addresses.append(try builder.address(of: entity)) }
        let report = try await engine.store.queue.undo(.entities(addresses))
        for (entity, address) in zip(entities, addresses) {
            try await entity.revert(to: address, in: engine.store, model, provider: self)
        }
        return report
    }

    /// Undoes the pending changes of one entity; see ``undoPendingChanges(for:)-([EntityValue])``.
    ///
    /// - Throws: Like ``undoPendingChanges(for:)-([EntityValue])``.
    @discardableResult
    public func undoPendingChanges(for entity: EntityValue) async throws(TidelogError) -> UndoReport {
        try await undoPendingChanges(for: [entity])
    }

    /// Undoes one operation at any position in the queue.
    ///
    /// The other operations of its change set and those that depend on it are undone too and listed in the report.
    /// ``rehearseUndo(_:)`` returns this report without changing anything.
    ///
    /// - Parameters:
    ///   - operation: the sequence number of the operation.
    ///   - withDependants: if `false`, the call throws if other operations would have to be undone, and the error
    ///     lists them.
    /// - Throws: `refused(.notUndoable)` if the operation does not exist, was confirmed or undone, or if it or one that
    ///   depends on it is in flight or in doubt; `refused(.hasDependants)` if `withDependants` is `false` and others
    ///   depend on it. Nothing is undone then.
    @discardableResult
    public func undo(
        operation: SequenceNumber, withDependants: Bool = true
    ) async throws(TidelogError) -> UndoReport {
        try await engine().store.queue.undo(.operations([operation]), withDependants: withDependants)
    }

    /// Undoes all operations that the service has not received. Operations in flight or in doubt are kept and listed
    /// in the report.
    ///
    /// - Throws: `refused(.notUndoable)` if an operation that depends on them is in flight or in doubt; nothing is
    ///   undone then. `noStore` if the store is not open.
    @discardableResult
    public func undoAllPendingChanges() async throws(TidelogError) -> UndoReport { try await undo(.everything) }

    /// Undoes the operations of the target in one record.
    ///
    /// - Throws: Like ``undo(operation:withDependants:)`` and ``undoPendingChanges(for:)-([EntityValue])``.
    @discardableResult
    public func undo(_ target: UndoTarget) async throws(TidelogError) -> UndoReport {
        try await engine().store.queue.undo(target)
    }

    /// Returns the report that ``undo(_:)`` would return. Changes nothing.
    ///
    /// Cost: like the undo, a pass over the queue.
    ///
    /// - Throws: Like ``undo(_:)``.
    public func rehearseUndo(_ target: UndoTarget) async throws(TidelogError) -> UndoReport {
        try await engine().store.queue.rehearseUndo(target)
    }

    /// Restores undone operations at their former positions, change sets as a whole. They are pending or rejected as
    /// before.
    ///
    /// Later operations are kept. If the two are incompatible, the call throws the violated rule and changes nothing.
    ///
    /// - Returns: All redone operations.
    /// - Throws: `refused(.notUndoable)` if an operation is not undone; `refused` with the violated rule if the result
    ///   is not valid; `noStore` if the store is not open.
    @discardableResult
    public func redo(_ operations: [SequenceNumber]) async throws(TidelogError) -> [SequenceNumber] {
        try await engine().store.queue.redo(operations)
    }

    /// Redoes the last undo that has not been redone yet. Each further call redoes the one before it.
    ///
    /// - Returns: All redone operations.
    /// - Throws: `refused` with the violated rule if the result is not valid; `noStore` if the store is not open.
    @discardableResult
    public func redoLastUndo() async throws(TidelogError) -> [SequenceNumber] {
        try await engine().store.queue.redoLast()
    }
}

extension EntityValue {
    /// Updates the object from the store after changes of its entity were undone.
    fileprivate func revert(
        to address: EntityAddress, in store: LocalStore, _ model: EntityDataModel, provider: any ServiceBackend,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(TidelogError) {
        related = RelationList()
        let factory =
            self.factory
            ?? EntityFactory(model: model, classes: [:], provider: provider, logger: Logger(label: "tidelog.odata"))
        do throws(TidelogError) {
            apply(try await store.load(address), factory)
        } catch {
            guard error.code == .notFound else { throw error }
            state = .unsaved
        }
    }
}
