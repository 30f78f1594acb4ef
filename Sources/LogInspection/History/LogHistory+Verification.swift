import EDM
public import OperationLog
import Operations

extension LogHistory {
    /// Checks the log; in a deep verification also that each record decodes. Takes no lock.
    ///
    /// - Parameter progress: called in front of each segment.
    /// - Throws: ``LogError/noLog(path:)``, ``LogError/unsupported(path:offset:feature:)``, or a failure to read. Damage
    ///   is not thrown but reported.
    public func verify(
        depth: LogVerification.Depth = .deep, progress: (LogVerification.Progress) -> Void = { _ in }
    ) throws(LogError) -> LogVerification {
        try LogVerification.verify(
            directory: directory, keys: keys, depth: depth, check: Self.undecodable, progress: progress,
            fileSystem: fileSystem)
    }

    /// Where the log's bytes are. Reads and checks every byte.
    public func statistics(
        progress: (LogVerification.Progress) -> Void = { _ in }
    ) throws(LogError) -> LogStatistics {
        LogStatistics(try verify(progress: progress))
    }

    /// Why the record does not decode; nil where it does.
    public static func undecodable(_ record: LogRecord) -> String? {
        do throws(CodecError) {
            _ = try RecordCodec.decode(kind: record.kind, payload: record.payload)
            return nil
        } catch {
            return RecordSummary.oneLine("\(error)", limit: 200)
        }
    }
}
