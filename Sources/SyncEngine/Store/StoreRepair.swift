import EDM
import ODataWire
public import OperationLog
import Operations

/// Saves what can be read of a damaged store. See ``LogRepair`` for what becomes of its log.
public struct StoreRepair {
    public let files: StoreFiles
    private let keys: [LogKey]

    /// - Parameter keys: all that the log is encrypted with.
    public init(_ files: StoreFiles, keys: [LogKey] = []) {
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

    /// What a repair would do. Changes nothing and takes no lock.
    public func plan() throws(TidelogError) -> RepairPlan {
        do throws(LogError) {
            return try repair(of: files).plan()
        } catch {
            throw TidelogError(error)
        }
    }

    /// Makes a store of what can be read in a directory that must not exist; it has its name when it is whole. The damaged
    /// one is not changed.
    ///
    /// - Returns: Nil where nothing is damaged; then no store is made.
    public func salvage(to directory: String) throws(TidelogError) -> RepairPlan.Salvage? {
        guard !StoreDirectory.exists(directory) else {
            throw TidelogError(
                .invalidRequest, "The directory exists already.", place: directory, recovery: "Name another one.")
        }
        guard case .salvage = try plan() else { return nil }
        let unfinished = StoreFiles(directory: directory + ".repairing")
        try StoreDirectory.create(unfinished)
        do {
            // Of an earlier attempt.
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

    /// Puts a salvaged log in the place of the damaged one, which is kept beside it, and removes the views: they are made
    /// again when the store is opened.
    ///
    /// - Throws: `locked` while the store is in use.
    public func inPlace() throws(TidelogError) -> LogRepair.Outcome {
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

    /// Removes the views, which are made again from the log when the store is opened, and nothing else. A directory or a link
    /// in their place goes only by hand.
    ///
    /// - Throws: `locked` while the store is in use, `storage` if something other than a file has their name.
    public func removeViews() throws(TidelogError) {
        for path in files.viewFiles { try StoreDirectory.check(path, is: .regular) }
        let lock = try StoreRemoval(files).lock()
        defer { lock.release() }
        StoreDirectory.remove(files.viewFiles)
    }

    private var isDescribed: Bool { (try? StoreDescription.read(files, keys: keys)) != nil }

    /// `store.json` as it was, or else with the root that the log has. Where neither tells, the next `init` writes it.
    private func writeDescription(_ target: StoreFiles) throws {
        if let description = try? StoreDescription.read(files, keys: keys) {
            return try description.write(target, keys: keys)
        }
        if let root = try lastServiceRoot(target) { try StoreDescription(serviceRoot: root).write(target, keys: keys) }
    }

    private func lastServiceRoot(_ files: StoreFiles) throws -> String? {
        var root: String?
        try LogReader(directory: files.log, keys: keys).forEach { record in
            guard record.kind == RecordCodec.Kind.serviceInstalled.rawValue,
                case .serviceInstalled(let service) = try RecordCodec.decode(
                    kind: record.kind, payload: record.payload
                ).body
            else { return }
            root = service.root
        }
        return root
    }
}
