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
    /// Custom tags of what the store has acknowledged.
    var acknowledged: Set<String> = []
    /// Entities that the app has come to know, by set.
    var links: [String: [String]] = [:]
    /// How many marks, values and tags it has used up.
    var names = 0
    /// New entities of which somebody has said that they are there: of their keys nobody has said anything.
    var settledEntities: Set<EntityID> = []
    /// What the log held before its last compaction.
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

    /// The disk will not stop any more.
    func calmDisk() { disk.fail(atCall: .max, .crash) }

    /// Unique over all devices of the run.
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

    /// Returns the custom tags of all operations that the log on the disk has or had before a compaction.
    func customTags(on disk: SimulatedDisk) throws -> Set<String> {
        Set(
            try allRecords(on: disk).compactMap {
                if case .operation(let operation) = $0.record.body { operation.customTag } else { nil }
            })
    }

    func allRecords() throws -> [(sequence: SequenceNumber, record: Record)] { try allRecords(on: disk) }

    /// Returns the records of the log on the disk, and in front of them those that a compaction removed.
    private func allRecords(on disk: SimulatedDisk) throws -> [(sequence: SequenceNumber, record: Record)] {
        let records = try records(on: disk)
        guard let first = records.first?.sequence ?? removed.last.map({ $0.sequence + 1 }) else { return records }
        return removed.filter { $0.sequence < first } + records
    }
}
