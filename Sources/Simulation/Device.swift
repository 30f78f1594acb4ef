import DiskSimulation
import EDM
import OperationLog
import Operations
import SyncEngine

/// One installation of the app: its disk, and the store and engine that run on it until the next crash.
final class Device {
    let number: Int
    var disk: SimulatedDisk
    /// Nil if they are in memory.
    let views: DeviceViews?
    var store: LocalStore
    var engine: SyncEngine
    var isOnline = true
    /// The custom tags of operations that the store has acknowledged.
    var acknowledged: Set<String> = []
    /// The readLinks of entities that the app has seen, by set.
    var links: [String: [String]] = [:]
    /// The number of marks, values and tags used so far.
    var names = 0
    /// The last values of ``FieldService/clientOnly`` by entity, as far as nothing was undone since.
    var clientOnly: [EntityID: Value] = [:]
    /// New entities that the user has declared to exist on the service, without their keys.
    var settledEntities: Set<EntityID> = []
    /// The content of the log before its last compaction.
    var removed: [(sequence: SequenceNumber, record: Record)] = []

    init(number: Int, disk: SimulatedDisk, views: DeviceViews?, store: LocalStore, engine: SyncEngine) {
        self.number = number
        self.disk = disk
        self.views = views
        self.store = store
        self.engine = engine
    }

    var hasCrashed: Bool { disk.hasCrashed }

    func crash() {
        disk.crash()
        views?.crash()
    }

    /// Disables further faults of the disk.
    func calmDisk() { disk.fail(atCall: .max, .crash) }

    /// Returns a name that is unique over all devices of the run.
    func name(_ kind: String) -> String {
        names += 1
        return "\(kind)\(number)-\(names)"
    }

    static let files = StoreFiles(directory: "/store")

    /// Returns the records of the log on the disk.
    func records(on disk: SimulatedDisk) throws -> [(sequence: SequenceNumber, record: Record)] {
        let reader = try LogReader(directory: Self.files.log, fileSystem: disk)
        var records: [(SequenceNumber, Record)] = []
        let decoder = RecordDecoder()
        try reader.forEach {
            records.append(($0.sequence, try decoder.decode(kind: $0.kind, payload: $0.payload)))
        }
        return records
    }

    func records() throws -> [(sequence: SequenceNumber, record: Record)] { try records(on: disk) }

    /// Returns the custom tags of all operations in the log on the disk, including those that a compaction removed.
    func customTags(on disk: SimulatedDisk) throws -> Set<String> {
        Set(
            try allRecords(on: disk).compactMap {
                if case .operation(let operation) = $0.record.body { operation.customTag } else { nil }
            })
    }

    func allRecords() throws -> [(sequence: SequenceNumber, record: Record)] { try allRecords(on: disk) }

    /// Returns the records of the log on the disk, preceded by those that a compaction removed.
    private func allRecords(on disk: SimulatedDisk) throws -> [(sequence: SequenceNumber, record: Record)] {
        let records = try records(on: disk)
        guard let first = records.first?.sequence ?? removed.last.map({ $0.sequence + 1 }) else { return records }
        return removed.filter { $0.sequence < first } + records
    }
}
