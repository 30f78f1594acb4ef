import OperationLog
public import Operations

/// A store as it was at a place of its history.
///
/// A store of its own, made from the newest snapshot that is not younger and the records behind it, over the log's files and
/// without changing any of them. It takes no lock, so that the store may be in use meanwhile. It is in memory, the state
/// itself and its views, and costs the folding of those records and the writing of the views.
public struct PastStore: Sendable {
    /// Of the last record that is in it.
    public let sequence: SequenceNumber
    /// Whatever happens to it happens in memory, but for streams: these are still in the files of the store.
    package let store: LocalStore

    /// The root of the service that it belongs to; nil before there is one.
    public var serviceRoot: String? {
        get async throws(TidelogError) { try await store.service?.root }
    }

    /// - Parameters:
    ///   - point: one behind the end of the log is the end.
    ///   - options: how the store is opened; of the log's, the keys.
    /// - Throws: `notFound` where a compaction has removed what the past would be made of, `damaged` where what is in front
    ///   of the place cannot be read, `noStore` where there is no log.
    public init(
        _ files: StoreFiles, at point: PointInTime, options: LocalStore.Options = .init()
    ) async throws(TidelogError) {
        let past: LogPast
        var options = options
        options.log.keys = LogKey.requiring(options.log.keys, in: files, fileSystem: options.disk.fileSystem)
        do {
            let disk = options.disk.fileSystem
            let reader = try LogReader(directory: files.log, keys: options.log.keys, fileSystem: disk)
            past = try LogPast(
                directory: files.log, through: try point.sequence(in: reader), keys: options.log.keys, fileSystem: disk)
        } catch {
            if case LogError.compacted(let first) = error {
                throw TidelogError(
                    .notFound, "What the store was before operation \(first) was removed by a compaction.",
                    place: files.log, recovery: "Ask for a later state.", cause: error)
            }
            throw LocalStore.mapped(error, files)
        }
        sequence = past.lastSequence
        options.disk = .simulated(past.fileSystem)
        options.isPast = true
        options.log.sealing = .asWritten
        options.log.durability = .none
        options.snapshots = .manual
        store = try await LocalStore(files, creating: false, options: options)
    }
}
