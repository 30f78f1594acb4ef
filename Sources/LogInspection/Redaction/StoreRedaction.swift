import EDM
import ODataWire
public import OfflineStore
public import OperationLog
import Operations
import SyncCore

/// Creates a redacted copy of a store, in which values are replaced but equality, order, keys and links are preserved
/// and the history is the same. It can be shared without revealing the data.
///
/// Values become their rank among all values of their kind, and unordered texts become numbered placeholders. Names of
/// the model, times of records, entity IDs, states and sizes of the log are kept. Annotations, documentation, unknown
/// records and the contents of streams are omitted. Filters by parts of a text, and arithmetic, have different results.
///
/// Memory: each distinct value twice, and for a compacted log its state.
public struct StoreRedaction: Sendable {
    private let store: InspectedStore
    private let kept: Set<String>

    /// Creates a redaction of a store.
    ///
    /// - Parameter kept: Properties whose values are kept, as `Set/Property`. Properties that a referential constraint
    ///   requires to be equal to one of them are kept too.
    public init(_ store: InspectedStore, keeping kept: Set<String> = []) {
        self.store = store
        self.kept = kept
    }

    /// The result of a redaction.
    public struct Summary: Sendable, Hashable {
        /// The number of copied records.
        public var records: UInt64 = 0
        /// A Boolean value that indicates whether the log is damaged. Lost records are lost in the copy too.
        public var isDamaged = false
    }

    /// Writes the copy to a directory that must not exist. It receives its name only when it is complete.
    ///
    /// - Parameters:
    ///   - directory: The directory.
    ///   - key: The key that encrypts the copy, such as one that is shared with a support team; `nil` for a copy without
    ///     encryption. It is independent of the keys of the store.
    ///   - use: Called with the complete store before it receives its name. If it throws, no files remain.
    /// - Throws: The errors of `use`, or a `TidelogError`: `invalidRequest` if the directory exists or a kept
    ///   property does not, `unsupported` if there are more distinct values than the model's types can hold.
    public func write(
        to directory: String, key: LogKey? = nil, use: (InspectedStore) throws -> Void = { _ in }
    ) throws -> Summary {
        let keys = [key].compactMap { $0 }
        let unfinished = try UnfinishedStore(directory)
        do {
            let (summary, redaction) = try write(log: unfinished.files.log, on: PosixFileSystem(), keys)
            let description = StoreDescription(serviceRoot: Redaction.root, service: options(redaction))
            try description.write(unfinished.files, keys: keys)
            try use(InspectedStore(directory: unfinished.files.directory, keys: keys))
            try unfinished.finish(description, keys: keys)
            return summary
        } catch {
            unfinished.discard()
            throw error
        }
    }

    /// Creates the copy in memory.
    ///
    /// - Throws: `unsupported` if the values of a property cannot be redacted; `invalidRequest` if a property to keep
    ///   does not exist; `noStore` if there is no log.
    public func inMemory() throws(TidelogError) -> (store: InspectedStore, summary: Summary) {
        let disk = OverlayFileSystem()
        // A file with this name is never created on disk.
        let directory = "/tidelog-redacted"
        let (summary, redaction) = try write(log: directory + "/log", on: disk)
        let store = InspectedStore(
            directory: directory, options: LocalStoreOptions(service: options(redaction)), fileSystem: disk)
        return (store, summary)
    }

    private func write(
        log directory: String, on disk: any FileSystem, _ keys: [LogKey] = []
    ) throws(TidelogError) -> (Summary, Redaction) {
        let (reader, isDamaged) = try store.soundReader()
        let passage = try ExportRange().passage(in: reader, place: store.files.log)
        do {
            let redaction = Redaction(kept: kept)
            try walk(passage, redaction) { _, _ in }
            try checkKept(redaction)
            try redaction.rank()
            let log = try LogCopy(
                directory: directory, store: Self.identifier, firstSequence: passage.first, keys: keys,
                fileSystem: disk)
            var summary = Summary(isDamaged: isDamaged)
            try walk(passage, redaction, into: log) { kind, payload in
                summary.records += 1
                try log.add(kind: kind, payload: payload)
            }
            try log.finish()
            return (summary, redaction)
        } catch {
            if let error = error as? RedactionError {
                throw TidelogError(
                    .unsupported, "The store cannot be redacted: \(error.reason).", place: store.files.directory,
                    recovery: "Keep the original values of these properties with --keep.")
            }
            throw inspectionError(error, store.files.log)
        }
    }

    /// The identifier of every redacted store. It does not depend on the original.
    private static let identifier = StoreIdentifier(bytes: Array("tidelog-redacted".utf8))!

    private func checkKept(_ redaction: Redaction) throws(TidelogError) {
        guard let path = redaction.kept.pathsNotFound.sorted().first else { return }
        throw TidelogError(
            .invalidRequest, "\(path) is not a property of an entity set.", recovery: "Write it as Set/Property.")
    }

    /// Returns the service capabilities, as configured or as declared by annotations, which the redacted metadata do
    /// not contain.
    private func options(_ redaction: Redaction) -> ServiceOptions? {
        if let said = try? StoreDescription.read(store.files)?.service { return said }
        return redaction.declared
    }

    private func walk(
        _ passage: LogExcerpt, _ redaction: Redaction, into log: LogCopy? = nil,
        _ body: (UInt8, [UInt8]) throws -> Void
    ) throws {
        let decoder = RecordDecoder()
        let records = RecordRedactor(redaction)
        var restoration: SnapshotRedactor?
        try passage.forEach { piece in
            switch piece {
            case .snapshotItem(let kind, let payload):
                if restoration == nil { restoration = SnapshotRedactor(redaction, isCollecting: log == nil) }
                try restoration?.add(kind: kind, payload: payload, log)
            case .record(let record):
                guard let decoded = try? decoder.decode(kind: record.kind, payload: record.bytes) else {
                    return try body(LogRepair.lostKind, [])
                }
                records.register(placesOf: decoded.body)
                let (kind, payload) = RecordCodec.encode(records.record(decoded))
                try body(kind, payload)
            }
        }
    }
}
