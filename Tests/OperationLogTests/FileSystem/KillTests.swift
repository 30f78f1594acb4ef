import OperationLog
import SeededRandom
import Testing

@testable import LogWriter

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

#if os(Linux) || os(macOS)
    /// Kills a process that writes a log, at random moments.
    ///
    /// The process appends commits and stores each acknowledgement until it is killed, for example while it opens the
    /// log, appends, seals or ends a segment. The system keeps the pages that the process wrote. The tests therefore
    /// check the lock, the recovery, and the order of write and acknowledgement; ``CrashImageTests`` covers loss of
    /// power.
    @Suite(.serialized) struct KillTests {
        private static let killsPerStore = 20

        @Test(arguments: WriterMode.allCases)
        func `a killed writer leaves all acknowledged commits in order and a free lock`(mode: WriterMode) throws {
            let seed = UInt64.testSeed()
            var generator = SeededRandom(seed: seed)
            let kills = Effort.runs("TIDELOG_KILLS", usually: 240) / WriterMode.allCases.count
            var records: UInt64 = 0
            var run = 0
            while run < kills {
                let store = TemporaryDirectory()
                defer { store.remove() }
                var round = KilledStore(path: store.path, mode: mode)
                for _ in 0..<min(Self.killsPerStore, kills - run) {
                    run += 1
                    let writer = try WriterProcess(store: store.path, mode: mode, run: run)
                    // A blocking sleep, because `Task.sleep` can last minutes while other tests are busy.
                    usleep(.random(in: 0...40000, using: &generator))
                    #expect(writer.kill() == SIGKILL, "\(mode), run \(run), seed \(seed): it had ended by itself")
                    try round.check(run: run, "\(mode), run \(run), seed \(seed)")
                }
                try round.checkAll()
                records += round.kept
            }
            print("kills, \(mode): \(run), records kept: \(records), seed \(seed)")
            #expect(records > 0)
        }
    }

    /// A log that several writers appended to, one after the other.
    private struct KilledStore {
        let path: String
        let mode: WriterMode
        /// The number of records after the last kill.
        private(set) var kept: UInt64 = 0
        private var runs: [Int] = []

        init(path: String, mode: WriterMode) {
            self.path = path
            self.mode = mode
        }

        private var directory: String { path + "/log" }

        /// Checks the commits of the run, and that the log can be opened.
        mutating func check(run: Int, _ context: String) throws {
            let commits = try commits(from: kept + 1)
            for thread in 0..<UInt32(mode.threads) {
                let acknowledged = WriterProcess.acknowledged(in: path, thread: thread)
                let own = commits.filter { $0.thread == thread }
                let expected = (0..<own.count).map {
                    WrittenCommit(run: UInt32(run), thread: thread, number: UInt32($0 + 1))
                }
                #expect(own == expected, "\(context)")
                // The last commit may have been written and not yet acknowledged.
                #expect((acknowledged...acknowledged + 1).contains(UInt64(own.count)), "\(context)")
            }
            let (log, recovery) = try OperationLog.open(directory: directory, options: mode.options)
            log.close()
            #expect(recovery.nextSequence == kept + UInt64(commits.count) * 3 + 1, "\(context): \(recovery)")
            #expect(recovery.snapshotDamages.isEmpty, "\(context): \(recovery)")
            kept = recovery.nextSequence - 1
        }

        /// Checks that later runs did not change the records of earlier runs.
        func checkAll() throws {
            let first = try reader()?.firstSequence() ?? 1
            #expect(first == 1 || mode == .compacted)
            #expect(try commits(from: first).count == Int(kept + 1 - first) / 3)
            #expect(try LogVerification.verify(directory: directory, keys: mode.options.keys).isSound)
        }

        private func reader() throws -> LogReader? {
            guard access(directory, F_OK) == 0 else { return nil }
            do {
                return try LogReader(directory: directory, keys: mode.options.keys)
            } catch LogError.noLog {
                return nil
            }
        }

        /// Returns the commits from a record on. Throws if three consecutive records are not a commit.
        private func commits(from first: UInt64) throws -> [WrittenCommit] {
            guard let reader = try reader() else { return [] }
            var records: [LogRecord] = []
            var commits: [WrittenCommit] = []
            try reader.forEach(from: first) { record in
                records.append(record)
                guard records.count == 3 else { return }
                let commit = try #require(WrittenCommit(records))
                commits.append(commit)
                records = []
            }
            #expect(records.isEmpty, "a part of a commit")
            return commits
        }
    }

    extension WrittenCommit {
        /// Returns nil if the three records are not those of one commit.
        fileprivate init?(_ records: [LogRecord]) {
            let numbers = String(decoding: records.first?.payload ?? [], as: UTF8.self)
                .split { !$0.isNumber }.prefix(3).compactMap { UInt32($0) }
            guard numbers.count == 3 else { return nil }
            self.init(run: numbers[0], thread: numbers[1], number: numbers[2])
            let same = zip(self.records, records).allSatisfy { $0.kind == $1.kind && $0.payload == $1.payload }
            guard same, records.count == self.records.count else { return nil }
        }
    }
#endif
