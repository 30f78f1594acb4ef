/// Saves what can be read of a damaged log.
///
/// The damaged files are never written to. Single bits that changed are read as they were. Every record that can be read goes into a new log under the number that it
/// had; in the place of each that cannot stands a record of kind ``lostKind`` without payload, so that those behind it
/// keep their numbers. Commits are not kept apart.
public struct LogRepair {
    /// The kind of the records that stand for lost ones.
    public static let lostKind: UInt8 = 0

    /// The most records in a row that are taken to be lost. A block that says that more are missing in front of it is not
    /// believed.
    static let maximumGap: UInt64 = 1 << 30

    public let directory: String
    let keys: [LogKey]
    let check: ((LogRecord) -> String?)?
    let fileSystem: any FileSystem

    /// - Parameters:
    ///   - directory: Of the damaged log's segments.
    ///   - keys: All that segments are encrypted with. Without them nothing can be saved.
    ///   - check: Says why a record's payload is not what its kind demands; such a record counts as lost.
    public init(
        directory: String, keys: [LogKey] = [], check: ((LogRecord) -> String?)? = nil,
        fileSystem: any FileSystem = PosixFileSystem()
    ) {
        self.directory = directory
        self.keys = keys
        self.check = check
        self.fileSystem = fileSystem
    }

    /// Reads everything and says what a repair would do. Changes nothing and takes no lock.
    ///
    /// - Throws: ``LogError/noLog(path:)``, ``LogError/unsupported(path:offset:feature:)``,
    ///   ``LogError/keyRequired(path:)``, ``LogError/wrongKey(path:)``, or a failure to read: what a disk does not give back
    ///   is not taken for lost.
    public func plan() throws(LogError) -> RepairPlan {
        let damages: [LogDamage]
        do throws(LogError) {
            let verification = try LogVerification.verify(
                directory: directory, keys: keys, check: check, fileSystem: fileSystem)
            if verification.isSound { return verification.tail.map(RepairPlan.tornTail) ?? .nothing }
            damages = verification.damages
        } catch {
            // Only snapshots are left.
            guard case .noLog = error else { throw error }
            damages = []
        }
        let mending = try LogMending(fileSystem, directory: directory, keys: keys)
        return .salvage(try run(try damagedLog(mending), mending, damages) { _ throws(LogError) in })
    }

    /// Writes the new log. The directory must not exist; it gets its name when everything in it is durable. What an earlier
    /// attempt left under the name with `.repairing` behind it is removed.
    ///
    /// - Returns: What ``plan()`` said of it.
    public func salvage(to target: String) throws(LogError) -> RepairPlan.Salvage {
        let damages =
            if case .salvage(let salvage) = try plan() { salvage.damages } else { [LogDamage]() }
        let mending = try LogMending(fileSystem, directory: directory, keys: keys)
        let log = try damagedLog(mending)
        let unfinished = target + ".repairing"
        try onFiles { () throws(FileSystemError) in
            try fileSystem.createDirectory(unfinished)
            for name in try fileSystem.list(unfinished) { try fileSystem.remove(unfinished + "/" + name) }
        }
        let (first, chain) = log.beginning
        let writer = SalvageWriter(
            mending.fileSystem, directory: unfinished, store: log.store, first: first, chain: chain ?? 0,
            isFirst: log.isBeginning, key: log.key,
            snapshots: log.snapshots.filter { $0.file.sequence >= first }, keys: keys)
        let salvage = try run(log, mending, damages) { item throws(LogError) in
            switch item {
            case .record(let record): try writer.add(kind: record.kind, payload: record.payload)
            case .lost(let range): for _ in range { try writer.add(kind: Self.lostKind, payload: []) }
            }
        }
        try writer.finish()
        try onFiles { () throws(FileSystemError) in
            try fileSystem.syncDirectory(unfinished)
            try fileSystem.rename(unfinished, to: target)
            try fileSystem.syncDirectory(parentDirectory(of: target))
        }
        return salvage
    }

    private func damagedLog(_ mending: LogMending) throws(LogError) -> DamagedLog {
        try DamagedLog(mending.fileSystem, directory: directory, keys: keys)
    }

    private func run(
        _ log: DamagedLog, _ mending: LogMending, _ damages: [LogDamage],
        _ body: (SalvageWalk.Item) throws(LogError) -> Void
    ) throws(LogError) -> RepairPlan.Salvage {
        let stretches = log.stretches
        let (first, chain) = log.beginning
        var salvage = RepairPlan.Salvage(
            damages: damages, mended: mending.bits, firstSequence: first, nextSequence: first)
        var walk = SalvageWalk(stretches, from: first, chain: chain, check: check)
        try walk.run(until: log.knownEnd(of: stretches)) { item throws(LogError) in
            switch item {
            case .record(let record):
                salvage.readable += 1
                salvage.nextSequence = record.sequence + 1
            case .lost(let range):
                salvage.lost.add(range)
                salvage.nextSequence = range.upperBound + 1
            }
            try body(item)
        }
        salvage.passedOver = log.passedOver + walk.passedOver
        salvage.snapshots = log.snapshots.map(\.file.sequence).filter {
            $0 >= first && $0 <= salvage.nextSequence
        }
        return salvage
    }
}

func parentDirectory(of path: String) -> String {
    var path = Substring(path)
    while path.count > 1, path.last == "/" { path.removeLast() }
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
}
