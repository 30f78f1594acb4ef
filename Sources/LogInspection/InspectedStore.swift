public import OperationLog
import Operations
public import SyncEngine

/// A store that is looked at and never changed: one in use, a copy, a damaged or an encrypted one.
///
/// Everything goes through an ``OverlayFileSystem``, which of the disk calls nothing but opening for reading and listing. No
/// lock is taken, so that a writer may append meanwhile.
public struct InspectedStore: Sendable {
    public let files: StoreFiles
    let keys: [LogKey]
    /// Only read.
    let disk: any FileSystem
    /// What the store is told besides by `store.json`.
    private let options: LocalStore.Options

    /// Looks at nothing yet.
    ///
    /// - Parameters:
    ///   - directory: the store's; its log is in `log` below it.
    ///   - keys: all that the log's segments are encrypted with.
    public init(
        directory: String, keys: [LogKey] = [], options: LocalStore.Options = .init(),
        fileSystem: any FileSystem = PosixFileSystem()
    ) {
        files = StoreFiles(directory: directory)
        self.keys = keys
        self.options = options
        disk = OverlayFileSystem(fileSystem)
    }

    /// The log, record by record, damage or not.
    public var history: LogHistory { LogHistory(logDirectory: files.log, keys: keys, fileSystem: disk) }

    /// The records as they are on disk; throws at damage.
    ///
    /// - Throws: `noStore` where there is no log, `keyRequired` or `wrongKey`.
    func reader() throws(LogError) -> LogReader {
        try LogReader(directory: files.log, keys: keys, fileSystem: disk)
    }

    /// The store as it was.
    ///
    /// Where what is in front of the place is damaged, it is made of what can be read, as a repair would make it: records
    /// that are lost say nothing. All of this happens in memory, and takes the log's size of it then.
    ///
    /// - Throws: `notFound` where a compaction has removed what the past would be made of, `noStore` where there is no log.
    public func past(at point: PointInTime) async throws(TidelogError) -> PastStore {
        do throws(TidelogError) {
            return try await past(at: point, on: disk)
        } catch {
            guard error.code == .damaged else { throw error }
            return try await past(at: point, on: try salvaged())
        }
    }

    private func past(at point: PointInTime, on disk: any FileSystem) async throws(TidelogError) -> PastStore {
        var options = options
        options.log.keys = keys
        options.disk = .simulated(disk)
        if options.service == nil { options.service = try? StoreDescription.read(files)?.service }
        return try await PastStore(files, at: point, options: options)
    }

    /// The disk with a log on it that holds what can be read of the one that is there.
    func salvaged() throws(TidelogError) -> OverlayFileSystem {
        let overlay = OverlayFileSystem(disk)
        do {
            _ = try LogRepair(
                directory: files.log, keys: keys, check: LogHistory.undecodable, fileSystem: overlay
            ).inPlace {}
        } catch {
            guard let error = error as? LogError else {
                throw TidelogError(.storage, "\(error)", place: files.log, cause: error)
            }
            throw TidelogError(error)
        }
        return overlay
    }
}
