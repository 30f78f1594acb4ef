public import OfflineStore
public import OperationLog
package import ODataWire
public import Operations

/// A store for read-only inspection: one in use, a copy, a damaged or an encrypted one.
///
/// Inspection only opens files for reading and lists directories; it writes nothing to the disk of the store. It
/// takes no lock, so a writer may append meanwhile. If an operation meets damage, it runs again on the readable part of
/// the log, as a repair would produce it.
public struct InspectedStore: Sendable {
    package let files: StoreFiles
    let keys: [LogKey]
    /// The file system, which is only read.
    package let disk: any FileSystem
    /// Options of the store in addition to those in `store.json`.
    var options: LocalStoreOptions
    /// The salvaged store after the first damage. Copies of this value share it.
    let salvagedOnce: LazySalvage

    /// Creates an inspected store. It reads nothing yet except the extent of the encryption of an encrypted log.
    ///
    /// - Parameters:
    ///   - directory: The directory of the store, with its log in `log` below it.
    ///   - keys: All keys of the log's segments.
    ///   - onDamage: Receives the salvage report once, before the readable part of the log is used.
    package init(
        directory: String, keys: [LogKey] = [], options: LocalStoreOptions = .init(),
        fileSystem: any FileSystem = PosixFileSystem(),
        onDamage: @escaping @Sendable (RepairPlan.Salvage) -> Void = { _ in }
    ) {
        files = StoreFiles(directory: directory)
        self.keys = LogKey.requiring(keys, in: files, fileSystem: fileSystem)
        self.options = options
        disk = OverlayFileSystem(fileSystem)
        salvagedOnce = LazySalvage(onDamage)
    }

    /// Creates an inspected store. It reads nothing yet except the extent of the encryption of an encrypted log.
    ///
    /// - Parameters:
    ///   - directory: The directory of the store, as in `OfflineODataParameters.storePath`.
    ///   - keys: The present and all former keys of an encrypted store.
    public init(directory: String, keys: [LogKey] = []) {
        self.init(directory: directory, keys: keys, options: LocalStoreOptions())
    }

    /// Creates a store on another disk, which contains the readable part.
    init(_ store: InspectedStore, on disk: any FileSystem, _ salvage: RepairPlan.Salvage?) {
        files = store.files
        keys = store.keys
        options = store.options
        self.disk = disk
        salvagedOnce = LazySalvage(made: salvage)
    }

    /// The history of the log, with or without damage.
    package var history: LogHistory { LogHistory(logDirectory: files.log, keys: keys, fileSystem: disk) }

    /// Returns a reader of the records on disk, which throws at damage.
    ///
    /// - Throws: `noStore` if there is no log, `keyRequired` or `wrongKey`.
    func reader() throws(LogError) -> LogReader {
        try LogReader(directory: files.log, keys: keys, fileSystem: disk)
    }

    /// Returns the last record of the log up to the position; 0 if there is none.
    ///
    /// - Throws: `noStore` if there is no log.
    public func sequence(at point: PointInTime) throws(TidelogError) -> SequenceNumber {
        try readable { reader throws in try min(point.sequence(in: reader), reader.nextSequence() - 1) }
    }

    /// Returns the store as of the given point, in memory.
    ///
    /// - Throws: `notFound` if a compaction has removed the required records, or `noStore` if there is no log.
    public func past(at point: PointInTime) async throws(TidelogError) -> HistoricalStore {
        try await salvaging { store throws(TidelogError) in
            var options = store.options
            options.log.keys = store.keys
            options.disk = .simulated(store.disk)
            options.service = store.serviceOptions
            return try await HistoricalStore(store.files, at: point, options: options)
        }
    }

    /// The configured service capabilities, or nil to derive them from the metadata.
    package var serviceOptions: ServiceOptions? {
        options.service ?? (try? StoreDescription.read(files, keys: keys))?.service
    }
}
