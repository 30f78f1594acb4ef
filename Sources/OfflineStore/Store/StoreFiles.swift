/// The paths of a store's parts. A store is a directory.
package struct StoreFiles: Sendable, Hashable {
    package let directory: String

    package init(directory: String) { self.directory = directory }

    /// The directory of the log's segments, which are the source of truth.
    package var log: String { directory + "/log" }
    /// The file of the views. It is derived and may be deleted at any time. It is encrypted if the store is.
    package var views: String { directory + "/views.sqlite" }
    /// The file with the service root and the format version.
    package var description: String { directory + "/store.json" }
    /// The directory of media streams, with one file for each content.
    package var streams: String { directory + "/streams" }
    /// A Boolean value that indicates whether there are media streams.
    package var hasStreams: Bool { !StreamFiles(directory: streams).isEmpty }
    package var lock: String { directory + "/LOCK" }

    /// The files of the views.
    var viewFiles: [String] { Self.database(views) }
    /// The files in which a compaction folds the log again.
    var proof: [String] { Self.database(directory + "/proof.sqlite") }

    private static func database(_ path: String) -> [String] { [path, path + "-wal", path + "-shm"] }
}

/// Directories that contain stores.
extension StoreFiles {
    /// Returns the names of the directories that contain a store, unordered.
    package static func stores(in directory: String) -> [String] {
        StoreDirectory.names(directory).filter {
            StoreDirectory.exists(StoreFiles(directory: directory + "/" + $0).description)
        }
    }

    /// Creates a directory with its parents, readable by its owner only. Succeeds if it exists.
    package static func create(_ directory: String) throws(TidelogError) {
        try StoreDirectory.create(StoreFiles(directory: directory))
    }
}
