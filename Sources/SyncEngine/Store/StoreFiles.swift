/// Where the parts of a store are. A store is a directory.
public struct StoreFiles: Sendable, Hashable {
    public let directory: String

    public init(directory: String) { self.directory = directory }

    /// The log's segments: the truth.
    public var log: String { directory + "/log" }
    /// Derived; may be deleted at any time. Encrypted where the store is.
    public var views: String { directory + "/views.sqlite" }
    /// The service root and the format version, for whoever looks at the directory.
    public var description: String { directory + "/store.json" }
    /// The bytes of media streams, a file for each content.
    public var streams: String { directory + "/streams" }
    /// Whether there are any.
    public var hasStreams: Bool { !StreamFiles(directory: streams).isEmpty }
    public var lock: String { directory + "/LOCK" }

    /// The files that make up the views.
    var viewFiles: [String] { Self.database(views) }
    /// The files in which a compaction folds the log once more.
    var proof: [String] { Self.database(directory + "/proof.sqlite") }

    private static func database(_ path: String) -> [String] { [path, path + "-wal", path + "-shm"] }
}
