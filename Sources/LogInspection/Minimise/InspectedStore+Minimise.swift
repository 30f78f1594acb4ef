import EDM
public import OfflineStore
import OperationLog
public import Operations
import Synchronization

/// The result of a minimisation.
public struct MinimiseReport: Sendable {
    /// The number of records in the original log.
    public internal(set) var recordsBefore = 0
    /// The number of records in the reduced log.
    public internal(set) var recordsAfter = 0
    /// The number of operations in the reduced log.
    public internal(set) var operationsAfter = 0
    /// The number of logs that were tried.
    public internal(set) var trials = 0
    /// The records of the original log that the small one contains, in order.
    public internal(set) var kept: [SequenceNumber] = []
}

/// The progress of a minimisation.
public struct MinimiseProgress: Sendable, Hashable {
    /// The number of logs that were tried so far.
    public let trials: Int
    /// The number of records that may still be needed; in later phases, of entities and then of properties.
    public let left: Int
    /// The present phase, which determines the unit of ``left``.
    public let of: Phase

    /// A phase of a minimisation, which removes records, entities or properties.
    public enum Phase: String, Sendable, Hashable { case records, entities, properties }
}

/// The test that decides whether a log fails.
public enum FailureTest {
    /// The condition holds at the end of the log.
    case condition(StateCondition)
    /// An external judge evaluates a store in a separate directory, which it may remove. The scratch directory exists
    /// and is empty.
    case judge(scratch: String, (String) throws(TidelogError) -> Bisection.Verdict)
}

extension InspectedStore {
    /// Writes a store with as few records of this one as possible that still fails, and with as few entities and
    /// properties as possible.
    ///
    /// Operations are checked by the same rules as the app's calls, so records that depend on an omitted one are
    /// omitted too. The records are renumbered; entities keep their IDs. The result is deterministic. Cost: one log per
    /// trial, with about n log n trials in the worst case for n necessary records. Entities and properties are reduced
    /// only if at most 20,000 records remain.
    /// - Parameters:
    ///   - test: The test that has to fail for the original log and the result.
    ///   - output: The directory of the new store, which must not exist.
    /// - Throws: `invalidRequest` if the original log does not fail.
    public func minimised(
        _ test: FailureTest, to output: String, progress: (MinimiseProgress) -> Void = { _ in }
    ) async throws(TidelogError) -> MinimiseReport {
        try await salvaging { store throws(TidelogError) in
            try await LogReduction(store: store, test: test).write(to: output, progress)
        }
    }

    /// Copies the store description. Without it, commands do not recognize the directory as a store.
    fileprivate func description(to output: String) throws(TidelogError) {
        do throws(FileSystemError) {
            try StoreCopy(directory: output).takeDescription(of: self)
        } catch {
            throw TidelogError(.storage, "\(error)", place: output, cause: error)
        }
    }
}

/// Reduces the log of a store to the records that are necessary for a failure.
private struct LogReduction {
    let store: InspectedStore
    let test: FailureTest

    func write(
        to output: String, _ progress: (MinimiseProgress) -> Void
    ) async throws(TidelogError) -> MinimiseReport {
        let reader = try store.openReader()
        let trials = ReductionTester(store, reader, test)
        let first: SequenceNumber
        do throws(LogError) { first = try reader.firstSequence() } catch { throw TidelogError(error) }
        guard first == 1 else {
            throw TidelogError(
                .unsupported, "The log was compacted, so it cannot be rebuilt from its records.",
                place: store.files.log,
                recovery: "Use 'tidelog bisect' or 'tidelog watch', which work on a compacted log.")
        }
        var last = try store.sequence(of: .sequence(.max), reader)
        var report = MinimiseReport()
        report.recordsBefore = Int(clamping: last)
        if case .condition(let condition) = test, last > 0 {
            let found = try await store.bisect(good: .sequence(0), bad: .sequence(last), when: condition)
            if case .found(let sequence) = found.outcome { last = sequence }
        }
        var history = ReducedHistory(records: last > 0 ? Array(1...last) : [])
        guard try await trials.fails(history) else {
            throw TidelogError(
                .invalidRequest, "The condition does not hold at the end of the log, so the log cannot be reduced.",
                recovery: "Choose a condition that holds at the end.")
        }
        try await trials.minimise(&history, progress)
        let written = try await trials.write(history, to: output)
        try store.description(to: output)
        report.recordsAfter = written.kept.count
        report.operationsAfter = written.operations
        report.kept = written.kept
        report.trials = trials.count
        return report
    }
}

