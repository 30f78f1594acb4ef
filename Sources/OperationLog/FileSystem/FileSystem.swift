/// The file system operations that the log needs.
///
/// The log accesses files only through this protocol, so that a simulated disk can lose, tear and refuse writes as a
/// real one may. Paths have the operating system's form; `/` is the separator.
package protocol FileSystem: Sendable {
    /// Opens an existing file, or creates a file that must not exist yet.
    func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File

    /// Returns the names (not paths) in the directory, unordered and without `.` and `..`.
    func list(_ directory: String) throws(FileSystemError) -> [String]

    /// Creates the directory. Succeeds if it exists. Its parent must exist.
    func createDirectory(_ path: String) throws(FileSystemError)

    /// Renames a file and replaces `target` atomically: after a crash either the old or the new file exists.
    func rename(_ path: String, to target: String) throws(FileSystemError)

    func remove(_ path: String) throws(FileSystemError)

    /// Waits until the created, renamed and removed names in the directory survive a loss of power.
    func syncDirectory(_ path: String) throws(FileSystemError)

    /// Acquires the lock, or returns the process that holds it. Never waits.
    ///
    /// Creates the lock file if it is missing. The lock file is never removed.
    func lock(_ path: String) throws(FileSystemError) -> LockOutcome
}

package enum FileMode: Sendable, Equatable {
    case read
    case readWrite
    /// Reads and writes a new file. Fails if the name exists.
    case create
}

/// An open file.
///
/// It is used by one thread at a time, except that one other call may run concurrently with ``sync()``.
package protocol File: AnyObject {
    func size() throws(FileSystemError) -> UInt64

    /// Reads up to `count` bytes from `offset`. Returns fewer bytes, or none, only at the end of the file.
    func read(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8]

    /// Writes all bytes. After an error any part of them may be in the file.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError)

    /// Waits until the content and the size survive a loss of power.
    func sync() throws(FileSystemError)

    /// Truncates the file and releases the space that was reserved after that size.
    func truncate(to size: UInt64) throws(FileSystemError)

    /// Reserves disk space for the bytes from `offset` on. The file's size does not change.
    ///
    /// Nothing depends on the reservation: a file system that does not support it may throw or do nothing.
    func reserve(_ count: UInt64, at offset: UInt64) throws(FileSystemError)

    /// Closes the file. Safe to call twice; no other call may follow.
    func close()
}

extension File {
    package func reserve(_ count: UInt64, at offset: UInt64) throws(FileSystemError) {}

    func write(_ bytes: [UInt8], at offset: UInt64) throws(FileSystemError) {
        var failure: FileSystemError?
        bytes.withUnsafeBytes { bytes in
            do throws(FileSystemError) { try write(bytes, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

/// A lock that is held until the object is deallocated or the process ends.
package protocol FileLock: AnyObject {
    func release()
}

package enum LockOutcome {
    case taken(any FileLock)
    /// Another writer holds the lock. Contains its process identifier if the lock file records it.
    case heldByAnother(processID: Int32?)
}

/// A failed system call.
package struct FileSystemError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the call as in its manual page, such as `fdatasync`.
    package let call: String
    package let path: String
    /// The value of `errno`.
    package let errorNumber: Int32
    package let isNotFound: Bool
    /// The system's message for the error number.
    package let message: String

    package init(call: String, path: String, errorNumber: Int32, isNotFound: Bool = false, message: String) {
        self.call = call
        self.path = path
        self.errorNumber = errorNumber
        self.isNotFound = isNotFound
        self.message = message
    }

    package var description: String { "\(call) of \(path) failed: \(message) (error \(errorNumber))" }
}
