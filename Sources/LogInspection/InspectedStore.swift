public import OperationLog
import ODataWire
public import Operations
public import SyncEngine

/// A store that is looked at and never changed: one in use, a copy, a damaged or an encrypted one.
///
/// Everything goes through an ``OverlayFileSystem``, which of the disk calls nothing but opening for reading and listing. No
/// lock is taken, so that a writer may append meanwhile. Where something meets damage it is done again with what can be read
/// of the log, as a repair would make it: records that are lost say nothing.
public struct InspectedStore: Sendable {
    public let files: StoreFiles
    let keys: [LogKey]
    /// Only read.
    let disk: any FileSystem
    /// What the store is told besides by `store.json`.
    var options: LocalStore.Options
    /// What can be read, once somebody met damage; shared by copies of this value.
    let salvagedOnce: SalvagedOnce

    /// Looks at nothing yet but how far back an encrypted log is encrypted.
    ///
    /// - Parameters:
    ///   - directory: the store's; its log is in `log` below it.
    ///   - keys: all that the log's segments are encrypted with.
    ///   - onDamage: is told what is lost, once, before anything is made of what can be read.
    public init(
        directory: String, keys: [LogKey] = [], options: LocalStore.Options = .init(),
        fileSystem: any FileSystem = PosixFileSystem(),
        onDamage: @escaping @Sendable (RepairPlan.Salvage) -> Void = { _ in }
    ) {
        files = StoreFiles(directory: directory)
        self.keys = LogKey.requiring(keys, in: files, fileSystem: fileSystem)
        self.options = options
        disk = OverlayFileSystem(fileSystem)
        salvagedOnce = SalvagedOnce(onDamage)
    }

    /// The store on another disk, which has what could be read.
    init(_ store: InspectedStore, on disk: any FileSystem, _ salvage: RepairPlan.Salvage?) {
        files = store.files
        keys = store.keys
        options = store.options
        self.disk = disk
        salvagedOnce = SalvagedOnce(made: salvage)
    }

    /// The log, record by record, damage or not.
    public var history: LogHistory { LogHistory(logDirectory: files.log, keys: keys, fileSystem: disk) }

    /// The records as they are on disk; throws at damage.
    ///
    /// - Throws: `noStore` where there is no log, `keyRequired` or `wrongKey`.
    func reader() throws(LogError) -> LogReader {
        try LogReader(directory: files.log, keys: keys, fileSystem: disk)
    }

    /// The last record up to the place, of those that the log has; 0 for none.
    ///
    /// - Throws: `noStore` where there is no log.
    public func sequence(at point: PointInTime) throws(TidelogError) -> SequenceNumber {
        try readable { reader throws in try min(point.sequence(in: reader), reader.nextSequence() - 1) }
    }

    /// The store as it was, made in memory.
    ///
    /// - Throws: `notFound` where a compaction has removed what the past would be made of, `noStore` where there is no log.
    public func past(at point: PointInTime) async throws(TidelogError) -> PastStore {
        try await salvaging { store throws(TidelogError) in
            var options = store.options
            options.log.keys = store.keys
            options.disk = .simulated(store.disk)
            options.service = store.serviceOptions
            return try await PastStore(store.files, at: point, options: options)
        }
    }

    /// What the service lacks, as somebody has said; nil where the metadata say it.
    var serviceOptions: ServiceOptions? { options.service ?? (try? StoreDescription.read(files, keys: keys))?.service }
}
