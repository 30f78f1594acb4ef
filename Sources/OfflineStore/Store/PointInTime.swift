package import OperationLog
public import Operations

/// A point in the history of a store.
public enum PointInTime: Sendable, Hashable {
    /// After the record with this number and before the next one; 0 is before the first.
    case sequence(SequenceNumber)
    /// After the last record that was made by this time, in milliseconds since 1970 by the device's clock. If the clock
    /// was set back, several points match, and one of them is used.
    case time(Timestamp)

    /// Returns the last record of the log up to the point.
    ///
    /// Cost: a few seeks for a time, none for a number.
    package func sequence(in reader: LogReader) throws -> SequenceNumber {
        switch self {
        case .sequence(let sequence): return sequence
        case .time(let time):
            let first = try reader.firstSequence()
            // The first record that was made later.
            var (low, high) = (first, try reader.nextSequence())
            while low < high {
                let middle = low + (high - low) / 2
                if let found = try Self.time(from: middle, to: high, reader), found.time <= time {
                    low = found.sequence + 1
                } else {
                    high = middle
                }
            }
            return low - 1
        }
    }

    /// Returns the time of the first record that has one. Lost records and those of later versions have none.
    private static func time(
        from first: SequenceNumber, to end: SequenceNumber, _ reader: LogReader
    ) throws -> (sequence: SequenceNumber, time: Timestamp)? {
        let records = reader.records(from: first, through: end - 1)
        while let record = try records.next() {
            let decoded = try RecordCodec.decode(kind: record.kind, payload: record.payload)
            switch decoded.body {
            case .lost, .unknown: continue
            default: return (record.sequence, decoded.time)
            }
        }
        return nil
    }
}
