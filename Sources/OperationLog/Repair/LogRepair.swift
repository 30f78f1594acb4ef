/// Salvages the readable records of a damaged log.
///
/// The damaged files are never written to. Single changed bits are corrected on reading. Every readable record is
/// written to a new log under its sequence number. A record of kind ``lostKind`` without payload replaces each
/// unreadable record, so that later records keep their numbers. Commit boundaries are not preserved.
package struct LogRepair {
    /// The kind of the records that replace lost ones.
    package static let lostKind: UInt8 = 0

    /// The maximum number of consecutive lost records. A block that implies a larger gap before it is ignored.
    static let maximumGap: UInt64 = 1 << 30

    package let directory: String
    let keys: [LogKey]
    let check: ((LogRecord) -> String?)?
    let fileSystem: any FileSystem

    /// Creates a repair.
    ///
    /// - Parameters:
    ///   - directory: The directory of the damaged log.
    ///   - keys: All keys that segments are encrypted with. Without them nothing can be salvaged.
    ///   - check: Returns why a record's payload is invalid for its kind, or nil. An invalid record counts as lost.
    package init(
        directory: String, keys: [LogKey] = [], check: ((LogRecord) -> String?)? = nil,
        fileSystem: any FileSystem = PosixFileSystem()
    ) {
        self.directory = directory
        self.keys = keys
        self.check = check
        self.fileSystem = fileSystem
    }

    /// Reads the whole log and returns the actions of a repair. Changes nothing and takes no lock.
    ///
    /// - Throws: ``LogError/noLog(path:)``, ``LogError/unsupported(path:offset:feature:)``,
    ///   ``LogError/keyRequired(path:)``, ``LogError/wrongKey(path:)``, or a read error: data that a disk fails to
    ///   return does not count as lost.
    package func plan() throws(LogError) -> RepairPlan {
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
        let mending = try BitErrorCorrection(fileSystem, directory: directory, keys: keys)
        return .salvage(try run(try damagedLog(mending), mending, damages) { _ throws(LogError) in })
    }

    /// Writes the new log to `target`, which must not exist.
    ///
    /// The directory gets this name after everything in it is durable. Removes the files of an earlier attempt in the
    /// directory with the suffix `.repairing`.
    ///
    /// - Returns: The same salvage that ``plan()`` returns.
    package func salvage(to target: String) throws(LogError) -> RepairPlan.Salvage {
        let damages =
            if case .salvage(let salvage) = try plan() { salvage.damages } else { [LogDamage]() }
        let mending = try BitErrorCorrection(fileSystem, directory: directory, keys: keys)
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

    private func damagedLog(_ mending: BitErrorCorrection) throws(LogError) -> DamagedLog {
        try DamagedLog(mending.fileSystem, directory: directory, keys: keys)
    }

    private func run(
        _ log: DamagedLog, _ mending: BitErrorCorrection, _ damages: [LogDamage],
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
