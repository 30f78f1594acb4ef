/// A store that is being made file by file, under another name until it is whole. What a failed attempt left is removed.
package struct UnfinishedStore: Sendable {
    /// Where its parts are meanwhile.
    package let files: StoreFiles
    private let directory: String

    /// - Throws: `invalidRequest` where something has the name already.
    package init(_ directory: String) throws(TidelogError) {
        var name = directory[...]
        while name.count > 1, name.last == "/" { name.removeLast() }
        guard !name.isEmpty, !StoreDirectory.exists(String(name)) else {
            throw TidelogError(
                .invalidRequest, "The directory exists already.", place: directory, recovery: "Name another one.")
        }
        self.directory = String(name)
        files = StoreFiles(directory: name + ".unfinished")
        discard()
        try StoreDirectory.create(files)
    }

    /// Gives the store its description and its name.
    package func finish(_ description: StoreDescription) throws(TidelogError) {
        try description.write(files)
        try StoreDirectory.move(files.directory, to: directory)
    }

    /// Takes it off the disk.
    package func discard() {
        StoreDirectory.removeFolder(files.log)
        StoreDirectory.removeFolder(files.directory)
    }
}
