import EDM
public import OfflineStore
import OperationLog
import Operations
import Synchronization
import SyncCore

extension InspectedStore {
    /// Computes a what-if history on an in-memory copy of the store.
    ///
    /// The records after the first change are replayed. Operations are checked by the same rules as the app's calls; a
    /// refused one is left out, and so are its effects in later records. The service's data are taken over, except for
    /// entities that were never created, and for outcomes of change sets that would not have been sent, or with
    /// other operations. The service's response to these is unknown unless the alteration defines it.
    ///
    /// Cost: opening the historical state before the first change, and a transaction for each record after it.
    /// - Parameter end: The last record of both histories.
    /// - Throws: `notFound` if the log does not contain a record that the alteration names, or `refused` if an inserted
    ///   operation violates a rule.
    public func altered(_ alteration: WhatIfChanges, through end: PointInTime) async throws(TidelogError)
        -> WhatIfReport
    {
        try await salvaging { store throws(TidelogError) in
            try await WhatIfComputation(store: store).report(of: alteration, through: end)
        }
    }

    func past(at point: PointInTime, environment: SyncEnvironment) async throws(TidelogError) -> HistoricalStore {
        var store = self
        store.options.environment = environment
        return try await store.past(at: point)
    }
}

/// A clock that returns the time of the replayed record.
final class ReplayClock: Sendable {
    private let time = Mutex<Timestamp>(0)

    func set(_ time: Timestamp) { self.time.withLock { $0 = time } }

    var environment: SyncEnvironment { SyncEnvironment(now: { self.time.withLock { $0 } }) }
}

/// The altered history during its computation.
struct WhatIfRun {
    private let alteration: WhatIfChanges
    private let base: SequenceNumber
    private let last: SequenceNumber
    private let clock: ReplayClock
    /// The new sequence numbers of moved operations, by those in the log.
    private var moved: [SequenceNumber: SequenceNumber] = [:]
    private var gone: Set<SequenceNumber> = []
    private var absent: Set<EntityID> = []
    private(set) var inserted: [SequenceNumber] = []
    private(set) var batches = WhatIfBatches()
    /// The operations in ``WhatIfChanges/answers`` to which the log contains a response.
    private(set) var answeredOperations: Set<SequenceNumber> = []
    private(set) var withoutPlace: [DroppedRecord] = []
    private(set) var countWithoutPlace = 0

    init(_ alteration: WhatIfChanges, base: SequenceNumber, last: SequenceNumber, _ clock: ReplayClock) {
        self.alteration = alteration
        self.base = base
        self.last = last
        self.clock = clock
        for (place, source) in zip(alteration.order.sorted(), alteration.order) { moved[source] = place }
    }

    /// A record that replaces a missing one, so that later records keep their numbers. The fold skips it.
    private static let placeholder = Record(time: 0, body: .unknown(kind: 255, payload: []))

    mutating func go(_ store: LocalStore, _ reader: RecordReader) async throws(TidelogError) {
        var place = base
        if place == alteration.insertionPlace { try await insert(store) }
        while place < last {
            let group = try nextGroup(after: place, reader)
            try await append(group, store)
            place += UInt64(group.count)
            if place >= alteration.insertionPlace, inserted.isEmpty, !alteration.insertions.isEmpty {
                try await insert(store)
            }
        }
    }

    private mutating func insert(_ store: LocalStore) async throws(TidelogError) {
        guard !alteration.insertions.isEmpty else { return }
        for result in try await store.perform(alteration.insertions, asChangeSet: false) {
            if let sequence = result.sequence { inserted.append(sequence) }
        }
    }

    private typealias Source = (sequence: SequenceNumber, record: Record)

    /// Returns the record after the position, with all records of its change set.
    private func nextGroup(after place: SequenceNumber, _ reader: RecordReader) throws(TidelogError) -> [Source] {
        let first = try record(at: place + 1, reader)
        guard case .operation(let operation) = first.record.body, let changeSet = operation.changeSet else {
            return [first]
        }
        var group = [first]
        var next = place + 2
        while next <= last {
            let member = try record(at: next, reader)
            guard case .operation(let other) = member.record.body, other.changeSet == changeSet else { break }
            group.append(member)
            next += 1
        }
        return group
    }

