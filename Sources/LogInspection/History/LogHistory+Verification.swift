import EDM
package import OperationLog
import Operations

extension LogHistory {
    /// Verifies the log, and in a deep verification also that each record can be decoded. Takes no lock.
    ///
    /// - Parameter progress: Called before each segment.
    /// - Throws: ``LogError/noLog(path:)``, ``LogError/unsupported(path:offset:feature:)``, or a read error. Damage is
    ///   not thrown but reported.
    package func verify(
        depth: LogVerification.Depth = .deep, progress: (LogVerification.Progress) -> Void = { _ in }
    ) throws(LogError) -> LogVerification {
        try LogVerification.verify(
            directory: directory, keys: keys, depth: depth, check: Self.undecodable, progress: progress,
            fileSystem: fileSystem)
    }

    /// Returns the distribution of the log's bytes. Reads and checks every byte.
    package func statistics(
        progress: (LogVerification.Progress) -> Void = { _ in }
    ) throws(LogError) -> LogStatistics {
        LogStatistics(try verify(progress: progress))
    }

    /// Returns the reason why the record cannot be decoded, or nil if it can.
    package static func undecodable(_ record: LogRecord) -> String? {
        do throws(CodecError) {
            _ = try RecordCodec.decode(kind: record.kind, payload: record.payload)
            return nil
        } catch {
            return RecordSummary.oneLine("\(error)", limit: 200)
        }
    }
}
