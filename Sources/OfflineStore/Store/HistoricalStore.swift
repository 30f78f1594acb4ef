import OperationLog
public import Operations

/// A store as of a point in its history.
///
/// It is a separate in-memory store, built from the newest snapshot that is not after the point and the records that
/// follow it. It reads the log's files without changing them or taking a lock, so the original store may be in use.
/// Cost: folding these records and writing the views.
public struct HistoricalStore: Sendable {
    /// The number of the last record of the state.
    public let sequence: SequenceNumber
    /// The store. All changes to it are in memory, except that streams are still the files of the original store.
    package let store: LocalStore

    /// The service root; nil before one is installed.
    ///
    /// - Throws: `damaged` or `storage` if the state cannot be read.
    public var serviceRoot: String? {
        get async throws(TidelogError) { try await store.service?.root }
    }

    /// Opens a store as of a point.
    ///
    /// - Parameters:
    ///   - point: A point after the end of the log stands for the end.
    ///   - options: The options for opening the store. Of the log options, only the keys are used.
    /// - Throws: `notFound` if a compaction has removed the required records, `damaged` if records before the point are
    ///   unreadable, `noStore` if there is no log.
    package init(
        _ files: StoreFiles, at point: PointInTime, options: LocalStoreOptions = .init()
    ) async throws(TidelogError) {
        let past: HistoricalLog
        var options = options
        options.log.keys = LogKey.requiring(options.log.keys, in: files, fileSystem: options.disk.fileSystem)
        do {
            let disk = options.disk.fileSystem
            let reader = try LogReader(directory: files.log, keys: options.log.keys, fileSystem: disk)
            past = try HistoricalLog(
                directory: files.log, through: try point.sequence(in: reader), keys: options.log.keys, fileSystem: disk)
        } catch {
            if case LogError.compacted(let first) = error {
                throw TidelogError(
                    .notFound, "A compaction removed the states of the store before operation \(first).",
                    place: files.log, recovery: "Request a later state.", cause: error)
            }
            throw StoreCore.mapped(error, files)
        }
        sequence = past.lastSequence
        options.disk = .simulated(past.fileSystem)
        options.isHistorical = true
        options.log.sealing = .asWritten
        options.log.durability = .none
        options.snapshots = .manual
        store = try await LocalStore(files, creating: false, options: options)
    }
}
