import EDM
public import OfflineStore
import OperationLog
import Operations

extension InspectedStore {
    /// The identifier of the store. Copies have the same one.
    ///
    /// - Throws: `noStore` if there is no log.
    public var identifier: String {
        get throws(TidelogError) { try readable { $0.storeIdentifier.description } }
    }

    /// The first position with a historical state: before the first record, or after the records that a compaction
    /// removed.
    ///
    /// - Throws: `noStore` if there is no log.
    public var earliestPlace: PointInTime {
        get throws(TidelogError) {
            try readable { reader throws in
                let first = try reader.firstSequence()
                guard first > 1 else { return .sequence(0) }
                return .sequence(try snapshotPlaces(reader).first { $0 + 1 >= first } ?? first)
            }
        }
    }

    /// Returns a reader. Errors have their public form.
    func openReader() throws(TidelogError) -> LogReader {
        do throws(LogError) { return try reader() } catch { throw TidelogError(error) }
    }

    /// Returns the last record of the log up to the position.
    func sequence(of point: PointInTime, _ reader: LogReader) throws(TidelogError) -> SequenceNumber {
        do {
            let last = try reader.nextSequence() - 1
            return min(try point.sequence(in: reader), last)
        } catch {
            throw LogFailure.mapped(error)
        }
    }

    /// Returns the records after which there is a snapshot, in order.
    func snapshotPlaces(_ reader: LogReader) throws(TidelogError) -> [SequenceNumber] {
        do throws(LogError) {
            return try reader.snapshots().map { $0.sequence &- 1 }
        } catch {
            throw TidelogError(error)
        }
    }

    /// Returns the record in a form that can be displayed, or nil if it does not exist or cannot be decoded.
    ///
    /// - Parameter past: A historical store that is not before the record. It contains the sets of the entities.
    func entry(
        _ sequence: SequenceNumber, _ reader: LogReader, _ past: HistoricalStore
    ) async throws(TidelogError) -> HistoryEntry? {
        let record: Record
        do {
            guard let found = try reader.record(sequence) else { return nil }
            record = try RecordCodec.decode(kind: found.kind, payload: found.payload)
        } catch {
            if error is CodecError { return nil }
            throw LogFailure.mapped(error)
        }
        var sets = EntitySets()
        sets.add(from: record.body)
        let entities = HistoryEntry(sequence: sequence, record: record, sets: sets).entities.prefix(64)
        for (id, link) in try await past.store.localLinks(of: Set(entities)) {
            sets.add(id, String(link.prefix { $0 != "(" }))
        }
        return HistoryEntry(sequence: sequence, record: record, sets: sets)
    }
}

/// Converts errors of the log and its records to their public form.
enum LogFailure {
    static func mapped(_ error: any Error) -> TidelogError {
        switch error {
        case let error as TidelogError: error
        case let error as LogError: TidelogError(error)
        case let error as CodecError:
            TidelogError(
                .damaged, "A record of the log cannot be read. \(error)",
                recovery: "Run 'tidelog verify' on the store.",
                cause: error)
        default: TidelogError(.storage, "\(error)", cause: error)
        }
    }
}
