package import OperationLog

/// A store that is being made file by file, under another name until it is whole. What a failed attempt left is removed, and
/// nothing else that is there.
package struct UnfinishedStore: Sendable {
    /// Where its parts are meanwhile.
    package let files: StoreFiles
    private let directory: String

    /// - Throws: `invalidRequest` where something has the name already, or the other name and is no unfinished store.
    package init(_ directory: String) throws(TidelogError) {
        var name = directory[...]
        while name.count > 1, name.last == "/" { name.removeLast() }
        guard !name.isEmpty, !StoreDirectory.exists(String(name)) else {
            throw TidelogError(
                .invalidRequest, "The directory exists already.", place: directory, recovery: "Name another one.")
        }
        self.directory = String(name)
        files = StoreFiles(directory: name + ".unfinished")
        guard Self.isUnfinished(files) else {
            throw TidelogError(
                .invalidRequest, "There is something that is no unfinished store.", place: files.directory,
                recovery: "Move it away, or name another directory.")
        }
        discard()
        try StoreDirectory.create(files)
    }

    /// Gives the store its description and its name.
    ///
    /// - Parameter keys: those that its log is encrypted with.
    package func finish(_ description: StoreDescription, keys: [LogKey] = []) throws(TidelogError) {
        try description.write(files, keys: keys)
        try StoreDirectory.move(files.directory, to: directory)
    }

    /// Takes it off the disk. What is not of a store stays.
    package func discard() {
        StoreDirectory.remove(StoreDirectory.names(files.log).filter(Self.isLogFile).map { files.log + "/" + $0 })
        StoreDirectory.removeEmptyFolder(files.log)
        StoreDirectory.remove([files.description, files.description + ".new"])
        StoreDirectory.removeEmptyFolder(files.directory)
    }

    /// Whether nothing is there, or only what a failed attempt leaves.
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
