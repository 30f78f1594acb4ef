import Operations

/// The pending operations in order, found by what they name.
struct MemoryQueue {
    private var operations: [SequenceNumber: PendingOperation] = [:]
    /// Ascending, behind ``start`` numbers that are of no use any more: operations end in the order in which they were made
    /// as a rule, and those behind one that ends need not be moved each time.
    private var order: [SequenceNumber] = []
    private var start = 0
    private var byEntity: [EntityID: SmallSet<SequenceNumber>] = [:]
    private var byChanged: [EntityID: SmallSet<SequenceNumber>] = [:]
    private var byTransaction: [String: Set<SequenceNumber>] = [:]
    /// How many of them are not to be sent.
    private(set) var heldBack = 0

    var count: Int { order.count - start }

    subscript(sequence: SequenceNumber) -> PendingOperation? { operations[sequence] }

    func status(of sequence: SequenceNumber) -> (status: PendingOperation.Status, since: Timestamp)? {
        guard let index = operations.index(forKey: sequence) else { return nil }
        return (operations.values[index].status, operations.values[index].since)
    }

    mutating func setStatus(_ status: PendingOperation.Status, since: Timestamp, of sequence: SequenceNumber) {
        guard let index = operations.index(forKey: sequence) else { return }
        operations.values[index].status = status
        operations.values[index].since = since
    }

    mutating func put(_ operation: PendingOperation) {
        let sequence = operation.sequence
        if operation.operation.delivery != .queued { heldBack += 1 }
        if let former = operations.updateValue(operation, forKey: sequence) {
            if former.operation.delivery != .queued { heldBack -= 1 }
            return
        }
        order.insert(sequence, at: place(of: sequence))
        operation.operation.forEachTouched { id in
            byEntity[id, default: SmallSet()].insert(sequence)
            if operation.operation.changes(id) { byChanged[id, default: SmallSet()].insert(sequence) }
        }
        if let name = operation.operation.transactionID { byTransaction[name, default: []].insert(sequence) }
    }

    mutating func remove(_ sequence: SequenceNumber) {
        guard let gone = operations.removeValue(forKey: sequence) else { return }
        if gone.operation.delivery != .queued { heldBack -= 1 }
        removeFromOrder(sequence)
        gone.operation.forEachTouched { id in
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

    private mutating func removeFromOrder(_ sequence: SequenceNumber) {
        let place = place(of: sequence)
        guard place == start else {
            order.remove(at: place)
            return
        }
        start += 1
        if start > order.count / 2 {
            order.removeFirst(start)
            start = 0
        }
    }

    func operations(from first: SequenceNumber, limit: Int) -> [PendingOperation] {
        order[place(of: first)...].prefix(limit).compactMap { operations[$0] }
    }

    func naming(_ id: EntityID) -> [SequenceNumber] { byEntity[id]?.elements.sorted() ?? [] }
    func changing(_ id: EntityID) -> [SequenceNumber] { byChanged[id]?.elements.sorted() ?? [] }
    func hasChange(of id: EntityID) -> Bool { byChanged[id] != nil }
    func last(inTransaction name: String) -> SequenceNumber? { byTransaction[name]?.max() }

    /// Where the number stands, or would.
    private func place(of sequence: SequenceNumber) -> Int {
        guard let last = order.last, sequence <= last else { return order.count }
        var (low, high) = (start, order.count)
        while low < high {
            let middle = (low + high) / 2
            if order[middle] < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
