import EDM
import Operations
import SyncCore

/// A random log with its states, from a fold in memory that is rebased after each record.
struct FoldedLog {
    let records: [Record]
    /// The numbers of applied records.
    private let digests: [StateDigest]
    let seed: UInt64

    init(seed: UInt64, count: Int) throws {
        self.seed = seed
        var random = RandomRecords(seed: seed)
        records = (0..<count).map { _ in random.next() }
        let state = WorkingSet(keepsDigest: true)
        var fold = try Fold(storage: state)
        var digests = [state.digest]
        for (index, record) in records.enumerated() {
            try fold.apply(record, sequence: SequenceNumber(index + 1))
            try fold.finishRebase()
            digests.append(state.digest)
        }
        self.digests = digests.compactMap { $0 }
    }

    subscript(applied: SequenceNumber) -> StateDigest { digests[Int(applied)] }

    /// Applies these records, counted from 0, and rebases the state.
    func apply(_ range: Range<Int>, _ fold: inout Fold) throws {
        for index in range { try fold.apply(records[index], sequence: SequenceNumber(index + 1)) }
        try fold.finishRebase()
    }

    /// Folds these records in one transaction.
    func fold(_ range: Range<Int>, into state: WorkingSet) throws {
        var fold = try Fold(storage: state)
        try state.transaction { try apply(range, &fold) }
    }
}
