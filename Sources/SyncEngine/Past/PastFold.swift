import EDM
import OperationLog
import Operations
import SyncCore
import Views

/// The state of a past in memory, where folding on costs least.
struct PastFold {
    let state: WorkingSet
    private var fold: Fold

    init(_ state: WorkingSet) throws(StateError) {
        self.state = state
        fold = try Fold(storage: state)
    }

    private init(copying other: PastFold) throws(StateError) {
        state = other.state.copy()
        guard let model = other.fold.model, let index = other.fold.index else {
            fold = try Fold(storage: state)
            return
        }
        fold = Fold(storage: state, model: model, index: index)
    }

    var model: EntityDataModel? { fold.model }

    /// The last record that is in it.
    var applied: SequenceNumber { get throws(StateError) { try state.header().applied } }

    /// Returns how many records there were.
    @discardableResult
    mutating func advance(through last: SequenceNumber, _ reader: LogReader) throws -> Int {
        let cursor = reader.records(from: try applied + 1, through: last)
        let decoder = RecordDecoder()
        var folded = 0
        while let next = try cursor.next() {
            try fold.apply(try ViewsOpening.decoded(next, decoder), sequence: next.sequence)
            folded += 1
        }
        // Only here: what is pending in between nobody looks at.
        try fold.settle()
        _ = fold.takeTouched()
        return folded
    }

    /// The same further on in the log, and in the views, which are where this one is. Inside of one transaction of theirs.
    func advanced(
        through last: SequenceNumber, _ reader: LogReader, _ views: inout Fold
    ) throws -> PastFold {
        var past = try PastFold(copying: self)
        past.state.noteTouched()
        try past.advance(through: last, reader)
        guard try past.state.writeTouched(into: views.storage) else {
            // Other metadata: rare enough to be folded twice.
            try ViewsOpening.foldAll(of: reader.records(from: try applied + 1, through: last), &views)
            return past
        }
        if let model = views.model, let index = views.index {
            views = Fold(storage: views.storage, model: model, index: index)
        }
        return past
    }
}
