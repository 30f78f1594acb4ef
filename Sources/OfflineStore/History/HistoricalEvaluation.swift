import EDM
import ODataQuery
package import OperationLog
package import Operations
import SyncCore
import Views

/// Queries on the states of a historical store, record by record through the rest of its log.
///
/// After the first of these calls the state is ahead of the store's own log, so no record may be appended to it.
package actor HistoricalEvaluation {
    nonisolated let core: StoreCore
    package nonisolated var unownedExecutor: UnownedSerialExecutor { core.executor.asUnownedSerialExecutor() }
    private var checkpoint: HistoricalCheckpoint

    init(core: StoreCore) {
        self.core = core
        checkpoint = HistoricalCheckpoint(distance: core.options.checkpointDistance)
    }

    /// Folds all records through the given one. Does nothing if the state already contains it.
    package func advance(through last: SequenceNumber, _ reader: LogReader) throws(TidelogError) {
        let before = (core.fold, core.past)
        do {
            guard try core.state.header().applied < last else { return }
            // Is never rolled back, so that no checkpoint is needed.
            try core.state.transaction {
                try foldOn(through: last, reader) { past throws in try past.trackingCopy() }
            }
            checkpoint.discard()
        } catch {
            (core.fold, core.past) = before
            throw core.mapped(error)
        }
    }

    /// Evaluates a query on the state through the given record.
    ///
    /// The state stays there if the query holds exactly when `kept` is true; otherwise it is rolled back.
    ///
    /// - Parameter time: The value of `now()`, in milliseconds since 1970.
    package func trial(
        of query: String, through last: SequenceNumber, _ reader: LogReader, at time: Timestamp, keepingWhere kept: Bool
    ) throws(TidelogError) -> ConditionVerdict {
        let before = (core.fold, core.past)
        do {
            let result = try core.state.transaction { () throws -> ConditionVerdict in
                try foldOn(through: last, reader) { past throws in
                    try checkpoint.start(from: past, through: last, reader)
                }
                let verdict = try verdict(on: query, at: time)
                guard verdict.holds == kept else { throw TrialRollback(verdict: verdict) }
                return verdict
            }
            checkpoint.discard()
            return result
        } catch let end as TrialRollback {
            (core.fold, core.past) = before
            return end.verdict
        } catch {
            (core.fold, core.past) = before
            throw core.mapped(error)
        }
    }

    /// Folds further records inside a transaction: in memory, or into the views if they are few.
    ///
    /// - Parameter start: Returns the state in memory to fold on, given that at the position of the store.
    private func foldOn(
        through last: SequenceNumber, _ reader: LogReader, from start: (HistoricalFold) throws -> HistoricalFold
    ) throws {
        let applied = try core.state.header().applied
        guard let past = core.past, try past.applied == applied, last > applied,
            last - applied >= core.options.memoryFoldDistance
        else {
            checkpoint.discard()
            core.past = nil
            return try ViewsOpener.foldAll(of: reader.records(from: applied + 1, through: last), &core.fold)
        }
        var later = try start(past)
        try later.advance(through: last, reader, &core.fold, from: applied)
        core.past = later
    }

    /// Returns whether the query holds: its result contains an entity, counts at least one, or is a value other than
    /// null and false. A path that leads nowhere does not hold, and no query holds before metadata are installed.
    package func holds(_ query: String, at time: Timestamp) throws(TidelogError) -> Bool {
        guard core.hasModel else { return false }
        do throws(TidelogError) {
            return Self.saysSomething(try shortAnswer(query, at: time))
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }

    /// Returns whether the query holds, for metadata that may lack names that the query uses.
    package func verdict(on query: String, at time: Timestamp) throws(TidelogError) -> ConditionVerdict {
        guard core.hasModel else { return ConditionVerdict(holds: false, isKnown: false) }
        do throws(TidelogError) {
            return ConditionVerdict(holds: try holds(query, at: time), isKnown: true)
        } catch {
            guard error.code == .invalidRequest else { throw error }
            return ConditionVerdict(holds: false, isKnown: false, refusal: error)
        }
    }

    /// Returns an abbreviated result, with at most one entity.
    private func shortAnswer(_ url: String, at time: Timestamp) throws(TidelogError) -> QueryAnswer {
        let queue = QueueQueries(core: core)
        if let url = try queue.url(url) { return try queue.answer(url) }
        let model = try core.model
        return try core.read { state throws in
            let header = try state.header()
            var request = try core.parsedQueries.query(url, model: model, root: header.service?.root).request
            switch request.path.target {
            case .entities, .references:
                var options = request.options
                options.top = min(options.top ?? 1, 1)
                request = ServiceRequest(path: request.path, options: options)
            default: break
            }
            return try LocalQuery(views: try core.views, state: state, forms: core.linkForms(model), time: time).answer(
                resolved: request, nil)
        }
    }

    private static func saysSomething(_ answer: QueryAnswer) -> Bool {
        switch answer.form {
        case .entities, .references, .joined: !answer.entities.isEmpty
        case .count: (answer.count ?? 0) > 0
        case .value(let value, _), .rawValue(let value): value != .null && value != .boolean(false)
        }
    }

    // MARK: Watching

    /// Folds a limited number of records, and evaluates the query after each record that may have changed its result.
    ///
    /// - Parameters:
    ///   - holds: The previous value. If nil, the query is evaluated first, which counts as no flip.
    package func watch(
        _ query: String, through last: SequenceNumber, _ reader: LogReader, from holds: Bool?
    ) throws(TidelogError) -> WatchedRange {
        let before = core.fold
        do {
            return try core.state.transaction { () throws -> WatchedRange in
                var stretch = WatchedRange(last: try core.state.header().applied, holds: holds ?? false)
                try begin(&stretch, query, isFirst: holds == nil, reader)
                let cursor = reader.records(from: stretch.last + 1, through: last)
                let decoder = RecordDecoder()
                while stretch.records < WatchedRange.limit, let next = try cursor.next() {
                    let record = try ViewsOpener.decoded(next, decoder)
                    try core.fold.apply(record, sequence: next.sequence)
                    try core.fold.finishRebase()
                    stretch.last = next.sequence
                    stretch.records += 1
                    if record.body == .lost { stretch.hasGap = true }
                    let change = StoreChange([record], tables: try core.views.drainChangedTables())
                    if let written = change.tables, let read = stretch.tables, written.isDisjoint(with: read) {
                        continue
                    }
                    let now = try evaluate(query, at: record.time, &stretch)
                    if now != stretch.holds { stretch.flips.append((next.sequence, now)) }
                    stretch.holds = now
                }
                _ = core.fold.drainDirtySet()
                return stretch
            }
        } catch {
            core.fold = before
            throw core.mapped(error)
        }
    }

    private func begin(
        _ stretch: inout WatchedRange, _ query: String, isFirst: Bool, _ reader: LogReader
    ) throws {
        core.storedViews.tracksPendingStates = true
        _ = try core.views.drainChangedTables()
        // The tables of the previous result are no longer known.
        let time = stretch.last > 0 ? try reader.time(of: stretch.last) : 0
        let holds = try evaluate(query, at: time, &stretch)
        if isFirst { stretch.holds = holds }
    }

    private func evaluate(_ query: String, at time: Timestamp, _ stretch: inout WatchedRange) throws -> Bool {
        _ = try core.views.drainReadTables()
        let verdict = try verdict(on: query, at: time)
        stretch.evaluations += 1
        stretch.isKnown = stretch.isKnown || verdict.isKnown
        stretch.refusal = stretch.refusal ?? verdict.refusal
        // Almost every transaction changes the queue's tables, and `now` changes with every record.
        let tables =
            try QueueQueries(core: core).url(query) == nil && !query.contains("now")
            ? try core.views.drainReadTables() : []
        // Later metadata may contain the names that the query uses.
        stretch.tables = tables.isEmpty || verdict.refusal != nil ? nil : tables
        return verdict.holds
    }
}

/// The value of a query at one position of a history. A query that the metadata there do not support does not hold; the
/// metadata at another position may support it.
package struct ConditionVerdict: Sendable {
    package let holds: Bool
    /// Whether the metadata contain the names that the query uses.
    package let isKnown: Bool
    /// The error if they do not; nil before metadata are installed.
    package var refusal: TidelogError?
}

/// The values of a query while some records were folded.
package struct WatchedRange: Sendable {
    /// The last folded record.
    package fileprivate(set) var last: SequenceNumber
    /// The value of the query after it.
    package fileprivate(set) var holds: Bool
    package fileprivate(set) var records = 0
    package fileprivate(set) var evaluations = 0
    /// The records after which the value differs from the one before, with the new value.
    package fileprivate(set) var flips: [(sequence: SequenceNumber, holds: Bool)] = []
    /// Whether any of the records are lost.
    package fileprivate(set) var hasGap = false
    /// Whether the metadata contained the names that the query uses, at one position at least.
    package fileprivate(set) var isKnown = false
    /// The error at positions where they did not.
    package fileprivate(set) var refusal: TidelogError?
    /// The tables that the last result depends on, or nil for any.
    fileprivate var tables: Set<String>?

    fileprivate static let limit = 4_000

    fileprivate init(last: SequenceNumber, holds: Bool) {
        self.last = last
        self.holds = holds
    }
}

extension LogReader {
    /// Returns the time of the record, in milliseconds since 1970; 0 for a lost or missing record. For a record that a
    /// compaction removed, the time of the first remaining record.
    package func time(of sequence: SequenceNumber) throws -> Timestamp {
        var found: LogRecord?
        do { found = try record(sequence) } catch LogError.compacted(let first) { found = try record(first) }
        guard let record = found else { return 0 }
        let decoded = try RecordCodec.decode(kind: record.kind, payload: record.payload)
        return decoded.body == .lost ? 0 : decoded.time
    }
}

/// Rolls a trial back.
private struct TrialRollback: Error {
    let verdict: ConditionVerdict
}
