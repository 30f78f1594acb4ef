import DiskSimulation
import OperationLog
import SyncCore

@testable import Views

/// Views on a simulated disk, plain or encrypted.
final class ViewsOnDisk {
    let disk: SimulatedDisk
    private let key: ViewsKey?
    private let mount: DiskMount

    init(_ disk: SimulatedDisk = SimulatedDisk(), isSealed: Bool) {
        self.disk = disk
        key = isSealed ? SealedViewsFile.key(1) : nil
        // Registered before the disk takes its calls.
        _ = PageChecks.vfsName
        mount = DiskMount(disk)
    }

    /// The same views on another disk.
    func on(_ disk: SimulatedDisk) -> ViewsOnDisk { ViewsOnDisk(disk, isSealed: key != nil) }

    /// - Parameter boot: the run of the machine.
    func open(boot: String = "Monday") throws -> SQLiteState {
        try SQLiteState(path: mount.root + "/store/views.sqlite", key: key, store: "test", boot: boot)
    }

    func openState(boot: String = "Monday", flushLimit: Int = 20_000) throws -> WorkingSet {
        let views = try open(boot: boot)
        // The write-ahead log is written back after so few pages that a transaction sees it.
        try views.connection.execute("PRAGMA wal_autocheckpoint = 8")
        let state = WorkingSet(over: views)
        state.flushLimit = flushLimit
        return state
    }
}

extension SimulatedDisk {
    /// Lets `body` meet the fault at a call that changes something, counted from here on; `body` is over when the disk works
    /// again.
    func failing<T>(
        atNext call: Int, _ fault: Fault, forEver: Bool = false, _ body: () throws -> T
    ) rethrows -> T {
        fail(atCall: calls + call, fault, forEver: forEver)
        defer { heal() }
        return try body()
    }

    func heal() { fail(atCall: .max, .crash) }
}