    private func record(at place: SequenceNumber, _ reader: RecordReader) throws(TidelogError) -> Source {
        let source = alteration.source(at: place)
        return (source, try reader.record(source))
    }

    /// Returns the number of an operation in the altered history.
    private func number(_ sequence: SequenceNumber) -> SequenceNumber? {
        if gone.contains(sequence) { return nil }
        if let place = moved[sequence] { return shifted(place) }
        return shifted(sequence)
    }

    private func shifted(_ place: SequenceNumber) -> SequenceNumber {
        place > alteration.insertionPlace ? place + UInt64(inserted.count) : place
    }

    private mutating func append(_ group: [Source], _ store: LocalStore) async throws(TidelogError) {
        for source in group {
            if alteration.skipped.contains(source.sequence) { leaveOut(source) }
            batches.add(source.record.body)
            guard case .batchAnswered(let answered) = source.record.body else { continue }
            for outcome in answered.outcomes where alteration.answers[outcome.operation] != nil {
                answeredOperations.insert(outcome.operation)
            }
        }
        let kept = group.filter { !alteration.skipped.contains($0.sequence) }
        var records: [Record] = []
        for source in group {
            var record = Self.placeholder
            if !alteration.skipped.contains(source.sequence) {
                clock.set(source.record.time)
                let body = try await dropping(source, store)
                if let revised = try await revised(body, firstOfGroup: kept.first?.sequence, store) {
                    record = Record(time: source.record.time, body: revised)
                    batches.addRebuilt(revised)
                } else if body == source.record.body {
                    recordDropped(source.sequence, .pointless)
                }
            }
            records.append(record)
        }
        do throws(TidelogError) {
            try await store.history.replay(records)
        } catch {
            guard case .refused = error.code else { throw error }
            for source in kept {
                recordDropped(source.sequence, .refused(error.message))
                leaveOut(source)
            }
            try await store.history.replay(group.map { _ in Self.placeholder })
        }
    }

    private mutating func leaveOut(_ source: Source) {
        gone.insert(source.sequence)
        if case .operation(let operation) = source.record.body { absent.formUnion(operation.createdEntities) }
    }

    private mutating func recordDropped(_ sequence: SequenceNumber, _ reason: DroppedRecord.Reason) {
        countWithoutPlace += 1
        if withoutPlace.count < WhatIfReport.listLimit {
            withoutPlace.append(DroppedRecord(sequence: sequence, reason: reason))
        }
    }

    /// Returns the operations with different outcomes, among those that are pending in one of the histories.
    func standings(_ real: [PendingOperation], _ altered: [PendingOperation]) -> [OutcomeChange] {
        let before = Dictionary(real.map { ($0.sequence, $0.status) }, uniquingKeysWith: { first, _ in first })
        var after: [SequenceNumber: PendingOperation.Status] = [:]
        for operation in altered {
            if let original = original(operation.sequence) { after[original] = operation.status }
        }
        var found: [OutcomeChange] = []
        for sequence in Set(before.keys).union(after.keys).sorted() where !gone.contains(sequence) {
            let (old, new) = (before[sequence].map(OperationOutcome.init), after[sequence].map(OperationOutcome.init))
            guard old?.name != new?.name, found.count < WhatIfReport.listLimit else { continue }
            var refusal: String?
            switch new {
            case .rejected(_, let words), .deferred(let words): refusal = "\(words.status) \(words.message)"
            default: break
            }
            found.append(
                OutcomeChange(
                    sequence: sequence, real: old?.name ?? "done", altered: new?.name ?? "done", refusal: refusal))
        }
        return found
    }

    /// Returns the number in the log of an operation of the altered history, or nil for an inserted one.
    private func original(_ sequence: SequenceNumber) -> SequenceNumber? {
        if inserted.contains(sequence) { return nil }
        var place = sequence
        if let last = inserted.last, sequence > last { place -= UInt64(inserted.count) }
        return alteration.source(at: place)
    }

