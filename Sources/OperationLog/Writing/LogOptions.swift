package import Dispatch

extension OperationLog {
    package typealias Options = LogOptions
}

/// The settings of a log that is opened for appending.
package struct LogOptions: Sendable {
    /// The durability of a commit when ``OperationLog/append(_:)-(Commit)`` returns.
    package enum Durability: Sendable, Hashable {
        /// The commit survives a loss of power. It is synced on its own.
        case everyCommit
        /// The commit survives a loss of power. Commits that arrive while a sync runs share the next one.
        case grouped
        /// The commit has been passed to the operating system. It survives the end of the process, and a loss of
        /// power after the interval.
        case interval(milliseconds: Int)
        /// The commit has been passed to the operating system. It survives the end of the process.
        /// ``OperationLog/sync()`` makes it survive a loss of power.
        case none
    }

    package enum Compression: Sendable, Hashable {
        case stored
        /// zstd's compression level. A value out of range is clamped.
        case zstd(level: Int)
    }

    /// The treatment of a full segment.
    package enum Sealing: Sendable, Hashable {
        /// The segment stays as it was written.
        case asWritten
        /// The segment is rewritten in the background with large blocks, compressed at this level, and replaced.
        case repacked(level: Int)
    }

    package enum Creation: Sendable, Hashable {
        /// Creates a log if the directory has none.
        case ifMissing
        /// Throws ``LogError/noLog(path:)`` if the directory has no log. For stores that must already have one.
        case never
    }

    package var durability: Durability
    package var compression: Compression
    package var sealing: Sealing
    /// The positions of the values in the records.
    ///
    /// With a layout, recompression stores the values of each field together, which takes about half the space. The
    /// layout is not stored in the log and not needed for reading.
    package var layout: RecordLayout?
    package var creation: Creation
    /// The size in bytes from which a segment is sealed before the next commit. A segment can exceed it by one
    /// commit.
    package var segmentSize: UInt64
    /// The number of bytes to reserve on disk after the end of the current segment. 0 reserves nothing.
    ///
    /// If the file system does not support the reservation or has insufficient space, the log continues without it.
    package var preallocation: UInt64
    /// The maximum number of uncompressed bytes between two positions at which reading can begin.
    ///
    /// A larger value compresses better; a smaller one makes reading from the middle faster.
    package var runSize: Int
    /// The expected store identifier. Nil accepts the log's own; a new log generates one.
    package var storeIdentifier: StoreIdentifier?
    /// The encryption keys. The first one encrypts new segments; all of them are tried for reading.
    ///
    /// If the array is empty, new segments are not encrypted. If the last segment is encrypted with a key other
    /// than the first one, or is encrypted differently, the next append begins a new segment. Existing segments are
    /// not rewritten.
    package var keys: [LogKey]
    /// The lock file, whose directory must exist. Nil means `LOCK` next to the log's directory.
    package var lockPath: String?
    /// The queue that syncs commits for which no thread waits; nil for a queue of the log's own.
    package var syncQueue: DispatchQueue?

    package init(
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
