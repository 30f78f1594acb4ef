import EDM
import ODataWire
import OperationLog
import Operations
import SyncCore
public import SyncEngine

/// Makes a store of another one in which values are replaced, so that equality, order, keys and links survive and the same
/// happens to it: to be given to somebody who must not see the data.
///
/// Values become their rank among all values of their sort; texts without an order become numbered placeholders; names of
/// the model, times of records, entity IDs, states and sizes of the log stay. Annotations, documentation, unknown records
/// and the contents of streams are left out. Filters by a part of a text, and arithmetic, do not survive.
///
/// Memory: each distinct value twice, and for a compacted log its state.
public struct StoreRedaction: Sendable {
    private let store: InspectedStore
    private let kept: Set<String>

    /// - Parameter kept: properties whose values stay as they are, as `Set/Property`. What a referential constraint makes
    ///   equal to one of them stays as well.
    public init(_ store: InspectedStore, keeping kept: Set<String> = []) {
        self.store = store
        self.kept = kept
    }

    /// What was made.
    public struct Summary: Sendable, Hashable {
        public var records: UInt64 = 0
        /// Whether the log is damaged: records that are lost are lost in the new one, too.
        public var isDamaged = false
    }

    /// Makes the store in a directory that must not exist; it has its name when it is whole. Never encrypted.
    ///
    /// - Parameter use: is called with the store when it is whole and has its name not yet; where it throws, nothing is left
    ///   behind.
    /// - Throws: what `use` throws; a ``TidelogError``, `invalidRequest` where something has the name, or a kept property is
    ///   none; `unsupported` where there are too many different values for the room that the model gives them.
    public func write(to directory: String, use: (InspectedStore) throws -> Void = { _ in }) throws -> Summary {
        let unfinished = try UnfinishedStore(directory)
        do {
            let (summary, redaction) = try write(log: unfinished.files.log, on: PosixFileSystem())
            let description = StoreDescription(serviceRoot: Redaction.root, service: options(redaction))
            try description.write(unfinished.files)
            try use(InspectedStore(directory: unfinished.files.directory))
            try unfinished.finish(description)
            return summary
        } catch {
            unfinished.discard()
            throw error
        }
    }

    /// The same in memory, for whoever only looks at it.
    public func inMemory() throws(TidelogError) -> (store: InspectedStore, summary: Summary) {
        let disk = OverlayFileSystem()
        // Nothing of this name is made on the disk.
        let directory = "/tidelog-redacted"
        let (summary, redaction) = try write(log: directory + "/log", on: disk)
        let store = InspectedStore(
            directory: directory, options: LocalStore.Options(service: options(redaction)), fileSystem: disk)
        return (store, summary)
    }

    private func write(
        log directory: String, on disk: any FileSystem
    ) throws(TidelogError) -> (Summary, Redaction) {
        let (reader, isDamaged) = try store.soundReader()
        let passage = try ExportRange().passage(in: reader, place: store.files.log)
        do {
            let redaction = Redaction(kept: kept)
            try walk(passage, redaction) { _, _ in }
            try checkKept(redaction)
            try redaction.rank()
            let log = try LogCopy(
                directory: directory, store: Self.identifier, firstSequence: passage.first, fileSystem: disk)
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
                    recovery: "Keep the properties that have so little room with --keep.")
            }
            throw inspectionError(error, store.files.log)
        }
    }

    /// The same for every redacted store: it tells nothing of the original.
    private static let identifier = StoreIdentifier(bytes: Array("tidelog-redacted".utf8))!

    private func checkKept(_ redaction: Redaction) throws(TidelogError) {
        guard let path = redaction.pathsNotFound.sorted().first else { return }
        throw TidelogError(
            .invalidRequest, "\(path) is no property of an entity set.", recovery: "Write it as Set/Property.")
    }

    /// What the service lacks, as it was said or as its annotations say, which the new metadata do not have.
    private func options(_ redaction: Redaction) -> ServiceOptions? {
        if let said = try? StoreDescription.read(store.files)?.service { return said }
        return redaction.declared
    }

    private func walk(
        _ passage: LogPassage, _ redaction: Redaction, into log: LogCopy? = nil,
        _ body: (UInt8, [UInt8]) throws -> Void
    ) throws {
        let decoder = RecordDecoder()
        var restoration: SnapshotRedaction?
        try passage.forEach { piece in
            switch piece {
            case .snapshotItem(let kind, let payload):
                if restoration == nil { restoration = SnapshotRedaction(redaction, isCollecting: log == nil) }
                try restoration?.add(kind: kind, payload: payload, log)
            case .record(let record):
                guard let decoded = try? decoder.decode(kind: record.kind, payload: record.bytes) else {
                    return try body(LogRepair.lostKind, [])
                }
                redaction.learn(places: decoded.body)
                let (kind, payload) = RecordCodec.encode(redaction.record(decoded))
                try body(kind, payload)
            }
        }
    }
}

/// A snapshot on its way through a redaction: a state is made of it, and a snapshot of that.
private final class SnapshotRedaction {
    private let redaction: Redaction
    private let state: WorkingSet?
    private var decoder = SnapshotDecoder()
    private var header = StateHeader()

    init(_ redaction: Redaction, isCollecting: Bool) {
        self.redaction = redaction
        state = isCollecting ? nil : WorkingSet()
    }

    func add(kind: UInt8, payload: [UInt8], _ log: LogCopy?) throws {
        guard let item = try decoder.add(kind: kind, payload: payload) else { return }
        try redaction.item(item, into: state, &header)
        guard case .end = item else { return }
        guard let state, let log else {
            redaction.keysSeen = []
            return
        }
        try redaction.putKeys(into: state)
        try state.setHeader(header)
        let fold = try Fold(storage: state)
        try fold.writeSnapshot { try log.addSnapshotItem(kind: $0, payload: $1) }
    }
}

extension Redaction {
    /// Which set and type entities are of, for updates, which do not say it.
    func learn(places body: Record.Body) {
        switch body {
        case .downloadPage(let page): page.entities.forEach(learn)
        case .entitiesRead(let images): images.forEach(learn)
        case .batchAnswered(let answered):
            for outcome in answered.outcomes {
                if case .confirmed(let images) = outcome.result { images.forEach(learn) }
            }
        default: break
        }
    }

    private func learn(_ image: EntityImage) { learn(image.entity, image.set, image.type) }
}