    // MARK: Revision

    /// Returns the record without the outcomes of requests that would have been different.
    private mutating func dropping(_ source: Source, _ store: LocalStore) async throws(TidelogError) -> Record.Body {
        guard case .batchAnswered(var answered) = source.record.body else { return source.record.body }
        let open = try await pending(among: answered.outcomes.map(\.operation).compactMap(number), store)
        let dropped = answered.outcomes.map(\.operation).filter { operation in
            // Missing operations are left out anyway.
            guard let place = number(operation), open.contains(place) else { return false }
            if alteration.answers[operation] != nil { return !batches.carries(place, in: answered.batch) }
            return !batches.carriesSame(operation, in: answered.batch, number)
        }
        guard !dropped.isEmpty else { return source.record.body }
        batches.drop(dropped, in: source.sequence)
        answered.outcomes.removeAll { dropped.contains($0.operation) }
        return .batchAnswered(answered)
    }

    private func revised(
        _ body: Record.Body, firstOfGroup: SequenceNumber?, _ store: LocalStore
    ) async throws(TidelogError) -> Record.Body? {
        let facts = try await facts(on: body, store)
        let first = firstOfGroup.flatMap(number)
        let revision = RecordRevision(
            number: number, firstOfChangeSet: { first ?? $0 }, absent: absent,
            awaitsAnswer: { facts.pending.contains($0) },
            isSendable: { facts.pending.contains($0) && !facts.held.contains($0) })
        do {
            guard let revised = try revision.revised(body) else { return nil }
            return try await answered(revised, store)
        } catch {
            throw LogFailure.mapped(error)
        }
    }

    /// Returns the status of the operations that the record sends or answers.
    private func facts(
        on body: Record.Body, _ store: LocalStore
    ) async throws(TidelogError) -> (pending: Set<SequenceNumber>, held: Set<SequenceNumber>) {
        let operations: [SequenceNumber]
        var held: Set<SequenceNumber> = []
        switch body {
        case .batchPrepared(let prepared):
            operations = prepared.operations
            let plan = try await store.uploads.plan()
            held = Set(plan.held.filter { if case .waitsFor = $0.value { true } else { false } }.keys)
            // Operations in the same batch as their dependencies can be sent.
            held.subtract(plan.changeSets.flatMap(\.operations))
        case .batchAnswered(let answered): operations = answered.outcomes.map(\.operation)
        default: return ([], [])
        }
        // An undone operation is not sent, unless a lost record may have redone it.
        let isSent = if case .batchPrepared = body { !batches.followLostRecords } else { false }
        return (try await pending(among: operations.compactMap(number), store, orUndone: !isSent), held)
    }

    private func pending(
        among operations: [SequenceNumber], _ store: LocalStore, orUndone: Bool = true
    ) async throws(TidelogError) -> Set<SequenceNumber> {
        var found: Set<SequenceNumber> = []
        for operation in operations {
            if try await store.history.isPending(operation) {
                found.insert(operation)
            } else if orUndone, try await store.history.isUndone(operation) {
                found.insert(operation)
            }
        }
        return found
    }

    /// Returns the record with the replaced outcomes.
    private func answered(_ body: Record.Body, _ store: LocalStore) async throws(TidelogError) -> Record.Body {
        guard !alteration.answers.isEmpty, case .batchAnswered(var answered) = body else { return body }
        for (original, response) in alteration.answers.sorted(by: { $0.key < $1.key }) {
            guard let operation = number(original), answered.outcomes.contains(where: { $0.operation == operation })
            else { continue }
            let outcomes = try await store.history.outcomes(of: operation, in: answered.batch, answered: response)
            let reported = Set(outcomes.map(\.operation))
            answered.outcomes = answered.outcomes.filter { !reported.contains($0.operation) } + outcomes
        }
        return .batchAnswered(answered)
    }
}

extension LogFailure {
    static func missing(_ sequence: SequenceNumber) -> TidelogError {
        TidelogError(
            .notFound, "The log does not have operation \(sequence).",
            recovery: "Run 'tidelog log' to list all operations.")
    }
}
