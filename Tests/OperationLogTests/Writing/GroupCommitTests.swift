import DiskSimulation
import OperationLog
import Synchronization
import Testing

/// Commits that share a sync.
@Suite struct GroupCommitTests {
    private static func commit(_ sequence: UInt64) throws(LogError) -> Commit {
        var commit = Commit()
        try commit.add(kind: Sample.kind(sequence), payload: Sample.payload(sequence))
        return commit
    }

    @Test func `one further sync makes all commits durable that arrive during a sync`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .grouped)).log
        let before = disk.syncs
        // The first sync covers one commit at least, and waits until all eight have sequence numbers.
        let isFirst = Atomic(true)
        disk.duringSync {
            guard isFirst.exchange(false, ordering: .sequentiallyConsistent) else { return }
            let end = ContinuousClock.now + .seconds(60)
            while log.nextSequence < 9, ContinuousClock.now < end { pause() }
        }
        let ranges = Mutex<[UInt64]>([])
        onThreads(8) { _ in
            guard let commit = try? Self.commit(1), let range = try? log.append(commit) else { return }
            ranges.withLock { $0.append(range.lowerBound) }
        }
        #expect(ranges.withLock { $0.sorted() } == Array(1...8))
        // One or two, and more if a thread is between its sequence number and its write. Without sharing there would be
        // eight.
        #expect((1..<8).contains(disk.syncs - before), "\(disk.syncs - before) syncs")
    }

    /// The order of the threads is random, so it is repeated.
    @Test func `all waiting commits are acknowledged if a new segment makes them durable`() throws {
        for _ in 0..<40 {
            let disk = SimulatedDisk()
            let log = try Sample.open(disk, .init(durability: .grouped)).log
            // During the first sync, four commits begin to wait for the next one, and a snapshot for a new segment.
            let isFirst = Atomic(true)
            disk.duringSync {
                guard isFirst.exchange(false, ordering: .sequentiallyConsistent) else { return }
                let end = ContinuousClock.now + .seconds(60)
                while log.nextSequence < 6, ContinuousClock.now < end { pause() }
                pause()
            }
            onThreads(6) { index in
                if index < 5 {
                    _ = try? log.append(Sample.commit(from: 1, count: 1))
                } else {
                    while isFirst.load(ordering: .sequentiallyConsistent) { pause() }
                    _ = try? SampleSnapshot.write(log)
                }
            }
            #expect(log.durableSequence == 5)
            log.close()
        }
    }

    @Test func `no commit is acknowledged before a sync that began after it was written`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .grouped)).log
        let early = Atomic(0)
        disk.duringSync { pause() }
        onThreads(4) { _ in
            for _ in 0..<25 {
                guard let commit = try? Self.commit(1), let range = try? log.append(commit) else { continue }
                let durable = (try? Sample.read(disk.withoutUnsynced()).count) ?? 0
                if durable < Int(range.upperBound) { early.add(1, ordering: .relaxed) }
            }
        }
        #expect(early.load(ordering: .relaxed) == 0)
        #expect(try Sample.read(disk.withoutUnsynced()).count == 100)
    }

    @Test func `a written commit is visible at once and durable after the wait`() async throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .grouped)).log
        let range = try log.write(try Self.commit(1))
        #expect(try Sample.read(disk) == Sample.expected(1...1))
        #expect(log.durableSequence == 0)
        try await log.waitUntilDurable(range.upperBound)
        #expect(log.durableSequence == 1)
        #expect(try Sample.read(disk.withoutUnsynced()) == Sample.expected(1...1))
    }

    @Test func `a commit that is written during a sync is not durable after that sync`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .grouped)).log
        let written = Atomic(false)
        try log.write(try Self.commit(1))
        disk.duringSync {
            if !written.exchange(true, ordering: .sequentiallyConsistent) {
                do { try log.write(try Self.commit(2)) } catch { Issue.record(error) }
            }
        }
        try log.sync()
        #expect(log.durableSequence == 1)
        #expect(try Sample.read(disk) == Sample.expected(1...2))
        try log.sync()
        #expect(try Sample.read(disk.withoutUnsynced()) == Sample.expected(1...2))
    }

    @Test(arguments: [OperationLog.Options.Durability.none, .interval(milliseconds: 3_600_000)])
    func `waiting for a record syncs it if appending does not`(
        durability: OperationLog.Options.Durability
    ) async throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: durability)).log
        let range = try await log.appendAndWait(try Self.commit(1))
        #expect(log.durableSequence == 0)
        try await log.waitUntilDurable(range.upperBound)
        #expect(try Sample.read(disk.withoutUnsynced()) == Sample.expected(1...1))
    }

    @Test func `with an interval, commits become durable without a wait`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .interval(milliseconds: 1))).log
        for sequence in UInt64(1)...20 { try log.append(try Self.commit(sequence)) }
        while log.durableSequence < 20 { pause() }
        #expect(try Sample.read(disk.withoutUnsynced()) == Sample.expected(1...20))
    }

    @Test func `closing makes commits durable before the interval ends`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .interval(milliseconds: 3_600_000))).log
        try log.append(try Self.commit(1))
        log.close()
        #expect(try Sample.read(disk.withoutUnsynced()) == Sample.expected(1...1))
    }

    @Test func `a commit waits for a sync after every 64 KiB of unsynced bytes`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .grouped, compression: .stored)).log
        let before = disk.syncs
        var commit = Commit()
        try commit.add(kind: 1, payload: [UInt8](repeating: 9, count: 10_000))
        for _ in 0..<30 { try log.write(commit) }
        // Every 64 KiB, a commit waits until all commits before it are durable, so that damage can be distinguished
        // from a torn tail.
        #expect((3...5).contains(disk.syncs - before), "\(disk.syncs - before) syncs")
    }
}

