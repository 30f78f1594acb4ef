package import EDM
import OperationLog
package import Operations
import SyncCore
import Views

/// Migration to other metadata of the same service.
package actor StoreMetadata {
    nonisolated let core: StoreCore
    package nonisolated var unownedExecutor: UnownedSerialExecutor { core.executor.asUnownedSerialExecutor() }

    init(core: StoreCore) { self.core = core }

    /// Installs and logs a metadata document if its changes are compatible or approved.
    ///
    /// Pending operations are kept. In the same transaction, those that no longer fit the metadata move to the error
    /// archive with the reason, and archived ones that fit again become pending. Values, entities and links without a
    /// counterpart are dropped from the views. The next download reads all defining queries in full.
    ///
    /// - Parameters:
    ///   - classes: The metadata that the app's classes were generated from. The new metadata have to be compatible
    ///     with these too.
    ///   - root: The service root of the new metadata, or nil for the current one.
    /// - Throws: `incompatibleMetadata`, or `notOData` if the document is no metadata. In both cases nothing changes.
    /// - Complexity: One pass over the queue, and one over the entities and links if values or relationships change.
    package func refresh(
        _ metadata: [UInt8], policy: CompatibilityPolicy, classes: EntityDataModel? = nil, root: String? = nil
    ) async throws(TidelogError) -> MetadataRefresh {
        let (metadata, old, new, difference) = try comparison(metadata)
        let incompatible = policy.incompatibleChanges(in: difference, classes, new)
        guard incompatible.isEmpty, let known = try core.service else {
            throw TidelogError(
                IncompatibleMetadata(difference: difference, changes: incompatible, defects: new.defects),
                root: try core.service?.root ?? "")
        }
        let root = root ?? known.root
        if known.metadata == metadata, known.root == root {
            return MetadataRefresh(difference: difference, defects: new.defects)
        }
        let refresh = try core.transaction { () throws -> MetadataRefresh in
            let refresh = try self.consequences(of: difference, from: old, to: new)
            try core.add(.serviceInstalled(ServiceDescription(root: root, metadata: metadata)))
            if !refresh.incompatibleOperations.isEmpty {
                try core.add(.operationsIncompatible(refresh.incompatibleOperations))
            }
            if !refresh.compatibleAgain.isEmpty { try core.add(.operationsReleased(refresh.compatibleAgain)) }
            _ = try core.commit()
            core.planEpoch += 1
            return refresh
        }
        // Tables that changed were recreated without the indexes for queries.
        try StoreIndexes(core: core).arrange()
        try await core.acknowledge()
        return refresh
    }

    /// Returns the result that ``refresh(_:policy:classes:)`` would have, including incompatible changes, without
    /// changing anything.
    package func rehearseRefresh(
        _ metadata: [UInt8], policy: CompatibilityPolicy, classes: EntityDataModel? = nil
    ) throws(TidelogError) -> MetadataRefresh {
        let (_, old, new, difference) = try comparison(metadata)
        var refresh = try core.read { _ in try self.consequences(of: difference, from: old, to: new) }
        refresh.incompatible = policy.incompatibleChanges(in: difference, classes, new)
        return refresh
    }

    /// Returns the defining queries that the metadata no longer allow.
    package func unusableQueries() throws(TidelogError) -> [UnusableQuery] {
        try unusableQueries(try core.model)
    }

    private func unusableQueries(_ model: EntityDataModel) throws(TidelogError) -> [UnusableQuery] {
        try core.read { try $0.bookkeeping.queries().map(\.query) }.compactMap { query in
            do throws(TidelogError) {
                try query.check(for: model)
                return nil
            } catch {
                return UnusableQuery(name: query.name, error: error)
            }
        }
    }

    /// Compares metadata with the store's, whose client-only part is added unless the new ones have their own.
    private func comparison(
        _ metadata: [UInt8]
    ) throws(TidelogError) -> (
        metadata: [UInt8], old: EntityDataModel, new: EntityDataModel, difference: ModelDifference
    ) {
        let old = try core.model
        let own = ClientOnlyMetadata.parts(try core.service?.metadata ?? []).additions
        do throws(CSDLError) {
            var metadata = metadata
            if let own, ClientOnlyMetadata.parts(metadata).additions == nil {
                metadata = try ClientOnlyMetadata.joined(service: metadata, additions: own)
            }
            let new = try core.environment.models.read(metadata)
            return (metadata, old, new, ModelDifference(from: old, to: new))
        } catch {
            throw TidelogError(error, place: try core.service?.root)
        }
    }

    /// Returns the consequences of new metadata for a state under the old ones.
    private func consequences(
        of difference: ModelDifference, from old: EntityDataModel, to new: EntityDataModel
    ) throws -> MetadataRefresh {
        var refresh = MetadataRefresh(difference: difference, defects: new.defects)
        refresh.unusableQueries = try unusableQueries(new)
        let fit = OperationCompatibility(storage: core.state, from: old, to: new)
        let requests = QueuedRequest(
            state: core.state, model: old, root: try core.service?.root ?? "", options: try core.serviceOptions)
        for pending in try core.state.pendingOperations() {
            guard let reason = try fit.misfit(of: pending.operation) else {
                if pending.isIncompatible { refresh.compatibleAgain.append(pending.sequence) }
                continue
            }
            // The first refusal contains the request as it would have been sent. An operation that was sent may have
            // taken effect: it is examined when its outcome is known, and must not be treated as unsent.
            guard !pending.isIncompatible, pending.status.batch == nil else { continue }
            refresh.incompatibleOperations.append(try IncompatibleOperations.record(pending, reason, requests))
        }
        return refresh
    }

    /// Reduces operations that do not fit the metadata to the parts that fit. They are pending again, in the same
    /// positions.
    ///
    /// - Throws: `refused(.notAllowed)` if an operation fits unchanged, if no part of one fits, or if the rest would
    ///   not be accepted either. Then nothing changes.
    package func amend(_ operations: [SequenceNumber]) async throws(TidelogError) {
        guard !operations.isEmpty else { return }
        try core.transaction { () throws -> Void in
            let model = try core.model
            let fit = OperationCompatibility(storage: core.state, model: model)
            let amended = try Set(operations).sorted().map { sequence in
                guard let pending = try core.state.pendingOperation(sequence), pending.isIncompatible else {
                    throw OperationRefused(
                        .notAllowed, "Operation \(sequence) fits the metadata, so it cannot be amended.",
                        recovery: "Change its entity; the next upload sends both changes together.")
                }
                let content = try pending.visible(in: core.state, model)
                guard let content, !content.isEmptyUpdate, try fit.misfit(of: content) == nil else {
                    throw OperationRefused(
                        .notAllowed, "No part of operation \(sequence) fits the metadata.",
                        recovery: "Undo the operation.")
                }
                return AmendedOperation(operation: sequence, content: content)
            }
            try core.add(.operationsAmended(amended))
            _ = try core.commit()
            core.planEpoch += 1
        }
        try await core.acknowledge()
    }
}

extension Operation {
    fileprivate var isEmptyUpdate: Bool {
        if case .update(_, let changes, let bindings) = action {
            return stream == nil && call == nil && changes.isEmpty && bindings.isEmpty
        }
        return false
    }
}

extension CompatibilityPolicy {
    /// Returns the incompatible changes of the difference, and those between the metadata of the app's classes and the
    /// new ones.
    fileprivate func incompatibleChanges(
        in difference: ModelDifference, _ classes: EntityDataModel?, _ new: EntityDataModel
    ) -> [ModelChange] {
        var found = incompatibleChanges(in: difference)
        guard let classes else { return found }
        let difference = ModelDifference(from: classes, to: new)
        // Classes generated from a V2 document can be used with V4, but their metadata cannot be compared.
        guard difference.isComplete else { return found }
        for change in incompatibleChanges(in: difference) where !found.contains(change) {
            found.append(change)
        }
        return found
    }
}
