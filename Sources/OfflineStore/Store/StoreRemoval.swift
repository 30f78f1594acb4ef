import OperationLog
import SyncCore

/// Deletes a store: its log and everything derived from it.
///
/// Only files that a store creates are removed. If the directory contains other files, they and the directory are kept.
package struct StoreRemoval: Sendable {
    private let files: StoreFiles

    package init(_ files: StoreFiles) { self.files = files }

    /// Deletes the store.
    ///
    /// - Parameters:
    ///   - force: Whether the store is deleted even if operations are pending, or if this cannot be determined.
    ///   - options: Options with the keys of an encrypted store. Not needed with `force`.
    /// - Throws: `noStore` if the directory contains no store, `refused(.notAllowed)` if operations are pending,
    ///   `locked` while the store is open.
    package func run(force: Bool, options: LocalStoreOptions) async throws(TidelogError) {
        try check()
        if force { return try remove(try lock()) }
        let store: LocalStore
        do throws(TidelogError) {
            store = try await LocalStore(files, creating: false, options: options)
        } catch {
            // An earlier removal already removed the log.
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

    /// Deletes an open store, which closes it.
    ///
    /// - Throws: `refused(.notAllowed)` if operations are pending. Then the store stays open.
    package func run(_ store: LocalStore, force: Bool) async throws(TidelogError) {
        try check()
        try await store.close(force: force, removing: self)
    }

    /// Checks that the directory has a description, without which it is not recognized as a store.
    private func check() throws(TidelogError) {
        guard try StoreDescription.read(files) != nil else {
            throw TidelogError(
                .noStore, "The directory contains no store, and nothing was deleted.", place: files.directory,
                recovery: "Check the name of the directory.")
        }
    }

    /// Checks that no operations are pending.
    ///
    /// - Throws: `refused(.notAllowed)` if operations are pending.
    static func refuse(pending count: Int, _ files: StoreFiles) throws(TidelogError) {
        guard count > 0 else { return }
        throw TidelogError(
            .refused(.notAllowed),
            "The store has \(count == 1 ? "an operation" : "\(count) operations") that the service has not confirmed.",
            place: files.directory, recovery: "Upload or undo them first, or force the deletion.")
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

    /// Removes the files of the store.
    ///
    /// - Parameter lock: The lock of the store, which is released.
    func remove(_ lock: any FileLock) throws(TidelogError) {
        defer { lock.release() }
        // The log is removed in one step, so that a part of it is never mistaken for a log. The description is removed
        // last, because until then it identifies the remains of a store.
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
