import EDM
package import OperationLog
import Operations

/// Salvages the readable part of a damaged store. See ``LogRepair`` for the repair of its log.
package struct StoreRepair {
    package let files: StoreFiles
    private let keys: [LogKey]

    /// Creates a repair.
    ///
    /// - Parameter keys: All keys of the log.
    package init(_ files: StoreFiles, keys: [LogKey] = []) {
        self.files = files
        self.keys = LogKey.requiring(keys, in: files)
    }

    private func repair(of files: StoreFiles) -> LogRepair {
        LogRepair(directory: files.log, keys: keys) { record in
            do throws(CodecError) {
                _ = try RecordCodec.decode(kind: record.kind, payload: record.payload)
                return nil
            } catch {
                return "\(error)"
            }
        }
    }

    /// Returns the plan of a repair. It changes nothing and takes no lock.
    package func plan() throws(TidelogError) -> RepairPlan {
        do throws(LogError) {
            return try repair(of: files).plan()
        } catch {
            throw TidelogError(error)
        }
    }

    /// Salvages the store to a directory that must not exist and that receives its name only when it is complete. The
    /// damaged store does not change.
    ///
    /// - Returns: Nil if nothing is damaged. Then no store is created.
    package func salvage(to directory: String) throws(TidelogError) -> RepairPlan.Salvage? {
        guard !StoreDirectory.exists(directory) else {
            throw TidelogError(
                .invalidRequest, "The directory already exists.", place: directory,
                recovery: "Choose another directory.")
        }
        guard case .salvage = try plan() else { return nil }
        let unfinished = StoreFiles(directory: directory + ".repairing")
        try StoreDirectory.create(unfinished)
        do {
            // From an earlier attempt.
            StoreDirectory.removeFolder(unfinished.log)
            let salvage = try repair(of: files).salvage(to: unfinished.log)
            try writeDescription(unfinished)
            try StoreDirectory.move(unfinished.directory, to: directory)
            return salvage
        } catch let error as LogError {
            throw TidelogError(error)
        } catch let error as TidelogError {
            throw error
        } catch {
            throw TidelogError(.storage, "\(error)", place: directory, cause: error)
        }
    }

    /// Replaces the damaged log with a salvaged one, keeps the damaged one next to it, and removes the views, which are
    /// rebuilt when the store is opened.
    ///
    /// - Throws: `locked` while the store is in use.
    package func inPlace() throws(TidelogError) -> LogRepair.Outcome {
        do {
            let outcome = try repair(of: files).inPlace(lockPath: files.lock) {
                StoreDirectory.remove(files.viewFiles)
            }
            if !isDescribed { try writeDescription(files) }
            return outcome
        } catch let error as LogError {
            throw TidelogError(error)
        } catch let error as TidelogError {
            throw error
        } catch {
            throw TidelogError(.storage, "\(error)", place: files.directory, cause: error)
        }
    }

    /// Removes only the views, which are rebuilt from the log when the store is opened. A directory or link in their
    /// place has to be removed manually.
    ///
    /// - Throws: `locked` while the store is in use, `storage` if something other than a file has their name.
    package func removeViews() throws(TidelogError) {
        for path in files.viewFiles { try StoreDirectory.check(path, is: .regular) }
        let lock = try StoreRemoval(files).lock()
        defer { lock.release() }
        StoreDirectory.remove(files.viewFiles)
    }

    private var isDescribed: Bool { (try? StoreDescription.read(files, keys: keys)) != nil }

    /// Writes the previous description, or one with the service root of the log. If neither is available, the next
    /// `init` writes it.
    private func writeDescription(_ target: StoreFiles) throws {
        if let description = try? StoreDescription.read(files, keys: keys) {
            return try description.write(target, keys: keys)
        }
        if let root = try lastServiceRoot(target) { try StoreDescription(serviceRoot: root).write(target, keys: keys) }
    }

    private func lastServiceRoot(_ files: StoreFiles) throws -> String? {
        var root: String?
        try LogReader(directory: files.log, keys: keys).forEach { record in
            guard record.kind == RecordCodec.RecordKind.serviceInstalled.rawValue,
                case .serviceInstalled(let service) = try RecordCodec.decode(
                    kind: record.kind, payload: record.payload
                ).body
            else { return }
            root = service.root
        }
        return root
    }
}
