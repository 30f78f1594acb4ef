import EDM
public import Operations
import SyncCore
import Views

/// The queries that say which part of the service the store holds.
extension LocalStore {
    /// In the order in which they were added.
    public func definingQueries() throws(TidelogError) -> [DefiningQuery] {
        try read { try $0.queries().map(\.query) }
    }

    /// The queries of shared data that were downloaded so short a while ago that they need not be asked for again.
    func freshQueries() throws(TidelogError) -> [String] {
        let (settings, now) = (querySettings, environment.now())
        return try read { try $0.queries() }.filter { settings[$0.query.name]?.isFresh($0, now: now) ?? false }
            .map(\.query.name)
    }

    /// Adds a query, or replaces that of the same name. Its path must lead to an entity set or a single entity.
    public func add(_ query: DefiningQuery) async throws(TidelogError) {
        var query = query
        if query.query.hasPrefix("/") { query.query.removeFirst() }
        if hasModel { try Self.check(query, try model) }
        if try definingQueries().contains(query) { return }
        try await record([.definingQueryAdded(query)])
    }

    /// The query and the entities that no other query brings are removed from the store.
    ///
    /// - Throws: `refused(.notAllowed)` where its settings keep it, `refused(.hasDependants)` where operations are pending
    ///   on entities that would go; see ``DefiningQueryRules``.
    public func removeDefiningQuery(_ name: String) async throws(TidelogError) {
        guard let state = try read({ try $0.queries() }).first(where: { $0.query.name == name }) else {
            throw TidelogError(.invalidRequest, "There is no defining query \(name).")
        }
        let pending = try pendingOperations(onWhatOnly: name)
        if let refused = DefiningQueryRules.refusalOfRemoval(of: state, querySettings[name], pending: pending) {
            throw TidelogError(refused, pending.isEmpty ? .refused(.notAllowed) : .refused(.hasDependants))
        }
        try await record([.definingQueryRemoved(name: name)])
    }

    /// The pending operations on entities that no other query brings, each with one of these.
    private func pendingOperations(
        onWhatOnly query: String
    ) throws(TidelogError) -> [(operation: SequenceNumber, entity: String)] {
        guard try pendingCount() > 0 else { return [] }
        let model = try model
        return try rehearsal {
            let brought = Set(try self.state.takeUncovered(query: query, before: .max))
            var found: [(operation: SequenceNumber, entity: String)] = []
            for pending in try self.state.pendingOperations() {
                // What was created here was brought by nobody.
                let only = try pending.operation.referencedEntities.first {
                    try brought.contains($0) && !self.state.isCovered($0)
                }
                if let only { found.append((pending.sequence, try self.state.name(of: only, model))) }
            }
            return found
        }
    }

    static func check(_ query: DefiningQuery, _ model: EntityDataModel) throws(TidelogError) {
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
