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
    /// Updates that met another device's change. What is sent again then, or taken back, is so by decision.
    var contested: Set<SequenceNumber> = []
    /// New entities of which somebody has said that they are there: of their keys nobody has said anything.
    var settledEntities: Set<EntityID> = []
    /// Operations that a compaction has taken from the log.
    var archive: [SequenceNumber: Operation] = [:]
    /// Those among them that cancelled each other out.
    var elidedArchive: Set<SequenceNumber> = []

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

    /// Every operation that the store ever acknowledged or holds, without what decisions about conflicts took from it.
    func operations() throws -> [SequenceNumber: Operation] {
        var operations = archive
        for (sequence, record) in try records() {
            switch record.body {
            case .operation(let operation): operations[sequence] = operation
            case .conflictResolved(let resolved):
                for part in resolved.dropped { operations[part.operation]?.drop(part) }
            default: break
            }
        }
        return operations
    }

    /// Updates of entities about which something was decided after they were made.
    func decided() throws -> Set<SequenceNumber> {
        let operations = try operations()
        var decided: Set<SequenceNumber> = []
        for (sequence, record) in try records() {
            guard case .conflictResolved(let resolved) = record.body else { continue }
            for (number, operation) in operations where number < sequence {
                if case .update(resolved.entity, _, _) = operation.action { decided.insert(number) }
            }
        }
        return decided
    }

    /// Every operation that ended because others cancelled it out.
    func elided() throws -> Set<SequenceNumber> {
        var elided = elidedArchive
        for (_, record) in try records() {
            if case .operationsElided(let operations) = record.body { elided.formUnion(operations) }
        }
        return elided
    }
}

extension Operation {
    fileprivate mutating func drop(_ part: ConflictResolved.Part) {
        guard case .update(let entity, var changes, var bindings) = action else { return }
        for name in part.properties { changes[name] = nil }
        bindings.removeAll { part.navigations.contains($0.navigation) }
        action = .update(entity, changes: changes, bindings: bindings)
    }
}
