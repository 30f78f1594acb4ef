import EDM
import OperationLog
public import Operations
public import SyncEngine
import Synchronization

/// What a minimisation came to.
public struct MinimiseReport: Sendable {
    /// How many records the log has, and how many the small one.
    public internal(set) var recordsBefore = 0
    public internal(set) var recordsAfter = 0
    public internal(set) var operationsAfter = 0
    /// How many logs were tried.
    public internal(set) var trials = 0
    /// The records of the log that are in the small one, in order.
    public internal(set) var kept: [SequenceNumber] = []
}

/// How far a minimisation has come.
public struct MinimiseProgress: Sendable, Hashable {
    public let trials: Int
    /// Records that are still thought to be needed; then entities, then properties.
    public let left: Int
    public let of: Phase

    public enum Phase: String, Sendable, Hashable { case records, entities, properties }
}

/// What makes a log one that fails.
public enum FailureTest {
    /// The condition holds at its end.
    case condition(StateCondition)
    /// Somebody says so of a store in a directory of its own, which he may remove. The first directory exists, and is empty.
    case judge(scratch: String, (String) throws(TidelogError) -> Bisection.Verdict)
}

extension InspectedStore {
    /// Makes a store of its own of as few of this one's records as still fail, and of as few entities and properties.
    ///
    /// Operations are checked by the rules that the app's calls are, so what needs a record that is left out goes with it. The
    /// records are numbered anew; entities keep their IDs. Deterministic. Cost: a log is made for each trial, of which there are
    /// about n log n at worst for n records that have to stay; entities and properties are only looked at where at most
    /// 20,000 records stay.
    /// - Parameters:
    ///   - output: the new store's directory, which does not exist.
    /// - Throws: `invalidRequest` where the log does not fail as it is.
    public func minimised(
        _ test: FailureTest, to output: String, progress: (MinimiseProgress) -> Void = { _ in }
    ) async throws(TidelogError) -> MinimiseReport {
        try await salvaging { store throws(TidelogError) in try await store.reduced(test, to: output, progress) }
    }

    private func reduced(
        _ test: FailureTest, to output: String, _ progress: (MinimiseProgress) -> Void
    ) async throws(TidelogError) -> MinimiseReport {
        let reader = try openReader()
        let trials = ReductionTrials(self, reader, test)
        let first: SequenceNumber
        do throws(LogError) { first = try reader.firstSequence() } catch { throw TidelogError(error) }
        guard first == 1 else {
            throw TidelogError(
                .unsupported, "The log was compacted, so that it cannot be made again from its records.",
                place: files.log, recovery: "Bisect and watch work on it.")
        }
        var last = try sequence(of: .sequence(.max), reader)
        var report = MinimiseReport()
        report.recordsBefore = Int(clamping: last)
        if case .condition(let condition) = test, last > 0 {
            let found = try await bisect(good: .sequence(0), bad: .sequence(last), when: condition)
            if case .found(let sequence) = found.outcome { last = sequence }
        }
        var history = ReducedHistory(records: last > 0 ? Array(1...last) : [])
        guard try await trials.fails(history) else {
            throw TidelogError(
                .invalidRequest, "The log does not fail as it is, so that there is nothing to make smaller.",
                recovery: "Give a condition that holds at its end.")
        }
        try await trials.minimise(&history, progress)
        let written = try await trials.write(history, to: output)
        try description(to: output)
        report.recordsAfter = written.kept.count
        report.operationsAfter = written.operations
        report.kept = written.kept
        report.trials = trials.count
        return report
    }

    /// Without it commands do not take the directory for a store.
    fileprivate func description(to output: String) throws(TidelogError) {
        do throws(FileSystemError) {
            try StoreCopy(directory: output).takeDescription(of: self)
        } catch {
            throw TidelogError(.storage, "\(error)", place: output, cause: error)
        }
    }
}

/// Makes logs of parts of a log, and tries them. For one task.
private final class ReductionTrials {
    private let store: InspectedStore
    private let reader: LogReader
    private let test: FailureTest
    private let clock = ReplayClock()
    private(set) var count = 0

    private static let partsLimit = 20_000

    init(_ store: InspectedStore, _ reader: LogReader, _ test: FailureTest) {
        self.store = store
        self.reader = reader
        self.test = test
    }

    @inline(never)
    @_optimize(none)
    func minimise(
        _ history: inout ReducedHistory, _ progress: (MinimiseProgress) -> Void
    ) async throws(TidelogError) {
        var search = DeltaDebugging(try groups(history.records))
        while let groups = search.next() {
            progress(MinimiseProgress(trials: count, left: search.kept.count, of: .records))
            search.note(fails: try await fails(ReducedHistory(records: groups.flatMap { $0 })))
        }
        history.records = search.kept.flatMap { $0 }
        // What was refused in the last trial is not in the result either.
        history.records = try await write(history, to: nil).kept
        guard history.records.count <= Self.partsLimit else { return }
        try await minimise(&history, .entities, progress)
        try await minimise(&history, .properties, progress)
    }

    @inline(never)
    @_optimize(none)
    private func minimise(
        _ history: inout ReducedHistory, _ phase: MinimiseProgress.Phase, _ progress: (MinimiseProgress) -> Void
    ) async throws(TidelogError) {
        let parts = try parts(history, phase)
        var search = DeltaDebugging(parts)
        while let kept = search.next() {
            progress(MinimiseProgress(trials: count, left: search.kept.count, of: phase))
            var trial = history
            trial.without.formUnion(Set(parts).subtracting(kept))
            search.note(fails: try await fails(trial))
        }
        history.without.formUnion(Set(parts).subtracting(search.kept))
    }