@Suite struct GroupFailureTests {
    @Test func `a failed shared sync fails all waiting calls and closes the log permanently`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .grouped)).log
        try log.append(Sample.commit(from: 1, count: 1))
        let first = Atomic(true)
        let arrived = Atomic(0)
        disk.duringSync {
            guard first.exchange(false, ordering: .sequentiallyConsistent) else { return }
            while arrived.load(ordering: .sequentiallyConsistent) < 6 { pause() }
        }
        disk.fail(atCall: disk.calls + 1, .refuse)
        let errors = Mutex<[LogError]>([])
        onThreads(6) { _ in
            arrived.add(1, ordering: .sequentiallyConsistent)
            do throws(LogError) {
                try log.append(Sample.commit(from: 2, count: 1))
            } catch {
                errors.withLock { $0.append(error) }
            }
        }
        let all = errors.withLock { $0 }
        #expect(all.count == 6)
        for error in all {
            switch error {
            case .writeFailed(let cause), .closed(.some(let cause)): #expect(cause.call == "fdatasync")
            default: Issue.record("\(error)")
            }
        }
        #expect(disk.syncsAfterFailure == 0)
        // A refused commit must not be found later.
        let image = disk.copy()
        #expect(try Sample.read(image) == Sample.expected(1...1))
        #expect(try Sample.open(image).log.nextSequence == 2)
    }

    @Test func `a failed sync fails waiting tasks as well`() async throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .grouped)).log
        disk.fail(atCall: disk.calls + 1, .refuse, forEver: true)
        let errors = await withTaskGroup(of: LogError?.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    do throws(LogError) {
                        var commit = Commit()
                        try commit.add(kind: 1, payload: [1, 2, 3])
                        try await log.appendAndWait(commit)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors.count == 5 && !errors.contains(nil))
        await #expect(throws: LogError.self) { try await log.waitUntilDurable(1) }
    }

    @Test func `the next call throws the error of a failed background sync`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: .interval(milliseconds: 1))).log
        disk.fail(atCall: disk.calls + 1, .refuse, forEver: true)
        try log.append(Sample.commit(from: 1, count: 1))
        var failure: LogError?
        while failure == nil {
            pause()
            do throws(LogError) { try log.append(Sample.commit(from: 2, count: 1)) } catch { failure = error }
        }
        #expect(throws: LogError.self) { try log.append(Sample.commit(from: 2, count: 1)) }
        #expect(disk.syncsAfterFailure == 0)
    }

    @Test func `a disk without preallocation does not stop the log`() throws {
        let disk = WithoutReservation(base: SimulatedDisk())
        let log = try OperationLog.open(
            directory: Sample.directory,
            options: .init(preallocation: 4096, storeIdentifier: Sample.store), fileSystem: disk
        ).log
        for sequence in UInt64(1)...5 { try log.append(Sample.commit(from: sequence, count: 1)) }
        log.close()
        #expect(try Sample.read(disk.base) == Sample.expected(1...5))
    }
}

/// A disk without enough space for a reservation.
private struct WithoutReservation: FileSystem {
    let base: SimulatedDisk

    func open(_ path: String, _ mode: FileMode) throws(FileSystemError) -> any File {
        Opened(try base.open(path, mode), path: path)
    }

    func list(_ directory: String) throws(FileSystemError) -> [String] { try base.list(directory) }
    func createDirectory(_ path: String) throws(FileSystemError) { try base.createDirectory(path) }
    func rename(_ path: String, to target: String) throws(FileSystemError) { try base.rename(path, to: target) }
    func remove(_ path: String) throws(FileSystemError) { try base.remove(path) }
    func syncDirectory(_ path: String) throws(FileSystemError) { try base.syncDirectory(path) }
    func lock(_ path: String) throws(FileSystemError) -> LockOutcome { try base.lock(path) }

    private final class Opened: File {
        private let base: any File
        private let path: String

        init(_ base: any File, path: String) { (self.base, self.path) = (base, path) }

        func reserve(_ count: UInt64, at offset: UInt64) throws(FileSystemError) {
            throw FileSystemError(call: "fallocate", path: path, errorNumber: 28, message: "No space left on device")
        }

        func size() throws(FileSystemError) -> UInt64 { try base.size() }
        func read(at offset: UInt64, count: Int) throws(FileSystemError) -> [UInt8] {
            try base.read(at: offset, count: count)
        }
        func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(FileSystemError) {
            try base.write(bytes, at: offset)
        }
        func sync() throws(FileSystemError) { try base.sync() }
        func truncate(to size: UInt64) throws(FileSystemError) { try base.truncate(to: size) }
        func close() { base.close() }
    }
}
