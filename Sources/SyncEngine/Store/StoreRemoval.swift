import OperationLog
import SyncCore

/// Deletes a store: its log and all that was made of it.
///
/// Only what a store puts into its directory goes. Other files stay, and the directory with them.
public struct StoreRemoval: Sendable {
    private let files: StoreFiles

    public init(_ files: StoreFiles) { self.files = files }

    /// - Parameters:
    ///   - force: deletes the store although operations are pending, or although it cannot be told whether there are any.
    ///   - options: with the keys of an encrypted store; not needed by force.
    /// - Throws: `noStore` where the directory is none of a store, `refused(.notAllowed)` where operations are pending, `locked`
    ///   while the store is open.
    public func run(force: Bool, options: LocalStore.Options) async throws(TidelogError) {
        try check()
        if force { return try remove(try lock()) }
        let store: LocalStore
        do throws(TidelogError) {
            store = try await LocalStore(files, creating: false, options: options)
        } catch {
            // An earlier removal came as far as the log.
            guard error.code == .noStore else { throw error }
            return try remove(try lock())
        }
        do throws(TidelogError) {
            try await store.close(force: false, removing: self)
        } catch {
            await store.close()
            throw error
        }
    }

    /// Deletes the store that is open, which closes it.
    ///
    /// - Throws: `refused(.notAllowed)` where operations are pending; the store stays open then.
    public func run(_ store: LocalStore, force: Bool) async throws(TidelogError) {
        try check()
        try await store.close(force: force, removing: self)
    }

    /// A directory without a description is not known to be a store, whatever it holds.
    private func check() throws(TidelogError) {
        guard try StoreDescription.read(files) != nil else {
            throw TidelogError(
                .noStore, "There is no store, and nothing was deleted.", place: files.directory,
                recovery: "Check the directory's name.")
        }
    }

    /// Throws `refused(.notAllowed)` where operations are pending.
    static func refuse(pending count: Int, _ files: StoreFiles) throws(TidelogError) {
        guard count > 0 else { return }
        throw TidelogError(
            .refused(.notAllowed),
            "The store has \(count == 1 ? "an operation" : "\(count) operations") that the service does not have.",
            place: files.directory, recovery: "Upload or undo them first, or delete the store by force.")
    }

    func lock() throws(TidelogError) -> any FileLock {
        let outcome: LockOutcome
        do throws(FileSystemError) {
            outcome = try PosixFileSystem().lock(files.lock)
        } catch {
            throw TidelogError(.storage, "The store cannot be locked: \(error)", place: files.lock, cause: error)
        }
        switch outcome {
        case .taken(let lock): return lock
        case .heldByAnother(let processID):
            throw TidelogError(LogError.locked(path: files.lock, processID: processID))
        }
    }

    /// - Parameter lock: that of the store; it is released.
    func remove(_ lock: any FileLock) throws(TidelogError) {
        defer { lock.release() }
        // In one step, so that no half of a log is ever taken for one. The description goes last: until then it is known that
        // this is what is left of a store.
        let removed = files.log + ".removed"
        StoreDirectory.removeFolder(removed)
        if StoreDirectory.exists(files.log) { try StoreDirectory.move(files.log, to: removed) }
        StoreDirectory.removeFolder(removed)
        StoreDirectory.removeFolder(files.log + ".repaired")
        var number = 1
        while StoreDirectory.exists(files.log + ".damaged-\(number)") {
            StoreDirectory.removeFolder(files.log + ".damaged-\(number)")
            number += 1
        }
        StoreDirectory.removeFolder(files.streams)
        StoreDirectory.remove(files.viewFiles + files.proof + [files.description, files.lock])
        StoreDirectory.removeEmptyFolder(files.directory)
    }
}
