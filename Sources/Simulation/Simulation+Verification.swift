import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import SyncEngine

/// What must hold when all is over.
extension Simulation {
    func verify() async {
        for (mark, count) in service.ledger.created.sorted(by: { $0.key < $1.key }) where count > 1 {
            violated("\(mark) was created \(count) times.")
        }
        for device in devices {
            do {
                try await verifyFold(device)
                try await verifyEffects(device)
                try await verifyAgreement(device)
            } catch {
                violated("d\(device.number) cannot be looked at: \(error)")
            }
        }
    }

    /// The views say what the log says: folded by another storage, or, where a compaction has removed its beginning, opened
    /// once more.
    private func verifyFold(_ device: Device) async throws {
        let found = try await device.store.digest()
        let records = try device.records()
        if records.first?.sequence == 1 {
            var fold = try Fold(storage: MemoryState())
            for (sequence, record) in records { try fold.apply(record, sequence: sequence) }
            try fold.settle()
            let expected = try StateDigest(of: fold.storage).description
            if found != expected { violated("d\(device.number): the views are not the fold of the log.") }
        } else {
            await reopen(device)
            let expected = try await device.store.digest()
            if found != expected { violated("d\(device.number) says something else after it was opened again.") }
        }
    }

    // MARK: Exactly one effect

    /// How an operation stands, as far as its effect goes.
    private enum Standing {
        /// It has had its effect.
        case done
        /// It has had none.
        case without
        case unknown
    }

    private func verifyEffects(_ device: Device) async throws {
        let operations = try device.operations()
        let tags = Set(operations.values.compactMap(\.customTag))
        let lost = device.acknowledged.subtracting(tags).sorted()
        if !lost.isEmpty { violated("d\(device.number) lost what it had acknowledged: \(lost)") }

        device.contested.formUnion(try device.decided())
        var standings: [SequenceNumber: Standing] = [:]
        let overwritten = try Self.perhapsOverwritten(device.records())
        for pending in try await device.store.pendingOperations() {
            switch pending.status {
            case .inDoubt, .inFlight: standings[pending.sequence] = .unknown
            default: standings[pending.sequence] = overwritten.contains(pending.sequence) ? .unknown : .without
            }
        }
        for undone in try await device.store.undoneOperations() { standings[undone.sequence] = .without }
        for elided in try device.elided() { standings[elided] = .without }
        // A change set is seen as a whole: what a later operation of it changed again was never seen.
        var covered: Set<String> = []
        for (sequence, operation) in operations.sorted(by: { $0.key > $1.key }) {
            verify(operation, sequence, standings[sequence] ?? .done, device, &covered)
        }
    }

    /// Updates that were in doubt and have had no answer since, but that others were faster: of one whose value others have replaced nobody can say
    /// whether it had been there.
    private static func perhapsOverwritten(
        _ records: [(sequence: SequenceNumber, record: Record)]
    ) -> Set<SequenceNumber> {
        var unanswered: Set<SequenceNumber> = []
        var updates: Set<SequenceNumber> = []
        for (sequence, record) in records {
            switch record.body {
            case .operation(let operation): if case .update = operation.action { updates.insert(sequence) }
            case .batchPrepared(let prepared): unanswered.formUnion(prepared.operations)
            case .batchAnswered(let answered):
                for outcome in answered.outcomes {
                    switch outcome.result {
                    case .inDoubt: break
                    case .rejected(let refusal) where refusal.status == 412: break
                    default: unanswered.remove(outcome.operation)
                    }
                }
            default: break
            }
        }
        return unanswered.intersection(updates)
    }

    /// - Parameter covered: entities, and properties of entities, that later operations write to.
    private func verify(
        _ operation: Operation, _ sequence: SequenceNumber, _ standing: Standing, _ device: Device,
        _ covered: inout Set<String>
    ) {
        let ledger = service.ledger
        let effects: [(name: String, count: Int)] =
            switch operation.action {
            case .create(let creation, _): creation.marks.map { ($0, ledger.created[$0] ?? 0) }
            case .update(let id, let changes, _):
                changes.filter { !covered.contains("\(id)") && !covered.contains("\(id) \($0.name)") }
                    .compactMap { $0.value.stringValue }.map { ($0, ledger.written[$0] ?? 0) }
            default: []
            }
        switch operation.action {
        case .update(let id, let changes, _): covered.formUnion(changes.map { "\(id) \($0.name)" })
        case .delete(let id): covered.insert("\(id)")
        default: break
        }
        let isContested = device.contested.contains(sequence)
        for (name, count) in effects {
            switch standing {
            case .done where isContested && count > 1: break
            case .without where isContested: break
            case .unknown where count > 1:
                violated("d\(device.number): operation \(sequence) (\(name)) had \(count) effects.")
            case .done where count != 1:
                violated("d\(device.number): operation \(sequence) (\(name)) is through and had \(count) effects.")
            case .without where count != 0:
                violated("d\(device.number): operation \(sequence) (\(name)) is not through and had \(count) effects.")
            default: break
            }
        }
    }

    // MARK: Agreement

    /// Both sides say the same, entity by entity and link by link.
    private func verifyAgreement(_ device: Device) async throws {
        guard try await device.store.pendingOperations().isEmpty else { return }
        let local = Set(try await localLines(device))
        let remote = Set(serviceLines())
        for line in remote.subtracting(local).sorted() { violated("d\(device.number) does not have: \(line)") }
        for line in local.subtracting(remote).sorted() { violated("Only d\(device.number) has: \(line)") }
    }

    private func localLines(_ device: Device) async throws -> [String] {
        var lines: [String] = []
        for set in FieldService.sets {
            let navigations = FieldService.navigations(of: set)
            let expansion = navigations.isEmpty ? "" : "?$expand=" + navigations.joined(separator: ",")
            for entity in try await device.store.query(set + expansion).entities {
                let links = entity.expanded.flatMap { level in
                    level.entities.map { "\(level.navigation)→\($0.values["Mark"]?.stringValue ?? "")" }
                }
                lines.append(Self.line(set, entity.values, links))
            }
        }
        return lines
    }

    private func serviceLines() -> [String] {
        let sandbox = service.sandbox
        var marks: [Int: String] = [:]
        for content in FieldService.sets.flatMap({ sandbox.contents(of: $0) }) {
            marks[content.number] = content.values["Mark"]?.stringValue
        }
        return FieldService.sets.flatMap { set in
            sandbox.contents(of: set).map { content in
                let links = FieldService.navigations(of: set).flatMap { navigation in
                    sandbox.targets(of: content, navigation).map { "\(navigation)→\(marks[$0] ?? "")" }
                }
                return Self.line(set, content.values, links)
            }
        }
    }

    private static func line(_ set: String, _ values: PropertyValues, _ links: [String]) -> String {
        let properties = values.filter { $0.value != .null }.map { "\($0.name)=\($0.value)" }.sorted()
        return ([set] + properties + links.sorted()).joined(separator: " ")
    }
}

extension Creation {
    /// Of the entity and of those below it.
    fileprivate var marks: [String] {
        (values["Mark"]?.stringValue.map { [$0] } ?? []) + inline.flatMap { $0.entities.flatMap(\.marks) }
    }
}
