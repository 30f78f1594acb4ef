package import OperationLog

/// A store under construction, which has another name until it is complete. Only the remains of a failed attempt are
/// removed.
package struct UnfinishedStore: Sendable {
    /// The paths of its parts during the construction.
    package let files: StoreFiles
    private let directory: String

    /// Begins a store.
    ///
    /// - Throws: `invalidRequest` if the directory exists, or if the temporary name belongs to something other than an
    ///   unfinished store.
    package init(_ directory: String) throws(TidelogError) {
        var name = directory[...]
        while name.count > 1, name.last == "/" { name.removeLast() }
        guard !name.isEmpty, !StoreDirectory.exists(String(name)) else {
            throw TidelogError(
                .invalidRequest, "The directory already exists.", place: directory,
                recovery: "Choose another directory.")
        }
        self.directory = String(name)
        files = StoreFiles(directory: name + ".unfinished")
        guard Self.isUnfinished(files) else {
            throw TidelogError(
                .invalidRequest, "The path exists and is not an unfinished store.", place: files.directory,
                recovery: "Move it away, or choose another directory.")
        }
        discard()
        try StoreDirectory.create(files)
    }

    /// Writes the store's description and gives it its name.
    ///
    /// - Parameter keys: The keys of its log.
    package func finish(_ description: StoreDescription, keys: [LogKey] = []) throws(TidelogError) {
        try description.write(files, keys: keys)
        try StoreDirectory.move(files.directory, to: directory)
    }

    /// Removes it from the disk, except for files that do not belong to a store.
    package func discard() {
        StoreDirectory.remove(StoreDirectory.names(files.log).filter(Self.isLogFile).map { files.log + "/" + $0 })
        StoreDirectory.removeEmptyFolder(files.log)
        StoreDirectory.remove([files.description, files.description + ".new"])
        StoreDirectory.removeEmptyFolder(files.directory)
    }

    /// Returns whether the directory is missing, or contains only the remains of a failed attempt.
    private static func isUnfinished(_ files: StoreFiles) -> Bool {
        guard StoreDirectory.exists(files.directory) else { return true }
        return StoreDirectory.names(files.directory).allSatisfy {
            ["log", "store.json", "store.json.new"].contains($0)
        }
            && StoreDirectory.names(files.log).allSatisfy(isLogFile)
    }

    private static func isLogFile(_ name: String) -> Bool {
        let suffixes = [".segment", ".snapshot", ".segment.new", ".snapshot.new"]
        return name.utf8.prefix(20).allSatisfy { (0x30...0x39).contains($0) }
            && suffixes.contains(String(decoding: name.utf8.dropFirst(20), as: UTF8.self))
    }
}
