import EDM
import OperationLog
import Operations
import SyncCore
import Views

/// A historical state in memory, where folding further records is cheapest.
struct HistoricalFold {
    let state: WorkingSet
    private var fold: Fold

    init(_ state: WorkingSet) throws(StateError) {
        self.state = state
        fold = try Fold(storage: state)
    }

    private init(copying other: HistoricalFold) throws(StateError) {
        state = other.state.copy()
        fold = try other.fold(over: state)
    }

    /// Returns a fold that continues from this state in another storage, without parsing the metadata again.
    func fold(over storage: WorkingSet) throws(StateError) -> Fold {
        guard let model = fold.model, let index = fold.index else { return try Fold(storage: storage) }
        return Fold(storage: storage, model: model, index: index)
    }

    var model: EntityDataModel? { fold.model }

    /// The last folded record.
    var applied: SequenceNumber { get throws(StateError) { try state.header().applied } }

    /// Folds records. Returns their number.
    @discardableResult
    mutating func advance(through last: SequenceNumber, _ reader: LogReader) throws -> Int {
        let cursor = reader.records(from: try applied + 1, through: last)
        let decoder = RecordDecoder()
        var folded = 0
        while let next = try cursor.next() {
            try fold.apply(try ViewsOpener.decoded(next, decoder), sequence: next.sequence)
            folded += 1
        }
        // Only once, because no query reads the pending operations in between.
        try fold.finishRebase()
        _ = fold.drainDirtySet()
        return folded
    }

    /// Returns a copy advanced through the record, and advances the views, which are at the same position. Called
    /// inside one of their transactions.
    ///
    /// - Parameter checkpoint: A later state that an earlier call made from this one, or nil. Folding continues from it
    ///   if it is not after the record. The call replaces it by a new one, or by nil if there are few records.
    func advanced(
        through last: SequenceNumber, _ reader: LogReader, _ views: inout Fold, checkpoint: inout HistoricalCheckpoint
    ) throws -> HistoricalFold {
        var past: HistoricalFold
        if let later = checkpoint.fold.take(), try later.applied <= last {
            past = later
        } else {
            past = try HistoricalFold(copying: self)
            past.state.trackDirtyItems()
            if let middle = checkpoint.place(from: try applied, through: last) {
                try past.advance(through: middle, reader)
                checkpoint.fold = try HistoricalFold(copying: past)
            }
        }
        try past.advance(through: last, reader)
        guard try DirtyItemWriter.writeChanges(of: past.state, into: views.storage) else {
            // The metadata changed. This is rare enough to fold twice.
            try ViewsOpener.foldAll(of: reader.records(from: try applied + 1, through: last), &views)
            return past
        }
        if let model = views.model, let index = views.index {
            views = Fold(storage: views.storage, model: model, index: index)
        }
        return past
    }
}

/// A state between the position of a historical store and that of its last trial. If the trial is rolled back, a
/// bisection continues halfway, so that the records up to there need not be folded again.
struct HistoricalCheckpoint {
    /// The number of records from which a trial makes a checkpoint. Copying a large state costs as much as folding
    /// hundreds of records.
    let distance: UInt64
    /// The state, with the items that have changed since the position of the store.
    fileprivate var fold: HistoricalFold?

    init(distance: UInt64) { self.distance = distance }

    /// Discards the state, because the store is at another position.
    mutating func discard() { fold = nil }

    /// Returns whether folding the records into the views costs less than copying the state.
    func areFew(from first: SequenceNumber, through last: SequenceNumber) -> Bool {
        last <= first || last - first < distance / 16
    }

    /// Returns the position before which a bisection of the records continues, or nil if there are few records.
    fileprivate func place(from first: SequenceNumber, through last: SequenceNumber) -> SequenceNumber? {
        guard last > first, last - first >= max(distance, 2) else { return nil }
        return first + (last - first - 1) / 2
    }
}
