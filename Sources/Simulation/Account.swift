import EDM
import Operations

/// What one device has done and how it ended, by its own account.
struct Account {
    /// How an operation stands, as far as its effect goes.
    enum Standing {
        /// It has had its effect.
        case done
        /// It has had none.
        case without
        case unknown
    }

    let device: Int
    let acknowledged: Set<String>
    let history: History
    /// Those that are not done.
    let endings: [SequenceNumber: Standing]

    func standing(of operation: SequenceNumber) -> Standing { endings[operation] ?? .done }

    /// In the order in which they were made.
    var operations: [(sequence: SequenceNumber, operation: Operation)] {
        history.operations.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    func mark(_ entity: EntityID) -> String { history.marks[entity] ?? "entity \(entity) of d\(device)" }

    // MARK: What it wrote

    /// What a device says that something has become: by those of its writes that are through, the last; and by each of which
    /// that, or its place among them, is not known.
    struct Claim<Value: Hashable> {
        private(set) var last: Value?
        private(set) var perhaps: Set<Value> = []

        mutating func add(_ value: Value, _ standing: Standing, isMoved: Bool) {
            switch standing {
            case .without: break
            case .unknown: perhaps.insert(value)
            case .done:
                if isMoved { perhaps.insert(value) }
                last = value
            }
        }
    }

    private func claims<Value>(
        _ writes: (Operation) -> [(place: String, value: Value)]
    ) -> [String: Claim<Value>] {
        var claims: [String: Claim<Value>] = [:]
        for (sequence, operation) in operations {
            for (place, value) in writes(operation) {
                claims[place, default: Claim()].add(
                    value, standing(of: sequence), isMoved: history.redone.contains(sequence))
            }
        }
        return claims
    }

    /// By `mark property`.
    var values: [String: Claim<String>] {
        claims { operation in
            switch operation.action {
            case .create(let creation, _): creation.all.flatMap { texts($0.values, of: $0.entity) }
            case .update(let entity, let changes, _): texts(changes, of: entity)
            default: []
            }
        }
    }

    private func texts(_ values: PropertyValues, of entity: EntityID) -> [(place: String, value: String)] {
        Ledger.texts.compactMap { name in
            values[name]?.stringValue.map { ("\(mark(entity)) \(name)", $0) }
        }
    }

    /// By `customer Labels label`: whether they are linked.
    var labels: [String: Claim<Bool>] {
        claims { operation in
            switch operation.action {
            case .create(let creation, _):
                creation.bindings.filter { $0.navigation == "Labels" }.flatMap(\.targets).map {
                    ("\(mark(creation.entity)) Labels \(mark($0))", true)
                }
            case .createLink(let link): [("\(mark(link.from)) \(link.navigation) \(mark(link.to))", true)]
            case .deleteLink(let link) where link.navigation == "Labels":
                [("\(mark(link.from)) \(link.navigation) \(mark(link.to))", false)]
            default: []
            }
        }
    }

    /// By order: the customer; none where it was taken away.
    var customers: [String: Claim<String>] {
        claims { operation in
            switch operation.action {
            case .create(let creation, _):
                creation.all.flatMap { order in
                    order.bindings.filter { $0.navigation == "Customer" }.flatMap(\.targets).map {
                        (mark(order.entity), mark($0))
                    }
                }
            case .updateLink(let link): [(mark(link.from), mark(link.to))]
            case .deleteLink(let link) where link.navigation == "Customer": [(mark(link.from), "")]
            default: []
            }
        }
    }

    /// The marks of what it made, or deleted, with how that stands.
    var creations: [(mark: String, standing: Standing)] {
        operations.flatMap { sequence, operation in
            guard case .create(let creation, _) = operation.action else { return [(String, Standing)]() }
            return creation.all.map { (mark($0.entity), standing(of: sequence)) }
        }
    }

    var deletions: [(mark: String, standing: Standing)] {
        operations.compactMap { sequence, operation in
            if case .delete(let entity) = operation.action { (mark(entity), standing(of: sequence)) } else { nil }
        }
    }
}

extension Creation {
    /// Itself and those below it.
    var all: [Creation] { [self] + inline.flatMap { $0.entities.flatMap(\.all) } }
}
