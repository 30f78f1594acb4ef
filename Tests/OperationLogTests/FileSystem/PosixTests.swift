import OperationLog
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The log with the files of the operating system.
@Suite struct PosixTests {
    @Test func `a log on real files is written, reopened, sealed and read`() throws {
        let store = TemporaryDirectory()
        defer { store.remove() }
        let directory = store.path + "/log"
        for first in stride(from: UInt64(1), to: 200, by: 20) {
            let options = OperationLog.Options(segmentSize: 2000)
            let (log, recovery) = try OperationLog.open(directory: directory, options: options)
            #expect(recovery.created == (first == 1) && recovery.cut == nil)
            for sequence in first..<first + 20 { try log.append(Sample.commit(from: sequence, count: 1)) }
            log.close()
        }
        let reader = try LogReader(directory: directory)
        #expect(try Sample.records(reader.records()) == Sample.expected(1...200))
        #expect(try LogVerification.verify(directory: directory).isSound)
        #expect(try LogVerification.verify(directory: directory).segments.count > 3)
    }

    @Test func `a reservation that succeeds does not throw`() throws {
        let store = TemporaryDirectory()
        defer { store.remove() }
        let file = try PosixFileSystem().open(store.path + "/a", .create)
        defer { file.close() }
        do throws(FileSystemError) {
            try file.reserve(4_096, at: 0)
        } catch {
            // Some file systems cannot reserve space.
            #expect(error.errorNumber == ENOTSUP || error.errorNumber == EOPNOTSUPP, "\(error)")
        }
        #expect(try file.size() == 0)
    }

    @Test func `syncs of a directory keep no descriptor open`() throws {
        let store = TemporaryDirectory()
        defer { store.remove() }
        func opened() -> Int { (0..<Int32(8_192)).count { fcntl($0, F_GETFD) >= 0 } }
        let before = opened()
        for _ in 0..<2_000 { try PosixFileSystem().syncDirectory(store.path) }
        // Other tests open files meanwhile.
        #expect(opened() < before + 1_000)
    }

    @Test func `the error for a second writer has the path of the lock file and the process ID`() throws {
        let store = TemporaryDirectory()
        defer { store.remove() }
        let log = try OperationLog.open(directory: store.path + "/log").log
        #expect(throws: LogError.locked(path: store.path + "/LOCK", processID: getpid())) {
            try OperationLog.open(directory: store.path + "/log")
        }
        log.close()
        _ = try OperationLog.open(directory: store.path + "/log")
    }

    @Test func `a log that was closed with its lock kept cannot be opened until the lock is released`() throws {
        let store = TemporaryDirectory()
        defer { store.remove() }
        let log = try OperationLog.open(directory: store.path + "/log").log
        let lock = try #require(log.closeKeepingLock())
        #expect(log.closeKeepingLock() == nil)
        #expect(throws: LogError.closed(cause: nil)) { try log.append(Sample.commit(from: 1, count: 1)) }
        #expect(throws: LogError.locked(path: store.path + "/LOCK", processID: getpid())) {
            try OperationLog.open(directory: store.path + "/log")
        }
        lock.release()
        try OperationLog.open(directory: store.path + "/log").log.close()
    }

    @Test func `a closed log can be opened while a copy of the descriptor of its lock is open`() throws {
        let store = TemporaryDirectory()
        defer { store.remove() }
        let log = try OperationLog.open(directory: store.path + "/log").log
        var lock = stat()
        try #require(stat(store.path + "/LOCK", &lock) == 0)
        // A child process has such a copy between its creation and the start of its program.
        let copies = (0..<Int32(8_192)).compactMap { descriptor in
            var file = stat()
            let isLock = fstat(descriptor, &file) == 0 && file.st_ino == lock.st_ino && file.st_dev == lock.st_dev
            return isLock ? dup(descriptor) : nil
        }
        defer { copies.forEach { _ = close($0) } }
        #expect(!copies.isEmpty && copies.allSatisfy { $0 >= 0 }, "\(copies)")
        log.close()
        try OperationLog.open(directory: store.path + "/log").log.close()
    }

    @Test func `the lock file is created at the path in the options`() throws {
        let store = TemporaryDirectory()
        defer { store.remove() }
        let options = OperationLog.Options(lockPath: store.path + "/WRITER")
        let log = try OperationLog.open(directory: store.path + "/log", options: options).log
        defer { log.close() }
        #expect(throws: LogError.locked(path: store.path + "/WRITER", processID: getpid())) {
            try OperationLog.open(directory: store.path + "/log", options: options)
        }
    }

    @Test func `a lock file that cannot be created is an error with call, path and error number`() throws {
        let path = "/nowhere/at/all/LOCK"
        #expect {
            try OperationLog.open(directory: "/nowhere/at/all/log")
        } throws: { error in
            guard case LogError.fileSystem(let failure) = error else { return false }
            return failure.call == "open" && failure.path == path && failure.errorNumber == ENOENT
        }
    }

    @Test func `a reader with its own files follows a writer on another thread`() async throws {
        let store = TemporaryDirectory()
        defer { store.remove() }
        let directory = store.path + "/log"
        let options = OperationLog.Options(durability: .none, segmentSize: 20000, runSize: 4000)
        let log = try OperationLog.open(directory: directory, options: options).log
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let cursor = try LogReader(directory: directory).records()
                var seen: UInt64 = 0
                while seen < 6000 {
                    while let record = try cursor.next() {
                        seen += 1
                        #expect(record == Sample.record(seen))
                    }
                    // The last readable record is always the last one of a commit.
                    #expect(seen % 3 == 0)
                    await Task.yield()
                }
            }
            for commit in 0..<UInt64(2000) {
                try log.append(Sample.commit(from: commit * 3 + 1, count: 3))
                await Task.yield()
            }
            try await group.waitForAll()
        }
    }
}
