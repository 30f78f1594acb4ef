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

    /// Returns a copy that tracks its changes, to be advanced together with the views at the same position.
    func trackingCopy() throws(StateError) -> HistoricalFold {
        let copy = try HistoricalFold(copying: self)
        copy.state.trackDirtyItems()
        return copy
    }

    /// Returns a copy, which tracks its changes from the same position if this state does.
    func copy() throws(StateError) -> HistoricalFold { try HistoricalFold(copying: self) }

    /// Folds records, and advances the views to the same record. Called inside one of their transactions.
    ///
    /// - Parameters:
    ///   - position: The position of the views, from which this state tracks its changes. The state may be after it.
    mutating func advance(
        through last: SequenceNumber, _ reader: LogReader, _ views: inout Fold, from position: SequenceNumber
    ) throws {
        try advance(through: last, reader)
        guard try DirtyItemWriter.writeChanges(of: state, into: views.storage) else {
            // The metadata changed. This is rare enough to fold twice.
            try ViewsOpener.foldAll(of: reader.records(from: position + 1, through: last), &views)
            return
        }
        if let model = views.model, let index = views.index {
            views = Fold(storage: views.storage, model: model, index: index)
        }
    }
}
