public import EDM
public import Operations
import SyncCore
import Views

/// Defining queries, which determine the part of the service that the store contains.
extension LocalStore {
    /// Returns the queries in the order in which they were added.
    public func definingQueries() throws(TidelogError) -> [DefiningQuery] {
        try read { try $0.bookkeeping.queries().map(\.query) }
    }

    /// Returns whether a query was never downloaded completely, or its last download was interrupted.
    public func hasPendingDownload() throws(TidelogError) -> Bool {
        try read { try $0.bookkeeping.queries() }.contains { !$0.isComplete || $0.downloaded == nil }
    }

    /// Returns the names of shared queries that were downloaded recently enough.
    func freshQueries() throws(TidelogError) -> [String] {
        let (settings, now) = (querySettings, environment.now())
        return try read { try $0.bookkeeping.queries() }.filter {
            settings[$0.query.name]?.isFresh($0, now: now) ?? false
        }
        .map(\.query.name)
    }

    /// Adds a query, or replaces the one with the same name. Its path must lead to an entity set or a single entity.
    ///
    /// - Throws: `unsupported` if it requests streams that this store cannot keep. If it replaces the text of a
    ///   downloaded query, the errors of ``removeDefiningQuery(_:)`` too, because the next download removes the
    ///   entities that only the old query contains.
    public func add(_ query: DefiningQuery) async throws(TidelogError) {
        var query = query
        if query.query.hasPrefix("/") { query.query.removeFirst() }
        if hasModel { try Self.check(query, try model) }
        if query.automaticallyRetrievesStreams { _ = try streamFiles() }
        let replaced = try read { try $0.bookkeeping.queries() }.first { $0.query.name == query.name }
        if replaced?.query == query { return }
        if let replaced, replaced.query.query != query.query { try checkRemoval(of: replaced) }
        try await record([.definingQueryAdded(query)])
    }

    /// Removes a query and the entities that no other query contains.
    ///
    /// - Throws: `refused(.notAllowed)` if its settings do not allow removal, `refused(.hasDependants)` if operations
    ///   on affected entities are pending; see ``DefiningQueryRules``.
    public func removeDefiningQuery(_ name: String) async throws(TidelogError) {
        guard let state = try read({ try $0.bookkeeping.queries() }).first(where: { $0.query.name == name }) else {
            throw TidelogError(.invalidRequest, "There is no defining query \(name).")
        }
        try checkRemoval(of: state)
        try await record([.definingQueryRemoved(name: name)])
    }

    private func checkRemoval(of state: QueryState) throws(TidelogError) {
        let name = state.query.name
        let pending = try pendingOperations(onWhatOnly: name)
        let brings = try read { _ in try views.bookkeeping.bringsEntities(query: name) }
        let refused = DefiningQueryRules.refusalOfRemoval(
            of: state, querySettings[name], bringsEntities: brings, pending: pending)
        if let refused {
            throw TidelogError(refused, pending.isEmpty ? .refused(.notAllowed) : .refused(.hasDependants))
        }
    }

    /// Returns the pending operations on entities that no other query contains, each with one of these entities.
    private func pendingOperations(
        onWhatOnly query: String
    ) throws(TidelogError) -> [(operation: SequenceNumber, entity: String)] {
        guard try pendingCount() > 0 else { return [] }
        let model = try model
        return try dryRun {
            let brought = Set(try self.state.bookkeeping.drainUncovered(query: query, before: .max))
            var found: [(operation: SequenceNumber, entity: String)] = []
            for pending in try self.state.pendingOperations() {
                // Locally created entities do not belong to a query.
                let only = try pending.operation.referencedEntities.first {
                    try brought.contains($0) && !self.state.bookkeeping.isCovered($0)
                }
                if let only { found.append((pending.sequence, try self.state.name(of: only, model))) }
            }
            return found
        }
    }

    /// Checks a query.
    ///
    /// - Throws: `invalidRequest` if a service of this model cannot answer the query, or the store cannot contain the
    ///   result.
    public static func check(_ query: DefiningQuery, _ model: EntityDataModel) throws(TidelogError) {
        if let refused = DefiningQueryRules.refusal(of: query, in: model) {
            throw TidelogError(refused, .invalidRequest)
        }
    }
}

extension TidelogError {
    fileprivate init(_ refused: DefiningQueryRefused, _ code: Code) {
        self.init(code, refused.message, place: refused.query.query, recovery: refused.recovery, cause: refused)
    }
}
