import EDM
import Operations
import SeededRandom
import Testing

@testable import SyncCore

/// The queue, compared with a model that searches all operations for each question.
struct PendingQueueTests {
    /// A queue without indexes.
    private struct Model {
        var operations: [SequenceNumber: PendingOperation] = [:]
        var subjects: [SequenceNumber: [EntityID]] = [:]
        var effects: [SequenceNumber: OperationEffect] = [:]

        func sequences(where condition: (PendingOperation) -> Bool) -> [SequenceNumber] {
            operations.values.filter(condition).map(\.sequence).sorted()
        }

        func pendingState(of id: EntityID) -> PendingState {
            let all = operations.values.filter { subjects[$0.sequence]?.contains(id) == true }
            if all.contains(where: { $0.status.kind == .rejected }) { return .rejected }
            return all.isEmpty ? .clean : .pending
        }

        func accesses(of item: StateItem) -> [SequenceNumber] {
            effects.filter { $0.value.access(to: item) != nil }.map(\.key).sorted()
        }
    }

    private static let entities = (1...6).map { EntityID(rawValue: $0) }
    private static let items = (0..<12).map { StateItem(rawValue: $0) }
    private static let refused = PendingOperation.Status.rejected(
        Refusal(status: 400, code: "", message: "", method: "PATCH", url: ""))

    private func operation(_ sequence: SequenceNumber, _ random: inout SeededRandom) -> PendingOperation {
        let (one, other) = (Self.entities.randomElement(using: &random)!, Self.entities.randomElement(using: &random)!)
        let action: Operation.Action =
            switch Int.random(in: 0..<3, using: &random) {
            case 0: .update(one, changes: ["Name": .string("\(sequence)")], bindings: [])
            case 1: .createLink(Link(from: one, navigation: "Orders", to: other))
            default: .delete(one)
            }
        var operation = Operation(action)
        if Int.random(in: 0..<3, using: &random) == 0 { operation.transactionID = "t\(sequence % 3)" }
        if Int.random(in: 0..<4, using: &random) == 0 { operation.delivery = .draft }
        return PendingOperation(sequence: sequence, time: 1, operation: operation, status: .pending)
    }

    private func effect(_ random: inout SeededRandom) -> OperationEffect {
        var effect = OperationEffect()
        for item in Self.items where Bool.random(using: &random) {
            effect.record(item, Access(rawValue: UInt8.random(in: 1...255, using: &random)))
        }
        return effect
    }

    /// Makes the same random change to the queue and the model.
    private func change(_ queue: PendingQueue, _ model: inout Model, _ random: inout SeededRandom) {
        let sequence = SequenceNumber.random(in: 1...40, using: &random)
        switch Int.random(in: 0..<22, using: &random) {
        case 0..<8:
            let operation = operation(sequence, &random)
            let subjects = Array(Self.entities.shuffled(using: &random).prefix(2))
            queue.put(operation, about: subjects)
            (model.operations[sequence], model.subjects[sequence]) = (operation, subjects)
        case 8..<12:
            let status = Bool.random(using: &random) ? Self.refused : .inFlight(3)
            queue.setStatus(status, since: 7, of: sequence)
            model.operations[sequence]?.status = status
            model.operations[sequence]?.since = 7
        case 12..<15:
            queue.remove(sequence)
            (model.operations[sequence], model.subjects[sequence]) = (nil, nil)
        case 15..<18:
            let effect = effect(&random)
            queue.putEffect(effect, of: sequence)
            model.effects[sequence] = effect
        case 18:
            queue.removeEffect(of: sequence)
            model.effects[sequence] = nil
        case 19:
            guard Int.random(in: 0..<10, using: &random) == 0 else { return }
            queue.removeEffects()
            model.effects = [:]
        default:
            // Other metadata may change the subjects.
            let subjects = Array(Self.entities.shuffled(using: &random).prefix(2))
            queue.setSubjects(subjects, of: sequence)
            if model.operations[sequence] != nil { model.subjects[sequence] = subjects }
        }
    }

