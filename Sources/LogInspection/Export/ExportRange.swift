public import OfflineStore
import OperationLog
import Operations

/// A range of a log.
public struct ExportRange: Sendable, Hashable {
    /// The first record, or the time after which records are included; nil for the beginning of the log.
    public var from: PointInTime?
    /// The last record, or the time until which records are included; nil for the end.
    public var to: PointInTime?

    /// Creates a range with the given first and last record; by default the whole log.
    public init(from: PointInTime? = nil, to: PointInTime? = nil) {
        self.from = from
        self.to = to
    }

    func passage(in reader: LogReader, place: String) throws(TidelogError) -> LogExcerpt {
        do {
            let first: SequenceNumber? =
                switch from {
                case .sequence(let sequence): max(1, sequence)
                case .time: try from.map { try $0.sequence(in: reader) + 1 }
                case nil: nil
                }
            return try LogExcerpt(reader, from: first, through: try to.map { try $0.sequence(in: reader) })
        } catch {
            throw inspectionError(error, place)
        }
    }
}

/// Returns the public form of an error from reading a log.
func inspectionError(_ error: any Error, _ place: String) -> TidelogError {
    switch error {
    case let error as TidelogError: error
    case LogError.compacted(let first):
        TidelogError(
            .notFound, "A compaction removed the states of the store before operation \(first).", place: place,
            recovery: "Request a later state.", cause: error)
    case let error as LogError: TidelogError(error)
    default: TidelogError(.storage, "\(error)", place: place, cause: error)
    }
}
