import DiskSimulation
import OfflineStore
import SeededRandom

/// The files of a device's views, on a disk of their own.
///
/// The writes of SQLite are not deterministic. A run must therefore not depend on them: the files have their own
/// random numbers, and the trace of a run does not contain their state. The files are derived, so any state of them
/// after a crash must be acceptable.
final class DeviceViews {
    private(set) var disk = SimulatedDisk(directories: [])
    private var mount: DiskMount
    private var random: SeededRandom
    /// The random numbers for damage, so that the states of undamaged files do not depend on it.
    private var damages: SeededRandom
    private var boot = 1
    /// A copy of the files from an earlier step, in the same boot of the machine.
    private var earlier: SimulatedDisk?

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        damages = SeededRandom(seed: seed &* 41 &+ 7)
        mount = DiskMount(disk)
    }

    var place: SimulatedViews { SimulatedViews(disk, root: mount.root, boot: "boot \(boot)") }

    /// Replaces the earlier copy of the files by the current files, with a probability of 10 %.
    func passTime() { if random.chance(10) { earlier = disk.copy() } }

    /// Ends all writes to the files. Call ``restart(keepsWrites:)`` next.
    func crash() { disk.crash() }

    /// Continues after a crash, with files that it can have left.
    ///
    /// - Parameter keepsWrites: True after the end of the process alone; false after a power loss, which may lose
    ///   unsynced writes.
    func restart(keepsWrites: Bool) {
        guard keepsWrites else {
            boot += 1
            return use(disk.random(&random))
        }
        // An earlier state than the end of a process can leave, but otherwise a possible one.
        if let earlier, random.chance(30) { return use(earlier.copy()) }
        use(disk.copy())
    }

    /// Continues after the process has closed the store. Deletes the files with a probability of 10 %.
    func reopen() {
        if random.chance(10) { use(SimulatedDisk(directories: [])) }
    }

    private static let pageSize = 4_096

    /// Damages a file with a probability of 80 %: changes a bit, or replaces a page by another page.
    ///
    /// - Returns: Whether a file was damaged.
    func damage() -> Bool {
        let paths = disk.paths.filter { !disk[$0].isEmpty }
        guard !paths.isEmpty, damages.chance(80) else { return false }
        let path = paths[damages.below(paths.count)]
        var bytes = disk[path]
        let pages = bytes.count / Self.pageSize
        if pages > 1, damages.chance(50) {
            let (from, to) = (damages.below(pages) * Self.pageSize, damages.below(pages) * Self.pageSize)
            let page = Array(bytes[from..<from + Self.pageSize])
            guard bytes[to..<to + Self.pageSize] != page[...] else { return false }
            bytes.replaceSubrange(to..<to + Self.pageSize, with: page)
        } else {
            let bit = damages.below(bytes.count * 8)
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        }
        disk[path] = bytes
        return true
    }

    private func use(_ image: SimulatedDisk) {
        disk = image
        mount = DiskMount(image)
        earlier = nil
    }
}

/// The settings for the views of a run's devices. The result of the run must not depend on them.
struct ViewsSettings {
    /// Whether the views are files.
    let areFiles: Bool
    /// The maximum number of changed items in memory; nil for the store's default.
    let flushLimit: Int?

    /// Creates the settings that the seed determines, except for the given ones.
    ///
    /// - Parameters:
    ///   - seed: The seed of the run.
    ///   - areFiles: Whether the views are files; nil if the seed determines it.
    ///   - flushLimit: The maximum number of changed items in memory; nil if the seed determines it.
    init(seed: UInt64, areFiles: Bool?, flushLimit: Int?) {
        // Independent of the random numbers of the run.
        var random = SeededRandom(seed: ~seed)
        let drawn = (random.chance(25), [nil, 1, 7][random.below(3)])
        self.areFiles = areFiles ?? drawn.0
        self.flushLimit = flushLimit ?? drawn.1
    }

    var line: String {
        "views in \(areFiles ? "files" : "memory"), written after \(flushLimit.map { "\($0) items and " } ?? "")each commit"
    }
}
