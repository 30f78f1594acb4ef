import EDM
import Operations

/// The history of one device according to its own log: its operations and their outcomes.
struct DeviceHistory {
    /// The outcome of an operation with regard to its effect.
    enum Outcome {
        /// The operation took effect.
        case done
        /// The operation had no effect.
        case without
        case unknown
    }

    let device: Int
    let acknowledged: Set<String>
    let history: History
    /// The outcomes of operations that are not done.
    let endings: [SequenceNumber: Outcome]

    func standing(of operation: SequenceNumber) -> Outcome { endings[operation] ?? .done }

    /// The operations in the order of their creation.
    var operations: [(sequence: SequenceNumber, operation: Operation)] {
        history.operations.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    func mark(_ entity: EntityID) -> String { history.marks[entity] ?? "entity \(entity) of d\(device)" }

    // MARK: Writes

    /// The expected values of a property or link: the last confirmed write, and every write with an unknown outcome or
    /// order.
    struct ExpectedValues<Value: Hashable> {
        private(set) var last: Value?
        private(set) var perhaps: Set<Value> = []

        mutating func add(_ value: Value, _ standing: Outcome, isMoved: Bool) {
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
    ) -> [String: ExpectedValues<Value>] {
        var claims: [String: ExpectedValues<Value>] = [:]
        for (sequence, operation) in operations {
            for (place, value) in writes(operation) {
                claims[place, default: ExpectedValues()].add(
                    value, standing(of: sequence), isMoved: history.redone.contains(sequence))
            }
        }
        return claims
    }

    /// The expected values by `mark property`. Null is an empty string.
    var values: [String: ExpectedValues<String>] {
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
            guard let value = values[name], let text = value.isNull ? "" : value.stringValue else { return nil }
            return ("\(mark(entity)) \(name)", text)
        }
    }

    /// Whether entities are linked, by `customer Labels label`.
    var labels: [String: ExpectedValues<Bool>] {
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

    /// The expected customer of each order, or an empty string if the link was removed.
    var customers: [String: ExpectedValues<String>] {
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

    /// The marks of created entities, and below of deleted ones, with the outcome of the operation.
    var creations: [(mark: String, standing: Outcome)] {
        operations.flatMap { sequence, operation in
            guard case .create(let creation, _) = operation.action else { return [(String, Outcome)]() }
            return creation.all.map { (mark($0.entity), standing(of: sequence)) }
        }
    }

    var deletions: [(mark: String, standing: Outcome)] {
        operations.compactMap { sequence, operation in
            if case .delete(let entity) = operation.action { (mark(entity), standing(of: sequence)) } else { nil }
        }
    }
}

extension DeviceHistory {
    /// Returns whether an earlier call changed the entity. Its response has no ETag, so the device cannot know whether
    /// another client was faster than its next read.
    func followsCall(_ operation: SequenceNumber, _ entity: EntityID) -> Bool {
        history.operations.contains {
            $0.key < operation && $0.value.call != nil && $0.value.referencedEntities.contains(entity)
        }
    }

    /// Returns whether a call was sent with `If-Match: *`, because an earlier request of its change set may have changed
    /// the entity's ETag, and was not an update that was sent with the ETag.
    func isUnguarded(_ call: SequenceNumber, _ entity: EntityID) -> Bool {
        guard history.operations[call]?.call != nil, let place = history.sentWith[call] else { return false }
        let earlier = history.sentWith.filter { $0.key < call && $0.value == place }.compactMap {
            history.operations[$0.key]
        }
        func isUpdate(_ operation: Operation) -> Bool {
            if case .update(entity, _, _) = operation.action { operation.call == nil } else { false }
        }
        return earlier.contains { $0.referencedEntities.contains(entity) } && !earlier.contains(where: isUpdate)
    }
}

extension Creation {
    /// The creation and all creations nested in it.
    var all: [Creation] { [self] + inline.flatMap { $0.entities.flatMap(\.all) } }
}

extension Operation {
    /// The marks and values that the operation gives to entities.
    var texts: [String] {
        let values: [PropertyValues] =
            switch action {
            case .create(let creation, _): creation.all.map(\.values)
            case .update(_, let changes, _): [changes]
            default: []
            }
        return values.flatMap { FieldService.texts($0).values.sorted() } + (calledMark.map { [$0] } ?? [])
    }

    /// The mark of the label that the call creates at the service; nil if the operation is not a call.
    var calledMark: String? {
        for argument in call?.arguments ?? [] where argument.name == "mark" {
            if case .value(let value) = argument.content { return value.stringValue }
        }
        return nil
    }
}
