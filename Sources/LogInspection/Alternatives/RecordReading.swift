import EDM
import OperationLog
import Operations
import SyncEngine

/// Records by their numbers, quick where they are asked for in order. For one thread.
final class RecordReading {
    private let reader: LogReader
    private var cursor: LogCursor?
    /// Of the record that the cursor gives next.
    private var next: SequenceNumber = 0
    private let decoder = RecordDecoder()
    /// The last one that was read, which is asked for twice where a change set ends.
    private var last: (sequence: SequenceNumber, record: Record)?

    init(_ reader: LogReader) { self.reader = reader }

    /// - Throws: `notFound` where the log does not have the record.
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

    /// The place, or that in front of the change set in the middle of which it lies.
    func beforeChangeSet(_ place: SequenceNumber, last: SequenceNumber) throws(TidelogError) -> SequenceNumber {
        guard place > 0, place < last, let changeSet = try changeSet(of: place + 1), changeSet > 0 else { return place }
        return min(place, changeSet - 1)
    }

    /// The place, or that behind the change set in the middle of which it lies.
    func behindChangeSet(_ place: SequenceNumber, last: SequenceNumber) throws(TidelogError) -> SequenceNumber {
        var place = place
        while place < last, let changeSet = try changeSet(of: place + 1), changeSet <= place { place += 1 }
        return place
    }

    /// The number of its first member; nil of a record that is in none.
    private func changeSet(of sequence: SequenceNumber) throws(TidelogError) -> SequenceNumber? {
        if case .operation(let operation) = try record(sequence).body { operation.changeSet } else { nil }
    }
}
