import CPlatform

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The operating system's file system, limited to regular files.
///
/// A symbolic link, FIFO, socket, device or directory in place of a file is an error; it is never followed, waited for
/// or written to. New files and directories are accessible to their owner only, whatever the umask.
package struct PosixFileSystem: FileSystem {
    package init() {}

    package func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
        let flags =
            switch mode {
            case .read: O_RDONLY
            case .readWrite: O_RDWR
            case .create: O_RDWR | O_CREAT | O_EXCL
            }
        return PosixFile(try openDescriptor(path, flags), path: path)
    }

    package func list(_ directory: String) throws(FileSystemError) -> [String] {
        let descriptor = try openDirectory(directory, followsLink: false)
        guard let stream = fdopendir(descriptor) else {
            let failure = FileSystemError.last("opendir", directory)
            closeDescriptor(descriptor)
            throw failure
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw .last("readdir", directory) }
        return names
    }

    package func createDirectory(_ path: String) throws(FileSystemError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw .last("mkdir", path) }
    }

    package func rename(_ path: String, to target: String) throws(FileSystemError) {
        #if canImport(Darwin)
            let result = Darwin.rename(path, target)
        #elseif canImport(Musl)
            let result = Musl.rename(path, target)
        #else
            let result = Glibc.rename(path, target)
        #endif
        if result != 0 { throw .last("rename", path) }
    }

    package func remove(_ path: String) throws(FileSystemError) {
        if unlink(path) != 0 { throw .last("unlink", path) }
    }

    package func syncDirectory(_ path: String) throws(FileSystemError) {
        // The directory of a store may be reached through a symbolic link that its user created.
        let descriptor = try openDirectory(path, followsLink: true)
        defer { closeDescriptor(descriptor) }
        if fsync(descriptor) != 0 { throw .last("fsync", path) }
    }

    package func lock(_ path: String) throws(FileSystemError) -> LockOutcome {
        let descriptor = try openDescriptor(path, O_RDWR | O_CREAT)
        var result: Int32
        repeat { result = flock(descriptor, LOCK_EX | LOCK_NB) } while result != 0 && errno == EINTR
        if result != 0 {
            let failure = FileSystemError.last("flock", path)
            defer { closeDescriptor(descriptor) }
            guard failure.errorNumber == EWOULDBLOCK else { throw failure }
            return .heldByAnother(processID: writtenProcessID(descriptor))
        }
        // For users and error messages only. The content of the file does not affect the lock.
        let text = Array("\(getpid())\n".utf8)
        if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
        return .taken(PosixLock(descriptor))
    }

    private func writtenProcessID(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int32(String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self))
    }
}

/// Opens a regular file.
///
/// The descriptor is never inherited by a child process, because a descriptor in a child would keep the lock. Throws at
/// once for any other kind of file: symbolic links are not followed, and opening a FIFO does not wait.
private func openDescriptor(_ path: String, _ flags: Int32) throws(FileSystemError) -> Int32 {
    var descriptor: Int32
    repeat {
        descriptor = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    } while descriptor < 0 && errno == EINTR
    guard descriptor >= 0 else {
        let failure = FileSystemError.last("open", path)
        if failure.errorNumber != EEXIST, let kind = FileKind.of(path), kind != .regular {
            throw .notRegular(path, kind)
        }
        throw failure
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
        let failure = FileSystemError.last("fstat", path)
        closeDescriptor(descriptor)
        throw failure
    }
    let kind = FileKind(mode: status.st_mode)
    guard kind == .regular else {
        closeDescriptor(descriptor)
        throw .notRegular(path, kind)
    }
    return descriptor
}

private func openDirectory(_ path: String, followsLink: Bool) throws(FileSystemError) -> Int32 {
    while true {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW))
        if descriptor >= 0 { return descriptor }
        if errno == EINTR { continue }
        let failure = FileSystemError.last("opendir", path)
        if !followsLink, FileKind.of(path) == .symbolicLink {
            throw FileSystemError(
                call: "opendir", path: path, errorNumber: ELOOP,
                message: "it is a symbolic link, not a directory of the store")
        }
        throw failure
    }
}

private func closeDescriptor(_ descriptor: Int32) {
    _ = close(descriptor)
}

private final class PosixLock: FileLock {
    private var descriptor: Int32?

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Unlocks the file before it is closed: a child process that is created at this moment has a copy of the descriptor
    /// until it executes its program, and would keep the lock until then.
    func release() {
        guard let descriptor else { return }
        _ = flock(descriptor, LOCK_UN)
        closeDescriptor(descriptor)
        self.descriptor = nil
    }

    deinit { release() }
}

private final class PosixFile: File {
    private var descriptor: Int32
    private let path: String

    init(_ descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close() }

    func size() throws(FileSystemError) -> UInt64 {
        var status = stat()
        if fstat(descriptor, &status) != 0 { throw .last("fstat", path) }
        return UInt64(max(status.st_size, 0))
    }

    func read(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8] {
        guard count > 0, offset <= UInt64(Int64.max) - UInt64(count) else { return [] }
        var failure: FileSystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            while done < count {
                let result = pread(descriptor, buffer.baseAddress! + done, count - done, off_t(offset) + off_t(done))
                if result > 0 {
                    done += result
                } else if result == 0 {
                    break
                } else if errno != EINTR {
                    failure = .last("pread", path)
                    break
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
        guard let base = bytes.baseAddress else { return }
        var done = 0
        while done < bytes.count {
            let result = pwrite(descriptor, base + done, bytes.count - done, off_t(offset) + off_t(done))
            if result > 0 {
                done += result
            } else if result == 0 {
                // Never observed for a regular file; without this the loop could spin.
                throw FileSystemError(call: "pwrite", path: path, errorNumber: EIO)
            } else if errno != EINTR {
                throw .last("pwrite", path)
            }
        }
    }

    func sync() throws(FileSystemError) {
        #if canImport(Darwin)
            // On these platforms, fsync alone leaves the bytes in the drive's cache.
            if fcntl(descriptor, F_FULLFSYNC) != 0 { throw .last("F_FULLFSYNC", path) }
        #else
            if fdatasync(descriptor) != 0 { throw .last("fdatasync", path) }
        #endif
    }

    func truncate(to size: UInt64) throws(FileSystemError) {
        if ftruncate(descriptor, off_t(size)) != 0 { throw .last("ftruncate", path) }
    }

    func reserve(_ count: UInt64, at offset: UInt64) throws(FileSystemError) {
        let number = tidelog_reserve(descriptor, offset, count)
        if number != 0 { throw FileSystemError(call: "fallocate", path: path, errorNumber: number) }
    }

    func close() {
        if descriptor >= 0 { closeDescriptor(descriptor) }
        descriptor = -1
    }
}

extension FileSystemError {
    fileprivate init(call: String, path: String, errorNumber: Int32) {
        self.init(
            call: call, path: path, errorNumber: errorNumber, isNotFound: errorNumber == ENOENT,
            message: strerror(errorNumber).map { String(cString: $0) } ?? "unknown error")
    }

    fileprivate static func notRegular(_ path: String, _ kind: FileKind) -> FileSystemError {
        FileSystemError(
            call: "open", path: path, errorNumber: kind == .symbolicLink ? ELOOP : EINVAL,
            message: "it is \(kind), not a regular file")
    }

    /// Returns the error for `errno`. Must be called before any other call can change `errno`.
    fileprivate static func last(_ call: String, _ path: String) -> FileSystemError {
        FileSystemError(call: call, path: path, errorNumber: errno)
    }
}
