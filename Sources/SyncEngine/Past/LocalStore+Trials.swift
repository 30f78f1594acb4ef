import EDM
import ODataWire
package import OperationLog
package import Operations
import SyncCore
import Views

/// A past that goes on, record by record, with what the log that it is the past of holds behind it.
///
/// From the first of these calls on the state is ahead of the store's own log, so that nothing may be appended to it.
extension LocalStore {
    /// The last record that the state contains.
    package var foldedThrough: SequenceNumber {
        get throws(TidelogError) { try read { try $0.header().applied } }
    }

    /// Folds on through the record; nothing where the state contains it.
    package func advance(through last: SequenceNumber, _ reader: LogReader) throws(TidelogError) {
        let before = (fold, past)
        do {
            guard try state.header().applied < last else { return }
            try state.transaction { try foldOn(through: last, reader) }
        } catch {
            (fold, past) = before
            throw mapped(error)
        }
    }

    /// Whether the query's answer says something once the state goes through that record. The state stays there where that
    /// is what is wanted, and is as it was where it is not.
    ///
    /// - Parameter time: what `now()` is, in milliseconds since 1970.
    package func trial(
        of query: String, through last: SequenceNumber, _ reader: LogReader, at time: Timestamp, keepingWhere kept: Bool
    ) throws(TidelogError) -> ConditionVerdict {
        let before = (fold, past)
        do {
            return try state.transaction { () throws -> ConditionVerdict in
                try foldOn(through: last, reader)
                let verdict = try verdict(on: query, at: time)
                guard verdict.holds == kept else { throw TrialEnd(verdict: verdict) }
                return verdict
            }
        } catch let end as TrialEnd {
            (fold, past) = before
            return end.verdict
        } catch {
            (fold, past) = before
            throw mapped(error)
        }
    }

    /// Inside of a transaction.
    private func foldOn(through last: SequenceNumber, _ reader: LogReader) throws {
        let applied = try state.header().applied
        if let past, try past.applied == applied {
            self.past = try past.advanced(through: last, reader, &fold)
        } else {
            try ViewsOpening.foldAll(of: reader.records(from: applied + 1, through: last), &fold)
        }
    }

