extension OperationLog {
    public struct Options: Sendable {
        /// What has happened to a commit when ``OperationLog/append(_:)-(Commit)`` returns.
        public enum Durability: Sendable, Hashable {
            /// It survives a loss of power; the disk was asked for this commit alone.
            case everyCommit
            /// It survives a loss of power. Commits that come while the disk is busy are made durable together: one of
            /// them asks the disk for all.
            case grouped
            /// The operating system has it: it survives the end of the process, and a loss of power so much later.
            case interval(milliseconds: Int)
            /// The operating system has it: it survives the end of the process. ``OperationLog/sync()`` does the rest.
            case none
        }

        public enum Compression: Sendable, Hashable {
            case stored
            /// The level as zstd counts it; one out of range is moved to the nearest.
            case zstd(level: Int)
        }

        /// What becomes of a segment that is full.
        public enum Sealing: Sendable, Hashable {
            /// It stays as it was written.
            case asWritten
            /// In the background it is written once more, with large blocks compressed at this level, and replaced.
            case repacked(level: Int)
        }

        public enum Creation: Sendable, Hashable {
            /// Where the directory has no log, a new one begins.
            case ifMissing
            /// Where the directory has no log, that is ``LogError/noLog(path:)``. For stores that should have one.
            case never
        }

        public var durability: Durability
        public var compression: Compression
        public var sealing: Sealing
        /// Where the values lie in the records. With it, repacking lays the values of each field side by side, which
        /// takes about half the space. It is not kept in the log, and reading needs none.
        public var layout: RecordLayout?
        public var creation: Creation
        /// A segment that has reached this many bytes is sealed before the next commit. It can become longer by one
        /// commit.
        public var segmentSize: UInt64
        /// How many bytes of the current segment the disk sets aside ahead of what is written; 0: none. Where the file
        /// system cannot do it, or has not the room, the log goes on without.
        public var preallocation: UInt64
        /// The most uncompressed bytes between two places where reading can begin. More compresses better; less makes
        /// reading from the middle faster.
        public var runSize: Int
        /// Nil takes what the log says; a new log draws one.
        public var storeIdentifier: StoreIdentifier?
        /// The first one encrypts new segments; all of them are tried for reading. None: new segments are not encrypted.
        /// Where the last segment has another key than the first of these, or none, the next append begins a new one;
        /// nothing that is there is rewritten.
        public var keys: [LogKey]
        /// The lock file; nil means `LOCK` beside the log's directory. Its directory must exist.
        public var lockPath: String?

        public init(
            durability: Durability = .everyCommit, compression: Compression = .zstd(level: 1),
            sealing: Sealing = .repacked(level: 12), layout: RecordLayout? = nil, creation: Creation = .ifMissing,
            segmentSize: UInt64 = 16_777_216, preallocation: UInt64 = 0,
            runSize: Int = 262_144,
            storeIdentifier: StoreIdentifier? = nil, keys: [LogKey] = [], lockPath: String? = nil
        ) {
            self.durability = durability
            self.compression = compression
            self.sealing = sealing
            self.layout = layout
            self.creation = creation
            self.segmentSize = segmentSize
            self.preallocation = preallocation
            self.runSize = runSize
            self.storeIdentifier = storeIdentifier
            self.keys = keys
            self.lockPath = lockPath
        }
    }
}
