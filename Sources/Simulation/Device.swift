import DiskSimulation
import EDM
import ODataWire
import OfflineStore
import OperationLog
import Operations
import SeededRandom
import SyncEngine

/// One installation of the app: its disk, and the store and engine that run on it until the next crash.
final class Device {
    let number: Int
    private(set) var disk: SimulatedDisk
    /// Nil if they are in memory.
    let views: DeviceViews?
    let app: DeviceApp
    let keys: [LogKey]
    var store: LocalStore
    var engine: SyncEngine
    var isOnline = true
    /// The custom tags of operations that the store has acknowledged.
    var acknowledged: Set<String> = []
    /// The custom tags that a request to the service made durable, whatever the durability of the log is.
    private var durable: Set<String> = []
    /// The custom tags of acknowledged operations that a power loss may have undone.
    var forgotten: Set<String> = []
    /// The readLinks of entities that the app has seen, by set.
    var links: [String: [String]] = [:]
    /// The number of marks, values and tags used so far.
    var names = 0
    /// The last values of ``FieldService/clientOnly`` by entity, as far as nothing was undone since.
    var clientOnly: [EntityID: Value] = [:]
    /// New entities that the user has declared to exist on the service, without their keys.
    var settledEntities: Set<EntityID> = []
    /// The random numbers for faults of the disk, so that the other events of a run do not depend on them.
    var diskRandom: SeededRandom
    /// The content of the log before its last compaction.
    var removed: [(sequence: SequenceNumber, record: Record)] = []

    init(
        number: Int, disk: SimulatedDisk, views: DeviceViews?, app: DeviceApp, keys: [LogKey], store: LocalStore,
        engine: SyncEngine, diskRandom: SeededRandom
    ) {
        self.diskRandom = diskRandom
        self.keys = keys
        self.number = number
        self.app = app
        self.disk = disk
        self.views = views
        self.store = store
        self.engine = engine
    }

    /// Whether the process has to end: the disk has stopped, or has refused a call, after which the log may be closed.
    var hasCrashed: Bool { disk.hasCrashed || hasDiskError }

    /// The number of the call of the disk that fails with an error.
    private var failingCall: Int?

    /// Whether a call of the disk has failed with an error.
    var hasDiskError: Bool { failingCall.map { disk.calls > $0 } ?? false }

    /// Whether a planned stop of the disk is the reason if the disk has crashed.
    private(set) var hasPlannedStop = false

    /// Stops the disk at one of its next changing calls, or lets that call fail.
    ///
    /// - Parameters:
    ///   - calls: The number of calls before that one.
    ///   - mayFail: Whether it may fail, which it does in two of five cases.
    func planStop(after calls: Int, mayFail: Bool) {
        guard !hasCrashed else { return }
        let call = disk.calls + calls
        hasPlannedStop = !(mayFail && diskRandom.chance(40))
        failingCall = hasPlannedStop ? nil : call
        disk.fail(atCall: call, hasPlannedStop ? .crash : drawnError())
    }

    private func drawnError() -> SimulatedDisk.Fault {
        let number: Int32 = diskRandom.chance(50) ? 5 : 28
        let parts: [SimulatedDisk.Fault.RetainedPart] = [.none, .half, .all]
        return .fail(number: number, writes: parts[diskRandom.below(3)], syncs: parts[diskRandom.below(2)])
    }

    /// Replaces the disk.
    ///
    /// - Parameter isStopping: Whether the new disk stops at one of its next changing calls.
    func use(_ image: SimulatedDisk, isStopping: Bool) {
        (disk, hasPlannedStop, failingCall) = (image, isStopping, nil)
    }

    func crash() {
        if !hasCrashed { (hasPlannedStop, failingCall) = (false, nil) }
        disk.crash()
        views?.crash()
    }