    /// Whether the query's answer says something: it shows an entity, counts one, or is a value that is neither null nor
    /// false. One that leads nowhere does not, nor any before there are metadata.
    package func holds(_ query: String, at time: Timestamp) throws(TidelogError) -> Bool {
        guard hasModel else { return false }
        do throws(TidelogError) {
            return Self.saysSomething(try shortAnswer(query, at: time))
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }

    /// The same where the metadata may be others than the query was written for.
    package func verdict(on query: String, at time: Timestamp) throws(TidelogError) -> ConditionVerdict {
        guard hasModel else { return ConditionVerdict(holds: false, isKnown: false) }
        do throws(TidelogError) {
            return ConditionVerdict(holds: try holds(query, at: time), isKnown: true)
        } catch {
            guard error.code == .invalidRequest else { throw error }
            return ConditionVerdict(holds: false, isKnown: false, refusal: error)
        }
    }

    /// One entity is as good as all of them.
    private func shortAnswer(_ url: String, at time: Timestamp) throws(TidelogError) -> QueryAnswer {
        if let url = try queueURL(url) { return try answer(url) }
        let model = try model
        return try read { state throws in
            let header = try state.header()
            var request = try parsedQueries.query(url, model: model, root: header.service?.root).request
            switch request.path.target {
            case .entities, .references:
                var options = request.options
                options.top = min(options.top ?? 1, 1)
                request = ServiceRequest(path: request.path, options: options)
            default: break
            }
            return try LocalQuery(views: try views, state: state, forms: linkForms(model), time: time).answer(
                resolved: request, nil)
        }
    }

    private static func saysSomething(_ answer: QueryAnswer) -> Bool {
        switch answer.form {
        case .entities, .references: !answer.entities.isEmpty
        case .count: (answer.count ?? 0) > 0
        case .value(let value, _), .rawValue(let value): value != .null && value != .boolean(false)
        }
    }

    // MARK: Watching

    /// Folds on, some thousand records at most, and evaluates the query behind each that may have changed its answer.
    ///
    /// - Parameters:
    ///   - holds: what it said so far; nil evaluates it first, which tells no flip.
    package func watch(
        _ query: String, through last: SequenceNumber, _ reader: LogReader, from holds: Bool?
    ) throws(TidelogError) -> WatchedStretch {
        let before = fold
        do {
            return try state.transaction { () throws -> WatchedStretch in
                var stretch = WatchedStretch(last: try state.header().applied, holds: holds ?? false)
                try begin(&stretch, query, isFirst: holds == nil, reader)
                let cursor = reader.records(from: stretch.last + 1, through: last)
                let decoder = RecordDecoder()
                while stretch.records < WatchedStretch.limit, let next = try cursor.next() {
                    let record = try ViewsOpening.decoded(next, decoder)
                    try fold.apply(record, sequence: next.sequence)
                    try fold.settle()
                    stretch.last = next.sequence
                    stretch.records += 1
                    if record.body == .lost { stretch.hasGap = true }
                    let change = StoreChange([record], tables: try views.takeChangedTables())
                    if let written = change.tables, let read = stretch.tables, written.isDisjoint(with: read) {
                        continue
                    }
                    let now = try evaluate(query, at: record.time, &stretch)
                    if now != stretch.holds { stretch.flips.append((next.sequence, now)) }
                    stretch.holds = now
                }
                _ = fold.takeTouched()
                return stretch
            }
        } catch {
            fold = before
            throw mapped(error)
        }
    }

    private func begin(
        _ stretch: inout WatchedStretch, _ query: String, isFirst: Bool, _ reader: LogReader
    ) throws {
        storedViews.notesStandings = true
        _ = try views.takeChangedTables()
        // The tables of the answer so far are not known any more.
        let time = stretch.last > 0 ? try reader.time(of: stretch.last) : 0
        let holds = try evaluate(query, at: time, &stretch)
        if isFirst { stretch.holds = holds }
    }

    private func evaluate(_ query: String, at time: Timestamp, _ stretch: inout WatchedStretch) throws -> Bool {
        _ = try views.takeReadTables()
        let verdict = try verdict(on: query, at: time)
        stretch.evaluations += 1
        stretch.isKnown = stretch.isKnown || verdict.isKnown
        stretch.refusal = stretch.refusal ?? verdict.refusal
        // The queue's tables are written by every transaction or nearly; the time passes with every record.
        let tables = try queueURL(query) == nil && !query.contains("now") ? try views.takeReadTables() : []
        // Other metadata may know what it names.
        stretch.tables = tables.isEmpty || verdict.refusal != nil ? nil : tables
        return verdict.holds
    }
}

/// What a query says of one place of a history. What metadata do not know does not hold: those of another place may.
package struct ConditionVerdict: Sendable {
    package let holds: Bool
    /// Whether the metadata know what the query names.
    package let isKnown: Bool
    /// What was said where they do not; nil before there are any.
    package var refusal: TidelogError?
}

/// What was seen of a query while some records were folded.
package struct WatchedStretch: Sendable {
    /// The last record of it.
    package fileprivate(set) var last: SequenceNumber
    /// What the query says there.
    package fileprivate(set) var holds: Bool
    package fileprivate(set) var records = 0
    package fileprivate(set) var evaluations = 0
    /// The records behind which it says something else than in front of them, and what.
    package fileprivate(set) var flips: [(sequence: SequenceNumber, holds: Bool)] = []
    /// Whether records in it are lost.
    package fileprivate(set) var hasGap = false
    /// Whether the metadata knew what the query names, at one place at least.
    package fileprivate(set) var isKnown = false
    /// What was said where they did not.
    package fileprivate(set) var refusal: TidelogError?
    /// What the last answer came from; nil where that may be anything.
    fileprivate var tables: Set<String>?

    fileprivate static let limit = 4_000

    fileprivate init(last: SequenceNumber, holds: Bool) {
        self.last = last
        self.holds = holds
    }
}

extension LogReader {
    /// When the record was made, in milliseconds since 1970; 0 for one that was lost, or is not there. Of one that a compaction
    /// has removed, the time of the first record that is left.
    package func time(of sequence: SequenceNumber) throws -> Timestamp {
        var found: LogRecord?
        do { found = try record(sequence) } catch LogError.compacted(let first) { found = try record(first) }
        guard let record = found else { return 0 }
        let decoded = try RecordCodec.decode(kind: record.kind, payload: record.payload)
        return decoded.body == .lost ? 0 : decoded.time
    }
}

/// Takes a trial back.
private struct TrialEnd: Error {
    let verdict: ConditionVerdict
}
