import Operations

/// The pending operations in order, found by what they name.
struct MemoryQueue {
    private var operations: [SequenceNumber: PendingOperation] = [:]
    private var order: [SequenceNumber] = []
    private var byEntity: [EntityID: Set<SequenceNumber>] = [:]
    private var byChanged: [EntityID: Set<SequenceNumber>] = [:]
    private var byTransaction: [String: Set<SequenceNumber>] = [:]

    var count: Int { order.count }

    subscript(sequence: SequenceNumber) -> PendingOperation? { operations[sequence] }

    mutating func put(_ operation: PendingOperation) {
        let sequence = operation.sequence
        if operations.updateValue(operation, forKey: sequence) != nil { return }
        order.insert(sequence, at: place(of: sequence))
        for id in operation.operation.touchedEntities {
            byEntity[id, default: []].insert(sequence)
            if operation.operation.changes(id) { byChanged[id, default: []].insert(sequence) }
        }
        if let name = operation.operation.transactionID { byTransaction[name, default: []].insert(sequence) }
    }

    mutating func remove(_ sequence: SequenceNumber) {
        guard let gone = operations.removeValue(forKey: sequence) else { return }
        order.remove(at: place(of: sequence))
        for id in Set(gone.operation.touchedEntities) {
            byEntity[id]?.remove(sequence)
            if byEntity[id]?.isEmpty == true { byEntity[id] = nil }
            byChanged[id]?.remove(sequence)
            if byChanged[id]?.isEmpty == true { byChanged[id] = nil }
        }
        if let name = gone.operation.transactionID {
            byTransaction[name]?.remove(sequence)
            if byTransaction[name]?.isEmpty == true { byTransaction[name] = nil }
        }
    }

    func operations(from first: SequenceNumber, limit: Int) -> [PendingOperation] {
        order[place(of: first)...].prefix(limit).compactMap { operations[$0] }
    }

    func naming(_ id: EntityID) -> [SequenceNumber] { (byEntity[id] ?? []).sorted() }
    func changing(_ id: EntityID) -> [SequenceNumber] { (byChanged[id] ?? []).sorted() }
    func hasChange(of id: EntityID) -> Bool { byChanged[id] != nil }
    func last(inTransaction name: String) -> SequenceNumber? { byTransaction[name]?.max() }

    /// Where the number stands, or would.
    private func place(of sequence: SequenceNumber) -> Int {
        guard let last = order.last, sequence <= last else { return order.count }
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if order[middle] < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
