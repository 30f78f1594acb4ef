import Operations

/// Operations that are sent together, with their footprints.
struct TransactionUnit {
    var operations: [PendingOperation] = []
    var footprints: [OperationFootprint] = []
    /// Further operations that those above also perform, by the operation that carries them; see ``Coalescing``.
    var carried: [SequenceNumber: [SequenceNumber]] = [:]

    mutating func append(_ other: TransactionUnit) {
        operations += other.operations
        footprints += other.footprints
        carried.merge(other.carried) { $0 + $1 }
    }

    /// All operations of the unit.
    var sequences: [SequenceNumber] { operations.map(\.sequence) + carried.values.flatMap { $0 } }
}

/// Combines the units of each transaction, wherever they are in the queue.
///
/// Units depend on the earlier units with which they do not commute. If the units of a transaction are combined, a unit
/// between them may depend on the transaction and also be required by it; such a cycle has to be sent as one unit too.
/// A transaction is therefore a strongly connected component of the dependency graph. Tarjan's algorithm returns the
/// components in an order that respects all dependencies.
struct TransactionUnits {
    private let units: [TransactionUnit]
    /// The node of each unit, identified by its first unit. A transaction is one node; any other unit is a node of its
    /// own.
    private var nodes: [Int]
    private var members: [Int: [Int]] = [:]
    /// The nodes that each node depends on.
    private var predecessors: [Int: Set<Int>] = [:]

    /// Returns the units in an order that respects every dependency. They are unchanged if no operation has a
    /// transactionID.
    ///
    /// Cost: linear in the queue.
    static func arranged(_ units: [TransactionUnit]) -> [TransactionUnit] {
        guard units.contains(where: { $0.operations.contains { $0.operation.transactionID != nil } }) else {
            return units
        }
        return TransactionUnits(units).components()
    }

    private init(_ units: [TransactionUnit]) {
        self.units = units
        nodes = Array(units.indices)
        joinTransactions()
        findPredecessors()
    }

    private mutating func joinTransactions() {
        var first: [String: Int] = [:]
        for (index, unit) in units.enumerated() {
            for operation in unit.operations.map(\.operation) where operation.delivery != .localOnly {
                guard let transaction = operation.transactionID else { continue }
                // A change set of the app may belong to several transactions, which are then combined.
                if let other = first[transaction] { join(index, other) } else { first[transaction] = index }
            }
        }
        for index in units.indices { members[node(of: index), default: []].append(index) }
    }

    private func node(of unit: Int) -> Int {
        var node = nodes[unit]
        while nodes[node] != node { node = nodes[node] }
        return node
    }

    private mutating func join(_ a: Int, _ b: Int) {
        let (a, b) = (node(of: a), node(of: b))
        nodes[max(a, b)] = min(a, b)
    }

    private mutating func findPredecessors() {
        var writers: [EntityID: Int] = [:]
        var readers: [EntityID: Set<Int>] = [:]
        for (index, unit) in units.enumerated() {
            let node = node(of: index)
            var found: Set<Int> = []
            let writes = unit.footprints.reduce(into: EntityIDs()) { $0.formUnion($1.writes.union($1.affected)) }
            let reads = unit.footprints.reduce(into: EntityIDs()) { $0.formUnion($1.reads) }.subtracting(writes)
            for entity in reads {
                if let writer = writers[entity] { found.insert(writer) }
                readers[entity, default: []].insert(node)
            }
            for entity in writes {
                if let writer = writers[entity] { found.insert(writer) }
                found.formUnion(readers[entity] ?? [])
                writers[entity] = node
                readers[entity] = nil
            }
            predecessors[node, default: []].formUnion(found.subtracting([node]))
        }
    }

    // MARK: Components

    /// A node on the path from a root to its dependencies.
    private struct Visit {
        let node: Int
        var rest: ArraySlice<Int>
    }

    private func components() -> [TransactionUnit] {
        var found: [TransactionUnit] = []
        var numbers: [Int: Int] = [:]
        var lowest: [Int: Int] = [:]
        var open: [Int] = []
        var isOpen: Set<Int> = []
        var path: [Visit] = []

        func enter(_ node: Int) {
            numbers[node] = numbers.count
            lowest[node] = numbers[node]
            open.append(node)
            isOpen.insert(node)
            path.append(Visit(node: node, rest: (predecessors[node] ?? []).sorted()[...]))
        }
        func lower(_ node: Int, to number: Int?) {
            lowest[node] = min(lowest[node] ?? .max, number ?? .max)
        }
        for root in units.indices where node(of: root) == root && numbers[root] == nil {
            enter(root)
            while let visit = path.last {
                if let next = path[path.count - 1].rest.popFirst() {
                    if numbers[next] == nil {
                        enter(next)
                    } else if isOpen.contains(next) {
                        lower(visit.node, to: numbers[next])
                    }
                    continue
                }
                path.removeLast()
                if let parent = path.last { lower(parent.node, to: lowest[visit.node]) }
                guard lowest[visit.node] == numbers[visit.node], let begin = open.lastIndex(of: visit.node) else {
                    continue
                }
                let component = open[begin...]
                isOpen.subtract(component)
                found.append(unit(of: component))
                open.removeSubrange(begin...)
            }
        }
        return found
    }

    private func unit(of component: ArraySlice<Int>) -> TransactionUnit {
        component.flatMap { members[$0] ?? [] }.sorted().reduce(into: TransactionUnit()) { $0.append(units[$1]) }
    }
}
