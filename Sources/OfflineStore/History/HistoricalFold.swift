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
        guard let model = other.fold.model, let index = other.fold.index else {
            fold = try Fold(storage: state)
            return
        }
        fold = Fold(storage: state, model: model, index: index)
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
    func advanced(
        through last: SequenceNumber, _ reader: LogReader, _ views: inout Fold
    ) throws -> HistoricalFold {
        var past = try HistoricalFold(copying: self)
        past.state.trackDirtyItems()
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
