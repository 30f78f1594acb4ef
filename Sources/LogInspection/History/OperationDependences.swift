public import Operations

/// What operations need in front of them: an edge leads from an operation to an earlier one.
///
/// Told from the records alone, in the order of the log. Memory: a number or two for each entity that an operation names.
public struct OperationDependences: Sendable {
    /// An earlier operation that has to be through before, or at the same time.
    public struct Edge: Sendable, Hashable {
        public let operation: SequenceNumber
        public let reason: Reason
        /// Whom it is about; nil for a change set and a transaction.
        public let entity: EntityID?
    }

    public enum Reason: String, Sendable, Hashable {
        /// It creates the entity.
        case creates
        /// It is the last one before that changes the entity or its links.
        case changes
        /// Both are of one change set: they take effect together.
        case changeSet
        /// Both are of one transaction.
        case transaction
    }

    private var creators: [EntityID: SequenceNumber] = [:]
    private var changers: [EntityID: SequenceNumber] = [:]
    private var transactions: [String: SequenceNumber] = [:]

    public init() {}

    /// What the operation needs, each earlier one once, the latest first. To be called once for each item, in order; other
    /// items than operations need nothing.
    public mutating func edges(of item: HistoryItem) -> [Edge] {
        switch item {
        case .entry(let entry), .carried(let entry, _, _):
            return entry.operation.map { edges(of: $0, entry.sequence) } ?? []
        case .lost, .undecodable, .damage, .compacted: return []
        }
    }

    private mutating func edges(of operation: Operation, _ sequence: SequenceNumber) -> [Edge] {
        var found: [SequenceNumber: Edge] = [:]
        func add(_ earlier: SequenceNumber?, _ reason: Reason, _ entity: EntityID? = nil) {
            guard let earlier, earlier < sequence, found[earlier] == nil else { return }
            found[earlier] = Edge(operation: earlier, reason: reason, entity: entity)
        }
        for entity in operation.referencedEntities { add(creators[entity], .creates, entity) }
        for entity in operation.referencedEntities { add(changers[entity], .changes, entity) }
        add(operation.changeSet, .changeSet)
        if let transaction = operation.transactionID {
            add(transactions[transaction], .transaction)
            transactions[transaction] = sequence
        }
        for entity in operation.createdEntities { creators[entity] = sequence }
        for entity in operation.changedEntities { changers[entity] = sequence }
        return found.values.sorted { $0.operation > $1.operation }
    }
}

extension Operation {
    /// Those whose own values or whose links the operation changes, new ones left out.
    fileprivate var changedEntities: [EntityID] {
        switch action {
        case .create: []
        case .update(let entity, _, _), .delete(let entity): [entity]
        case .createLink(let link), .updateLink(let link), .deleteLink(let link): [link.from, link.to]
        }
    }
}