    private func compare(_ queue: PendingQueue, _ model: Model, _ comment: Comment) {
        let all = model.sequences { _ in true }
        #expect(queue.operations(from: 0, limit: .max) == all.map { model.operations[$0]! }, comment)
        #expect(
            queue.operations(from: 20, limit: 5).map(\.sequence) == Array(all.filter { $0 >= 20 }.prefix(5)), comment)
        #expect(queue.count == all.count, comment)
        for kind in [.pending, .rejected, .inFlight, .inDoubt] as [PendingOperation.Status.StatusKind] {
            let expected = model.sequences { $0.status.kind == kind }.map { model.operations[$0]! }
            #expect(queue.operations(kind) == expected, comment)
        }
        #expect(queue.heldBack == model.sequences { $0.operation.delivery != .queued }.count, comment)
        #expect(queue.hasRejected == Self.entities.contains { model.pendingState(of: $0) == .rejected }, comment)
        for id in Self.entities {
            #expect(
                queue.naming(id) == model.sequences { $0.operation.touchedEntities.contains(id) }, comment)
            let changing = model.sequences {
                $0.operation.touchedEntities.contains(id) && $0.operation.changes(id)
            }
            #expect(queue.changing(id) == changing, comment)
            #expect(queue.hasChange(of: id) == !changing.isEmpty, comment)
            #expect(queue.pendingState(of: id) == model.pendingState(of: id), comment)
        }
        for name in ["t0", "t1", "t2"] {
            #expect(
                queue.last(inTransaction: name) == model.sequences { $0.operation.transactionID == name }.last, comment)
        }
        #expect(queue.effects.count == model.effects.count, comment)
        for sequence: SequenceNumber in 1...40 { #expect(queue.effects[sequence] == model.effects[sequence], comment) }
        for item in Self.items {
            var found: [(operation: SequenceNumber, access: Access)] = []
            queue.effects.forEachAccess(to: item, disturbedBy: Access(rawValue: .max)) { found.append(($0, $1)) }
            #expect(found.map(\.operation).sorted() == model.accesses(of: item), comment)
            // A read of members is disturbed only by writes of members.
            var writers: [SequenceNumber] = []
            queue.effects.forEachAccess(to: item, disturbedBy: .readsMembers) { writer, _ in writers.append(writer) }
            #expect(writers == found.filter { $0.access.contains(.writesMembers) }.map(\.operation), comment)
            #expect(found.allSatisfy { model.effects[$0.operation]?.access(to: item) == $0.access }, comment)
        }
    }

    @Test(arguments: UInt64(1)...40)
    func `the queue returns the same results as a search of all operations, also after a rollback`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        // Some of the queues keep all operations decoded, some none.
        let queue = PendingQueue(decodedLimit: Int(seed % 4) * 10)
        var model = Model()
        for step in 0..<40 {
            let before = model
            queue.begin()
            for _ in 0..<Int.random(in: 1...30, using: &random) { change(queue, &model, &random) }
            if Bool.random(using: &random) {
                queue.rollBack()
                model = before
            } else {
                queue.commit()
            }
            compare(queue, model, "seed \(seed), step \(step)")
        }
    }
}

extension PendingQueueTests {
    @Test(arguments: UInt64(1)...20)
    func `a copy of a queue in a transaction is rolled back independently`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let queue = PendingQueue()
        var model = Model()
        func change() { for _ in 0..<40 { self.change(queue, &model, &random) } }
        change()
        let before = model
        queue.begin()
        change()
        queue.removeEffects()
        model.effects = [:]
        change()
        let copy = queue.copy()
        queue.rollBack()
        model = before
        change()
        copy.rollBack()
        compare(copy, before, "seed \(seed)")
        compare(queue, model, "seed \(seed)")
    }

    @Test func `a rollback restores operations up to the highest sequence number`() {
        let queue = PendingQueue()
        let operation = Operation(.delete(EntityID(rawValue: 1)))
        func put(_ sequence: SequenceNumber) {
            queue.put(
                PendingOperation(sequence: sequence, time: 0, operation: operation, status: .pending), about: [])
        }
        put(.max)
        queue.begin()
        put(7)
        queue.remove(.max)
        queue.rollBack()
        #expect(queue.operations(from: 0, limit: .max).map(\.sequence) == [.max])
    }
}
