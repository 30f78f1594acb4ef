import DiskSimulation
import EDM
import OperationLog
import Operations
import SyncEngine

/// One installation of the app: its disk, and the store and engine that run on it until the next crash.
final class Device {
    let number: Int
    var disk: SimulatedDisk
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

    init(number: Int, disk: SimulatedDisk, store: LocalStore, engine: SyncEngine) {
        self.number = number
        self.disk = disk
        self.store = store
        self.engine = engine
    }

    var hasCrashed: Bool { disk.hasCrashed }

    func crash() { disk.crash() }

    /// The disk will not stop any more.
    func calmDisk() { disk.fail(atCall: .max, .crash) }

    /// Unique over all devices of the run.
    func name(_ kind: String) -> String {
        names += 1
        return "\(kind)\(number)-\(names)"
    }

    static let files = StoreFiles(directory: "/store")

    /// What the log holds, as the files say.
    func records() throws -> [(sequence: SequenceNumber, record: Record)] {
        let reader = try LogReader(directory: Self.files.log, fileSystem: disk)
        var records: [(SequenceNumber, Record)] = []
        let decoder = RecordDecoder()
        try reader.forEach {
            records.append(($0.sequence, try decoder.decode(kind: $0.kind, payload: $0.payload)))
        }
        return records
    }

    /// What the log ever held, from its first record on.
    func allRecords() throws -> [(sequence: SequenceNumber, record: Record)] {
        let records = try records()
        guard let first = records.first?.sequence ?? removed.last.map({ $0.sequence + 1 }) else { return records }
        return removed.filter { $0.sequence < first } + records
    }
}