    /// Marks the operations as durable that the log had to sync before a modification is sent: those before the record
    /// of its batch. A repeated batch has a record already.
    func makesDurable() {
        guard !acknowledged.isSubset(of: durable) else { return }
        var tags = Set(removed.compactMap(\.record.customTag))
        var sent: Set<String> = []
        let decoder = RecordDecoder()
        try? LogReader(directory: Self.files.log, keys: keys, fileSystem: disk).forEach { record in
            // Decodes only operations, because most of a log consists of pages.
            switch record.kind {
            case RecordCodec.RecordKind.operation.rawValue:
                let decoded = try decoder.decode(kind: record.kind, payload: record.payload)
                if let tag = decoded.customTag { tags.insert(tag) }
            case RecordCodec.RecordKind.batchPrepared.rawValue: sent = tags
            default: break
            }
        }
        durable.formUnion(acknowledged.intersection(sent))
    }

    /// Limits what the log must contain after a power loss to that which it had to sync.
    func losePower(survivesPowerLoss: Bool) {
        guard !survivesPowerLoss else { return }
        forgotten.formUnion(acknowledged.subtracting(durable))
        acknowledged = durable
        (clientOnly, app.drafts.isStale) = ([:], true)
    }

    /// Disables further faults of the disk.
    func calmDisk() {
        disk.fail(atCall: .max, .crash)
        if !hasCrashed { (hasPlannedStop, failingCall) = (false, nil) }
    }

    /// Returns a name that is unique over all devices of the run.
    func name(_ kind: String) -> String {
        names += 1
        return "\(kind)\(number)-\(names)"
    }

    /// Returns the content of a request that must not leave the device: names that only its store has, or values of a
    /// draft that is not active.
    func leak(in request: WireRequest) -> String? {
        // Bytes, because the search for characters in each request would take much of a run's time.
        let sent = Array(request.url.utf8) + request.body
        func contains(_ text: String) -> Bool { sent.contains(text: text) }
        if let name = FieldService.localNames.first(where: contains) { return "the client-only \(name)" }
        guard request.method != "GET" else { return nil }
        return app.drafts.unsent.sorted().first { contains("\"\($0)\"") }.map { "\($0) of a draft" }
    }

    static let files = StoreFiles(directory: "/store")

    /// Returns the records of the log on the disk.
    func records(on disk: SimulatedDisk) throws -> [(sequence: SequenceNumber, record: Record)] {
        let reader = try LogReader(directory: Self.files.log, keys: keys, fileSystem: disk)
        var records: [(SequenceNumber, Record)] = []
        let decoder = RecordDecoder()
        try reader.forEach {
            records.append(($0.sequence, try decoder.decode(kind: $0.kind, payload: $0.payload)))
        }
        return records
    }

    func records() throws -> [(sequence: SequenceNumber, record: Record)] { try records(on: disk) }

    /// Returns the custom tags of all operations in the log on the disk, and of those before its first record, which a
    /// compaction removed. `removed` also contains records that a loss of power took with the compaction.
    func customTags(on disk: SimulatedDisk) throws -> Set<String> {
        var tags: Set<String> = []
        var first: SequenceNumber?
        let decoder = RecordDecoder()
        // Decodes only operations, because most of a log consists of pages.
        try LogReader(directory: Self.files.log, keys: keys, fileSystem: disk).forEach { record in
            first = first ?? record.sequence
            guard record.kind == RecordCodec.RecordKind.operation.rawValue else { return }
            let decoded = try decoder.decode(kind: record.kind, payload: record.payload)
            if let tag = decoded.customTag { tags.insert(tag) }
        }
        return tags.union(removed(before: first).compactMap(\.record.customTag))
    }

    func allRecords() throws -> [(sequence: SequenceNumber, record: Record)] { try allRecords(on: disk) }

    /// Returns the records of the log on the disk, preceded by those that a compaction removed.
    private func allRecords(on disk: SimulatedDisk) throws -> [(sequence: SequenceNumber, record: Record)] {
        let records = try records(on: disk)
        return removed(before: records.first?.sequence) + records
    }

    /// Returns the records that a compaction removed from a log whose first record is `first`.
    private func removed(before first: SequenceNumber?) -> [(sequence: SequenceNumber, record: Record)] {
        guard let first else { return removed }
        return removed.filter { $0.sequence < first }
    }
}

extension Record {
    /// The custom tag of the operation; nil for other records.
    fileprivate var customTag: String? {
        if case .operation(let operation) = body { operation.customTag } else { nil }
    }
}
