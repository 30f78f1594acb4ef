import DiskSimulation
import OfflineStore
import SeededRandom

/// The files of a device's views, on a disk of their own.
///
/// How often SQLite writes, and what, is no part of a run: it may differ from one to the next. So nothing that a run does depends
/// on it, and the files have random numbers of their own. They are derived: what a crash leaves of them must not matter.
final class DeviceViews {
    private(set) var disk = SimulatedDisk(directories: [])
    private var mount: DiskMount
    private var random: SeededRandom
    private var boot = 1
    /// As the files were between two steps a while ago, in the same run of the machine.
    private var earlier: SimulatedDisk?

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        mount = DiskMount(disk)
    }

    var place: SimulatedViews { SimulatedViews(disk, root: mount.root, boot: "boot \(boot)") }

    /// Now and then keeps the files as they are.
    func passTime() { if random.chance(10) { earlier = disk.copy() } }

    /// Nothing is written any more; ``restart(keepsWrites:)`` follows.
    func crash() { disk.crash() }

    /// The process begins anew on what the crash has left.
    ///
    /// - Parameter keepsWrites: whether only the process has ended, and not the machine lost its power.
    func restart(keepsWrites: Bool) {
        guard keepsWrites else {
            boot += 1
            return use(disk.random(&random))
        }
        // Further behind the log than a process can leave them, but no other than it can.
        if let earlier, random.chance(30) { return use(earlier.copy()) }
        use(disk.copy())
    }

    /// The process begins anew after it has closed the store. The files may have been deleted meanwhile.
    func reopen() {
        if random.chance(10) { use(SimulatedDisk(directories: [])) }
    }

    private func use(_ image: SimulatedDisk) {
        disk = image
        mount = DiskMount(image)
        earlier = nil
    }
}

/// How the devices of a run keep their state; the run must not depend on it.
struct ViewsHabits {
    /// Whether the views are files.
    let areFiles: Bool
    /// How many changed items are kept in memory; nil for the store's own number.
    let flushLimit: Int?

    /// - Parameters:
    ///   - areFiles: nil leaves it to the seed.
    ///   - flushLimit: the same.
    init(seed: UInt64, areFiles: Bool?, flushLimit: Int?) {
        // Not those of the run.
        var random = SeededRandom(seed: ~seed)
        let drawn = (random.chance(25), [nil, 1, 7][random.below(3)])
        self.areFiles = areFiles ?? drawn.0
        self.flushLimit = flushLimit ?? drawn.1
    }

    var line: String {
        "views in \(areFiles ? "files" : "memory"), written after \(flushLimit.map { "\($0) items and " } ?? "")each commit"
    }
}
