import OfflineStore
import OperationLog
import Operations

/// A copy of a part of a store in a separate directory.
struct StoreCopy {
    let directory: String

    private var files: StoreFiles { StoreFiles(directory: directory) }
    private var target: PosixFileSystem { PosixFileSystem() }

    /// Writes the store as of the given record: its log, description and streams.
    ///
    /// - Throws: `storage` if the directory cannot be written, `notFound` if a compaction has removed the position.
    func write(_ store: InspectedStore, through last: SequenceNumber) throws(TidelogError) {
        do throws(LogError) {
            let past = try HistoricalLog(
                directory: store.files.log, through: last, keys: store.keys, fileSystem: store.disk)
            try write(store, past)
        } catch {
            throw TidelogError(error)
        }
    }

    private func write(_ store: InspectedStore, _ past: HistoricalLog) throws(LogError) {
        do throws(FileSystemError) {
            for folder in [directory, files.log] { try target.createDirectory(folder) }
            for name in try past.fileSystem.list(store.files.log) {
                try copy(past.fileSystem, store.files.log + "/" + name, to: files.log + "/" + name)
            }
            try? copy(store.disk, store.files.description, to: files.description)
            guard store.files.hasStreams else { return }
            try target.createDirectory(files.streams)
            for name in try store.disk.list(store.files.streams) {
                try copy(store.disk, store.files.streams + "/" + name, to: files.streams + "/" + name)
            }
        } catch {
            throw .fileSystem(error)
        }
    }

    /// Writes only the description.
    func takeDescription(of store: InspectedStore) throws(FileSystemError) {
        guard (try? store.disk.open(store.files.description, .read))?.close() != nil else { return }
        try copy(store.disk, store.files.description, to: files.description)
    }

    private func copy(_ source: some FileSystem, _ path: String, to target: String) throws(FileSystemError) {
        try copy(source as any FileSystem, path, to: target)
    }

    private func copy(_ source: any FileSystem, _ path: String, to copy: String) throws(FileSystemError) {
        let from = try source.open(path, .read)
        defer { from.close() }
        let to = try target.open(copy, .create)
        defer { to.close() }
        let size = try from.size()
        var offset: UInt64 = 0
        while offset < size {
            let bytes = try from.read(at: offset, count: Int(min(size - offset, 1 << 20)))
            guard !bytes.isEmpty else { return }
            var failure: FileSystemError?
            bytes.withUnsafeBytes { bytes in
                do throws(FileSystemError) { try to.write(bytes, at: offset) } catch { failure = error }
            }
            if let failure { throw failure }
            offset += UInt64(bytes.count)
        }
    }
}
