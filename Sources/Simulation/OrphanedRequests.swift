import Operations

/// The effects of requests that the service received after their device had abandoned them, or received twice, without
/// recognizing the repetition.
///
/// No device can prevent a service from creating an entity twice in this way, or from executing an operation that was
/// undone in the meantime. The service itself rejects requests that an ETag or a client-generated key protects.
struct OrphanedRequests {
    /// The number of times that they created an entity with each mark.
    private(set) var created: [String: Int] = [:]
    /// The number of times that they wrote each value.
    private(set) var written: [String: Int] = [:]
    /// The marks of the entities that they deleted.
    private(set) var removed: Set<String> = []
    /// The links that they created or deleted, as `mark navigation mark`.
    private(set) var links: Set<String> = []

    /// Adds creations whose entity the store had twice, because a download delivered it while the creation was in doubt,
    /// and whose user deleted the downloaded one: the request is sent again, and its entity is the one that remains.
    mutating func addDeletedTwins(of accounts: [DeviceHistory]) {
        for account in accounts {
            // The marks of the creations that were in doubt, with the first operation that created each.
            var doubtful: [String: SequenceNumber] = [:]
            let creations = Set(account.operations.flatMap(\.operation.createdEntities))
            for (sequence, operation) in account.operations where account.history.doubted.contains(sequence) {
                for entity in operation.createdEntities { doubtful[account.mark(entity)] = sequence }
            }
            for (sequence, operation) in account.operations {
                guard case .delete(let entity) = operation.action, !creations.contains(entity),
                    account.standing(of: sequence) == .done,
                    let creation = doubtful[account.mark(entity)], creation < sequence
                else { continue }
                self.created[account.mark(entity), default: 0] += 1
            }
        }
    }

    mutating func add(from before: Ledger, to after: Ledger) {
        created.merge(after.created.difference(from: before.created), uniquingKeysWith: +)
        written.merge(after.written.difference(from: before.written), uniquingKeysWith: +)
        removed.formUnion(before.present.subtracting(after.present))
        links.formUnion(before.links.symmetricDifference(after.links))
    }
}

extension [String: Int] {
    /// The increases of the counts since `before`.
    fileprivate func difference(from before: Self) -> Self {
        var difference: Self = [:]
        for (name, count) in self where count > before[name] ?? 0 { difference[name] = count - (before[name] ?? 0) }
        return difference
    }
}