/// Builds logs from parts of a log, and tests them. It is used by one task.
private final class ReductionTester {
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

    func minimise(
        _ history: inout ReducedHistory, _ progress: (MinimiseProgress) -> Void
    ) async throws(TidelogError) {
        var search = DeltaDebugging(try groups(history.records))
        while let groups = search.next() {
            progress(MinimiseProgress(trials: count, left: search.kept.count, of: .records))
            search.record(fails: try await fails(ReducedHistory(records: groups.flatMap { $0 })))
        }
        history.records = search.kept.flatMap { $0 }
        // Operations that were refused in the last trial are not part of the result either.
        history.records = try await write(history, to: nil).kept
        guard history.records.count <= Self.partsLimit else { return }
        try await minimise(&history, .entities, progress)
        try await minimise(&history, .properties, progress)
    }

    private func minimise(
        _ history: inout ReducedHistory, _ phase: MinimiseProgress.Phase, _ progress: (MinimiseProgress) -> Void
    ) async throws(TidelogError) {
        let parts = try parts(history, phase)
        var search = DeltaDebugging(parts)
        while let kept = search.next() {
            progress(MinimiseProgress(trials: count, left: search.kept.count, of: phase))
            var trial = history
            trial.without.formUnion(Set(parts).subtracting(kept))
            search.record(fails: try await fails(trial))
        }
        history.without.formUnion(Set(parts).subtracting(search.kept))
    }

    /// Groups the members of each change set. Any other record is a group of its own.
    private func groups(_ records: [SequenceNumber]) throws(TidelogError) -> [[SequenceNumber]] {
        let reading = RecordReader(reader)
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
    ) throws(TidelogError) -> [ReducedHistory.OmittedPart] {
        let reading = RecordReader(reader)
        var keys: Set<String> = []
        var parts: [ReducedHistory.OmittedPart] = []
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
            // By name only: a property with the name of another type's key is kept.
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
            let holds = try await made.store.trials.holds(condition.text, at: made.time)
            await made.store.close()
            return holds
        case .judge(let scratch, let judge):
            let directory = "\(scratch)/\(count)"
            _ = try await write(history, to: directory)
            try store.description(to: directory)
            return try judge(directory) == .holds
        }
    }

    /// Builds the log of a reduced history.
    ///
    /// - Parameter directory: The directory of the log, or nil to build it in memory in order to determine the
    ///   remaining records.
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
        /// The time of the last record.
        var time: Timestamp = 0
        var kept: [SequenceNumber] = []
        var operations = 0
        /// The numbers of the records in the new log.
        var numbers: [SequenceNumber: SequenceNumber] = [:]
    }

    private func make(
        _ history: ReducedHistory, _ fileSystem: OverlayFileSystem?, directory: String
    ) async throws(TidelogError) -> Made {
        var options = LocalStoreOptions(environment: clock.environment, snapshots: .manual)
        if let fileSystem { options.disk = .simulated(fileSystem) }
        options.log.durability = .none
        options.log.keys = store.keys
        options.isHistorical = true
        var made = Made(store: try await LocalStore(StoreFiles(directory: directory), options: options))
        let reading = RecordReader(reader)
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
        let pending = isAboutBatch ? try await made.store.history.pendingOrUndone : []
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
            try await made.store.history.replay(revised)
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