    /// The members of a change set together, every other record by itself.
    private func groups(_ records: [SequenceNumber]) throws(TidelogError) -> [[SequenceNumber]] {
        let reading = RecordReading(reader)
        var groups: [[SequenceNumber]] = []
        var changeSet: SequenceNumber?
        for sequence in records {
            let record = try reading.record(sequence)
            var own: SequenceNumber?
            if case .operation(let operation) = record.body { own = operation.changeSet }
            if let own, own == changeSet {
                groups[groups.count - 1].append(sequence)
            } else {
                groups.append([sequence])
            }
            changeSet = own
        }
        return groups
    }

    private func parts(
        _ history: ReducedHistory, _ phase: MinimiseProgress.Phase
    ) throws(TidelogError) -> [ReducedHistory.Part] {
        let reading = RecordReading(reader)
        var keys: Set<String> = []
        var parts: [ReducedHistory.Part] = []
        for sequence in history.records {
            let body = history.reduced(try reading.record(sequence).body, at: sequence)
            if case .serviceInstalled(let service) = body, let model = try? CSDLReader.read(service.metadata) {
                for set in model.allSets {
                    keys.formUnion(set.entityType.keyProperties.map(\.name))
                }
            }
            switch phase {
            case .records: break
            case .entities: parts += ReducedHistory.images(body, at: sequence)
            // By name only: a property that is called like a key of another type stays.
            case .properties:
                parts += ReducedHistory.properties(body, at: sequence) { _, name in keys.contains(name) }
            }
        }
        return parts
    }

    // MARK: Trials

    func fails(_ history: ReducedHistory) async throws(TidelogError) -> Bool {
        count += 1
        switch test {
        case .condition(let condition):
            let made = try await make(history, OverlayFileSystem(), directory: store.files.directory + "-reduced")
            let holds = try await made.store.holds(condition.text, at: made.time)
            await made.store.close()
            return holds
        case .judge(let scratch, let judge):
            let directory = "\(scratch)/\(count)"
            _ = try await write(history, to: directory)
            try store.description(to: directory)
            return try judge(directory) == .holds
        }
    }

    /// - Parameter directory: nil makes it in memory, to know what remains.
    func write(
        _ history: ReducedHistory, to directory: String?
    ) async throws(TidelogError) -> (kept: [SequenceNumber], operations: Int) {
        let made = try await make(
            history, directory == nil ? OverlayFileSystem() : nil,
            directory: directory ?? store.files.directory + "-reduced")
        await made.store.close()
        return (made.kept, made.operations)
    }

    private struct Made {
        let store: LocalStore
        /// Of the last record.
        var time: Timestamp = 0
        var kept: [SequenceNumber] = []
        var operations = 0
        /// The numbers of the records in the new log.
        var numbers: [SequenceNumber: SequenceNumber] = [:]
    }

    @inline(never)
    @_optimize(none)
    private func make(
        _ history: ReducedHistory, _ fileSystem: OverlayFileSystem?, directory: String
    ) async throws(TidelogError) -> Made {
        var options = LocalStore.Options(environment: clock.environment, snapshots: .manual)
        if let fileSystem { options.disk = .simulated(fileSystem) }
        options.log.durability = .none
        options.log.keys = store.keys
        options.isPast = true
        var made = Made(store: try await LocalStore(StoreFiles(directory: directory), options: options))
        let reading = RecordReading(reader)
        var index = 0
        while index < history.records.count {
            var group = [history.records[index]]
            let first = try reading.record(group[0])
            var records = [first]
            if case .operation(let operation) = first.body, let changeSet = operation.changeSet {
                while index + group.count < history.records.count {
                    let next = try reading.record(history.records[index + group.count])
                    guard case .operation(let other) = next.body, other.changeSet == changeSet else { break }
                    records.append(next)
                    group.append(history.records[index + group.count])
                }
            }
            index += group.count
            try await append(group, records, history, &made)
        }
        return made
    }

    private func append(
        _ group: [SequenceNumber], _ records: [Record], _ history: ReducedHistory, _ made: inout Made
    ) async throws(TidelogError) {
        let numbers = made.numbers
        let first = SequenceNumber(made.kept.count + 1)
        let isAboutBatch =
            switch records[0].body {
            case .batchPrepared, .batchAnswered: true
            default: false
            }
        let pending = isAboutBatch ? try await made.store.pendingOrUndone : []
        let revision = RecordRevision(
            number: { numbers[$0] }, firstOfChangeSet: { _ in first },
            awaitsAnswer: { pending.contains($0) }, isSendable: { pending.contains($0) })
        var revised: [Record] = []
        do {
            for (sequence, record) in zip(group, records) {
                guard let body = try revision.revised(history.reduced(record.body, at: sequence)) else { continue }
                revised.append(Record(time: record.time, body: body))
                clock.set(record.time)
            }
            guard revised.count == group.count else { return }
            try await made.store.replay(revised)
        } catch {
            let error = LogFailure.mapped(error)
            switch error.code {
            case .refused, .noStore: break
            default: throw error
            }
            return
        }
        for (sequence, record) in zip(group, revised) {
            made.kept.append(sequence)
            made.numbers[sequence] = SequenceNumber(made.kept.count)
            made.time = record.time
            if case .operation = record.body { made.operations += 1 }
        }
    }
}
