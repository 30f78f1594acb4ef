import EDM
import OfflineStore
import OperationLog
import Operations

/// Reads records by their numbers, efficiently if they are requested in order. Not thread-safe.
final class RecordReader {
    private let reader: LogReader
    private var cursor: LogCursor?
    /// The number of the cursor's next record.
    private var next: SequenceNumber = 0
    private let decoder = RecordDecoder()
    /// The last record, which is requested twice at the end of a change set.
    private var last: (sequence: SequenceNumber, record: Record)?

    init(_ reader: LogReader) { self.reader = reader }

    /// Returns a record.
    ///
    /// - Throws: `notFound` if the log does not contain the record.
    func record(_ sequence: SequenceNumber) throws(TidelogError) -> Record {
        if let last, last.sequence == sequence { return last.record }
        do {
            let cursor = self.cursor.flatMap { next == sequence ? $0 : nil } ?? reader.records(from: sequence)
            self.cursor = cursor
            guard let found = try cursor.next(), found.sequence == sequence else { throw LogFailure.missing(sequence) }
            next = sequence + 1
            let record = try decoder.decode(kind: found.kind, payload: found.bytes)
            last = (sequence, record)
            return record
        } catch {
            cursor = nil
            throw LogFailure.mapped(error)
        }
    }

    // MARK: Change sets

    /// Returns the position, or the position before the change set that it would split.
    func beforeChangeSet(_ place: SequenceNumber, last: SequenceNumber) throws(TidelogError) -> SequenceNumber {
        guard place > 0, place < last, let changeSet = try changeSet(of: place + 1), changeSet > 0 else { return place }
        return min(place, changeSet - 1)
    }

    /// Returns the position, or the position after the change set that it would split.
    func behindChangeSet(_ place: SequenceNumber, last: SequenceNumber) throws(TidelogError) -> SequenceNumber {
        var place = place
        while place < last, let changeSet = try changeSet(of: place + 1), changeSet <= place { place += 1 }
        return place
    }

    /// Returns the number of the first member of the record's change set, or nil if it is in none.
    private func changeSet(of sequence: SequenceNumber) throws(TidelogError) -> SequenceNumber? {
        if case .operation(let operation) = try record(sequence).body { operation.changeSet } else { nil }
    }
}
