import DiskSimulation
import SeededRandom
import Testing

@testable import OperationLog

#if os(Linux) || os(macOS)
    /// Readers in this process, while another process appends, seals, recompresses, writes snapshots and compacts.
    @Suite struct FollowTests {
        private static let records: UInt64 = 4000

        @Test func `readers follow the changes of another process`() async throws {
            let store = TemporaryDirectory()
            defer { store.remove() }
            let directory = store.path + "/log"
            try OperationLog.open(directory: directory).log.close()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 { group.addTask { try await Self.follow(directory) } }
                group.addTask { try await Self.seek(directory) }
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = directory as String] in
                        try Self.write(path)
                    }
                }
                try await group.waitForAll()
            }
            let reader = try LogReader(directory: directory)
            #expect(try reader.firstSequence() > 1)
            #expect(try reader.nextSequence() == Self.records + 1)
            #expect(try LogVerification.verify(directory: directory).isSound)
        }

        /// Writes the log. Runs in the child process.
        private static func write(_ directory: String) throws {
            let options = OperationLog.Options(durability: .none, segmentSize: 12_000, runSize: 3000)
            let log = try OperationLog.open(directory: directory, options: options).log
            while log.nextSequence <= records {
                let next = log.nextSequence
                try log.append(Sample.commit(from: next, count: Int(min(records - next + 1, next % 4 + 1))))
                if next % 97 < 4 { _ = try log.recompressSealedSegments(blockSize: 1000) }
                if next % 400 < 4 {
                    try SampleSnapshot.write(log)
                    try log.compact(keepingFrom: next > 900 ? next - 900 : 1)
                }
            }
            log.close()
        }

        /// Expects each record once and in order, except for records that were compacted before they were read.
        private static func follow(_ directory: String) async throws {
            let reader = try LogReader(directory: directory)
            var expected: UInt64 = 1
            while expected <= records {
                do {
                    for try await record in reader.follow(from: expected) {
                        try #require(record == Sample.record(expected))
                        expected += 1
                        if expected > records { break }
                    }
                } catch {
                    guard case .compacted(let first)? = error as? LogError else { throw error }
                    try #require(first > expected)
                    expected = first
                }
            }
        }

        private static func seek(_ directory: String) async throws {
            let reader = try LogReader(directory: directory)
            var generator = SeededRandom(seed: 7)
            var next: UInt64 = 1
            while next <= records {
                next = try reader.nextSequence()
                let sequence = UInt64.random(in: 1...next, using: &generator)
                do {
                    let record = try reader.record(sequence)
                    try #require(record == nil ? sequence >= next : record == Sample.record(sequence))
                } catch {
                    guard case .compacted(let first)? = error as? LogError else { throw error }
                    try #require(first > sequence)
                }
                await Task.yield()
            }
        }

        @Test func `a follower waits for records and ends when its task is cancelled`() async throws {
            let disk = SimulatedDisk()
            let log = try Sample.open(disk).log
            try log.append(Sample.commit(from: 1, count: 2))
            let follower = try LogReader(directory: Sample.directory, fileSystem: disk).follow()
            let (seen, continuation) = AsyncStream.makeStream(of: UInt64.self)
            let task = Task {
                for try await record in follower { continuation.yield(record.sequence) }
                continuation.finish()
            }
            var sequences = seen.makeAsyncIterator()
            #expect(await sequences.next() == 1)
            #expect(await sequences.next() == 2)
            try log.append(Sample.commit(from: 3, count: 1))
            #expect(await sequences.next() == 3)
            task.cancel()
            #expect(await sequences.next() == nil)
            try await task.value
        }

        @Test func `the polling pause grows without new records and is reset after one`() {
            var pause = PollingBackoff()
            #expect((0..<8).map { _ in pause.next() } == [5, 10, 20, 40, 80, 80, 80, 80])
            pause.end()
            #expect(pause.next() == 5)
        }
    }
#endif
