package import EDM
import OperationLog
package import Operations
import SyncCore
import Views

/// The defining queries of a store, which determine the part of the service that it contains.
package actor StoreDefiningQueries {
    nonisolated let core: StoreCore
    package nonisolated var unownedExecutor: UnownedSerialExecutor { core.executor.asUnownedSerialExecutor() }

    init(core: StoreCore) { self.core = core }

    /// Returns the queries in the order in which they were added.
    package func all() throws(TidelogError) -> [DefiningQuery] {
        try core.read { try $0.bookkeeping.queries().map(\.query) }
    }

    /// Returns whether a query was never downloaded completely, or its last download was interrupted.
    package func hasPendingDownload() throws(TidelogError) -> Bool {
        try core.read { try $0.bookkeeping.queries() }.contains { !$0.isComplete || $0.downloaded == nil }
    }

    /// Returns the names of shared queries that were downloaded recently enough.
    package func freshQueries() throws(TidelogError) -> [String] {
        let (settings, now) = (core.options.querySettings, core.environment.now())
        return try core.read { try $0.bookkeeping.queries() }.filter {
            settings[$0.query.name]?.isFresh($0, now: now) ?? false
        }
        .map(\.query.name)
    }

    /// Adds a query, or replaces the one with the same name. Its path must lead to an entity set or a single entity.
    ///
    /// - Throws: `unsupported` if it requests streams that this store cannot keep. If it replaces the text of a
    ///   downloaded query, the errors of ``remove(_:)`` too, because the next download removes the
    ///   entities that only the old query contains.
    package func add(_ query: DefiningQuery) async throws(TidelogError) {
        var query = query
        if query.query.hasPrefix("/") { query.query.removeFirst() }
        if core.hasModel { try query.check(for: try core.model) }
        if query.automaticallyRetrievesStreams { _ = try StreamFiles(of: core) }
        let replaced = try core.read { try $0.bookkeeping.queries() }.first { $0.query.name == query.name }
        if replaced?.query == query { return }
        if let replaced, replaced.query.query != query.query { try checkRemoval(of: replaced) }
        try await core.record([.definingQueryAdded(query)])
    }

    /// Removes a query and the entities that no other query contains.
    ///
    /// - Throws: `refused(.notAllowed)` if its settings do not allow removal, `refused(.hasDependants)` if operations
    ///   on affected entities are pending; see ``DefiningQueryRules``.
    package func remove(_ name: String) async throws(TidelogError) {
        guard let state = try core.read({ try $0.bookkeeping.queries() }).first(where: { $0.query.name == name }) else {
            throw TidelogError(.invalidRequest, "There is no defining query \(name).")
        }
        try checkRemoval(of: state)
        try await core.record([.definingQueryRemoved(name: name)])
    }

    private func checkRemoval(of state: QueryState) throws(TidelogError) {
        let name = state.query.name
        let pending = try pendingOperations(onWhatOnly: name)
        let brings = try core.read { _ in try core.views.bookkeeping.hasEntities(query: name) }
        let refused = DefiningQueryRules.refusalOfRemoval(
            of: state, core.options.querySettings[name], hasEntities: brings, pending: pending)
        if let refused {
            throw TidelogError(refused, pending.isEmpty ? .refused(.notAllowed) : .refused(.hasDependants))
        }
    }

    /// Returns the pending operations on entities that no other query contains, each with one of these entities.
    private func pendingOperations(
        onWhatOnly query: String
    ) throws(TidelogError) -> [(operation: SequenceNumber, entity: String)] {
        guard try core.read({ try $0.pendingCount() }) > 0 else { return [] }
        let model = try core.model
        return try core.dryRun {
            let brought = Set(try core.state.bookkeeping.drainUncovered(query: query, before: .max))
            var found: [(operation: SequenceNumber, entity: String)] = []
            for pending in try core.state.pendingOperations() {
                // Locally created entities do not belong to a query.
                let only = try pending.operation.referencedEntities.first {
                    try brought.contains($0) && !core.state.bookkeeping.isCovered($0)
                }
                if let only { found.append((pending.sequence, try core.state.name(of: only, model))) }
            }
            return found
        }
    }
}

extension DefiningQuery {
    /// Checks the query.
    ///
    /// - Throws: `invalidRequest` if a service of this model cannot answer the query, or the store cannot contain the
    ///   result.
    package func check(for model: EntityDataModel) throws(TidelogError) {
        if let refused = DefiningQueryRules.refusal(of: self, in: model) {
            throw TidelogError(refused, .invalidRequest)
        }
    }
}

extension TidelogError {
    fileprivate init(_ refused: DefiningQueryRefused, _ code: Code) {
        self.init(code, refused.message, place: refused.query.query, recovery: refused.recovery, cause: refused)
    }
}
