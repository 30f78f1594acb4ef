package import Operations

/// The dependencies between operations: an edge leads from an operation to an earlier one.
///
/// They are derived from the records alone, in the order of the log. Memory: a few numbers for each referenced entity.
package struct OperationDependences: Sendable {
    /// A dependency on an earlier operation, which has to take effect before or at the same time.
    package struct Edge: Sendable, Hashable {
        package let operation: SequenceNumber
        package let reason: Reason
        /// The entity of the dependency; nil for a change set and a transaction.
        package let entity: EntityID?
    }

    package enum Reason: String, Sendable, Hashable {
        /// The earlier operation creates the entity.
        case creates
        /// The earlier operation is the last one that changes the entity or its links.
        case changes
        /// Both belong to one change set and take effect together.
        case changeSet
        /// Both belong to one transaction.
        case transaction
    }

    private var creators: [EntityID: SequenceNumber] = [:]
    private var changers: [EntityID: SequenceNumber] = [:]
    private var transactions: [String: SequenceNumber] = [:]

    package init() {}

    /// Returns the dependencies of an operation, each earlier operation once, latest first. It has to be called once
    /// for each item, in order. Other items have no dependencies.
    package mutating func edges(of item: HistoryItem) -> [Edge] {
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
    /// The existing entities whose values or links the operation changes.
    fileprivate var changedEntities: [EntityID] {
        if let call { return Set([subject, call.boundEntity ?? subject]).subtracting([.unbound]).sorted() }
        return switch action {
        case .create: []
        case .update(let entity, _, _), .delete(let entity): [entity]
        case .createLink(let link), .updateLink(let link), .deleteLink(let link): [link.from, link.to]
        }
    }
}
