/// What the log needs from a disk. The log reaches files through nothing else, so that a simulated disk can lose, tear
/// and refuse what a real one may.
///
/// Paths are as the operating system takes them; `/` separates.
public protocol FileSystem: Sendable {
    /// Opens an existing file, or makes one that must not exist yet.
    func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File

    /// Names (not paths) in the directory, in no order; without `.` and `..`.
    func list(_ directory: String) throws(FileSystemError) -> [String]

    /// Makes the directory; no error where it exists. Its parent must exist.
    func createDirectory(_ path: String) throws(FileSystemError)

    /// Replaces `target` at once: after a crash there is the old one or the new one.
    func rename(_ path: String, to target: String) throws(FileSystemError)

    func remove(_ path: String) throws(FileSystemError)

    /// Returns when the names in the directory (made, renamed, removed) survive a loss of power.
    func syncDirectory(_ path: String) throws(FileSystemError)

    /// Takes the lock or says who has it; never waits. The lock file is made where missing and is never removed.
    func lock(_ path: String) throws(FileSystemError) -> LockOutcome
}

public enum FileMode: Sendable, Equatable {
    case read
    case readWrite
    /// Read and write a new file; fails where the name is taken.
    case create
}

/// An open file. Used from one thread at a time, but that one other call may come while ``sync()`` runs.
public protocol File: AnyObject {
    func size() throws(FileSystemError) -> UInt64

    /// Up to `count` bytes from `offset`; fewer, or none, only at the end of the file.
    func read(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8]

    /// Writes all the bytes. After a throw any part of them may be in the file.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError)

    /// Returns when the content survives a loss of power, the size included.
    func sync() throws(FileSystemError)

    /// Also gives back what was reserved behind that size.
    func truncate(to size: UInt64) throws(FileSystemError)

    /// Has the disk set space aside for the bytes from `offset` on; the file's size stays. Nothing depends on it: a
    /// file system that cannot do it may throw or do nothing.
    func reserve(_ count: UInt64, at offset: UInt64) throws(FileSystemError)

    /// Safe to call twice; no other call may follow.
    func close()
}

extension File {
    public func reserve(_ count: UInt64, at offset: UInt64) throws(FileSystemError) {}

    func write(_ bytes: [UInt8], at offset: UInt64) throws(FileSystemError) {
        var failure: FileSystemError?
        bytes.withUnsafeBytes { bytes in
            do throws(FileSystemError) { try write(bytes, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

/// The lock is held as long as this object lives, and never longer than the process.
public protocol FileLock: AnyObject {
    func release()
}

public enum LockOutcome {
    case taken(any FileLock)
    /// Another writer has it; its process identifier where the lock file tells.
    case heldByAnother(processID: Int32?)
}

/// A system call that failed.
public struct FileSystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The call's name as its manual page has it, such as `fdatasync`.
    public let call: String
    public let path: String
    /// The number in `errno`.
    public let errorNumber: Int32
    public let isNotFound: Bool
    /// The system's words for the number.
    public let message: String

    public init(call: String, path: String, errorNumber: Int32, isNotFound: Bool = false, message: String) {
        self.call = call
        self.path = path
        self.errorNumber = errorNumber
        self.isNotFound = isNotFound
        self.message = message
    }

    public var description: String { "\(call) of \(path) failed: \(message) (error \(errorNumber))" }
}
