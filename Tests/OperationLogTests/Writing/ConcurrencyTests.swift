import DiskSimulation
import OperationLog
import Synchronization
import Testing

/// Many threads and tasks that append to one log.
@Suite struct ConcurrencyTests {
    /// Returns a commit whose records contain the number of the committer and the number of its commit.
    private static func commit(_ committer: Int, _ number: Int) throws(LogError) -> Commit {
        var commit = Commit()
        for part in 0..<1 + number % 3 { try commit.add(kind: UInt8(part), payload: bytes(committer, number)) }
        return commit
    }

    private static func bytes(_ committer: Int, _ number: Int) -> [UInt8] {
        Array("committer \(committer), commit \(number)".utf8)
    }

    /// Expects that the log contains each commit of each committer once, in the committer's order and with consecutive
    /// records.
    private func expectComplete(_ records: [LogRecord], committers: Int, commits: Int) {
        var next = Array(repeating: 0, count: committers)
        var index = 0
        while index < records.count {
            let text = String(decoding: records[index].payload, as: UTF8.self)
            let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
            guard numbers.count == 2, let committer = numbers.first, committer < committers else {
                Issue.record("a record that was not appended: \(text)")
                return
            }
            let number = next[committer]
            let expected = (0..<1 + number % 3).map { part in
                LogRecord(
                    sequence: UInt64(index + part + 1), kind: UInt8(part), payload: Self.bytes(committer, number))
            }
            guard records[index...].prefix(expected.count).elementsEqual(expected) else {
                Issue.record("at \(index + 1): \(text), expected commit \(number) of \(committer)")
                return
            }
            next[committer] += 1
            index += expected.count
        }
        #expect(next == Array(repeating: commits, count: committers))
    }

    @Test(arguments: [
        OperationLog.Options.Durability.everyCommit, .grouped, .interval(milliseconds: 1), .none,
    ])
    func `the log contains each commit of many threads once and in the order of its thread`(
        durability: OperationLog.Options.Durability
    ) throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: durability, segmentSize: 3000)).log
        let failures = Atomic(0)
        onThreads(6) { committer in
            for number in 0..<60 {
                do {
                    try log.append(try Self.commit(committer, number))
                } catch {
                    failures.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(failures.load(ordering: .relaxed) == 0)
        log.close()
        expectComplete(try Sample.read(disk), committers: 6, commits: 60)
    }

    @Test(arguments: [
        OperationLog.Options.Durability.everyCommit, .grouped, .interval(milliseconds: 1), .none,
    ])
    func `the log contains each commit of many tasks once and in the order of its task`(
        durability: OperationLog.Options.Durability
    ) async throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(durability: durability, segmentSize: 3000)).log
        try await withThrowingTaskGroup(of: Void.self) { group in
            for committer in 0..<6 {
                group.addTask {
                    for number in 0..<60 {
                        if number % 5 == 0 {
                            let range = try log.write(try Self.commit(committer, number))
                            try await log.waitUntilDurable(range.upperBound)
                            #expect(log.durableSequence >= range.upperBound)
                        } else {
                            try await log.appendAndWait(try Self.commit(committer, number))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        log.close()
        expectComplete(try Sample.read(disk), committers: 6, commits: 60)
    }
}
