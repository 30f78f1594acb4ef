import Operations

/// Operations that travel together, with what each reads and writes.
struct PlannedUnit {
    var operations: [PendingOperation] = []
    var footprints: [OperationFootprint] = []
    /// Further operations that those above carry out as well, by the operation that does; see ``Coalescing``.
    var carried: [SequenceNumber: [SequenceNumber]] = [:]

    mutating func append(_ other: PlannedUnit) {
        operations += other.operations
        footprints += other.footprints
        carried.merge(other.carried) { $0 + $1 }
    }

    /// All that the unit stands for.
    var sequences: [SequenceNumber] { operations.map(\.sequence) + carried.values.flatMap { $0 } }
}

/// Puts the units of a transaction together, wherever they stand in the queue.
///
/// Units depend on those before them that they may not change places with. When the units of a transaction become one, some
/// of those between them may depend on it and be needed by it: such a circle can only go as one as well. So a transaction is
/// a strongly connected component of the dependencies, and these come out in an order in which nothing stands before what
/// it depends on (Tarjan).
struct TransactionUnits {
    private let units: [PlannedUnit]
    /// The node of each unit, named by its first one: a transaction is one node, any other unit is one by itself.
    private var nodes: [Int]
    private var members: [Int: [Int]] = [:]
    /// The nodes that each node depends on.
    private var predecessors: [Int: Set<Int>] = [:]

    /// The units in an order that keeps every dependency; as they are where no operation has a transactionID.
    ///
    /// Cost: linear in the queue.
    static func arranged(_ units: [PlannedUnit]) -> [PlannedUnit] {
        guard units.contains(where: { $0.operations.contains { $0.operation.transactionID != nil } }) else {
            return units
        }
        return TransactionUnits(units).components()
    }

    private init(_ units: [PlannedUnit]) {
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
                // A change set of the app may belong to several transactions, and then these are one.
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

    /// A node on the way from a root to what it depends on.
    private struct Visit {
        let node: Int
        var rest: ArraySlice<Int>
    }

    private func components() -> [PlannedUnit] {
        var found: [PlannedUnit] = []
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

    private func unit(of component: ArraySlice<Int>) -> PlannedUnit {
        component.flatMap { members[$0] ?? [] }.sorted().reduce(into: PlannedUnit()) { $0.append(units[$1]) }
    }
}
