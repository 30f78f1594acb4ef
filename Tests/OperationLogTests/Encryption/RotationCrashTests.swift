import DiskSimulation
import OperationLog
import Testing

/// Crashes at every call of a log that gets a key, and later a different key.
@Suite struct RotationCrashTests {
    private static let keys = [Sample.otherKey, Sample.key]

    private static func options(_ keys: [LogKey]) -> OperationLog.Options {
        OperationLog.Options(segmentSize: 350, runSize: 150, keys: keys)
    }

    /// The keys and the commits of each time that the log is open. The first time leaves a segment without blocks,
    /// which the second time replaces.
    private static let lives: [(keys: [LogKey], commits: [Int])] = [
        ([], []), ([Sample.key], [1, 2, 1]), ([Sample.otherKey, Sample.key], [2, 1, 1]), (keys.reversed(), [1]),
    ]

    private func run(_ disk: SimulatedDisk) -> UInt64 {
        var durable: UInt64 = 0
        for life in Self.lives {
            guard let log = try? Sample.open(disk, Self.options(life.keys)).log else { return durable }
            for count in life.commits {
                guard let range = try? log.append(Sample.commit(from: log.nextSequence, count: count)) else {
                    return durable
                }
                durable = range.upperBound
            }
            log.close()
        }
        return durable
    }

    private func objection(to disk: SimulatedDisk, _ durable: UInt64) -> String? {
        do {
            let log = try Sample.open(disk, Self.options(Self.keys)).log
            let kept = log.nextSequence - 1
            guard kept >= durable else { return "\(kept) kept of \(durable)" }
            try log.append(Sample.commit(from: kept + 1, count: 1))
            log.close()
            let report = try LogVerification.verify(
                directory: Sample.directory, keys: Self.keys, fileSystem: disk)
            guard try Sample.read(disk, keys: Self.keys) == Sample.expected(1...kept + 1) else {
                return "other records"
            }
            return report.isSound && report.tail == nil ? nil : "\(report)"
        } catch {
            return "\(error)"
        }
    }

    @Test func `a crash while a log changes its key loses no acknowledged record`() {
        let whole = SimulatedDisk()
        #expect(run(whole) == 9)
        var images = 0
        for call in 0..<whole.calls {
            let disk = SimulatedDisk()
            disk.fail(atCall: call, .crash)
            let durable = run(disk)
            var left = [disk.withoutUnsynced()]
            left += stride(from: 0, through: disk.lastUnsyncedWrite ?? 0, by: 9).map { disk.tearing(lastWriteTo: $0) }
            for image in left {
                if let objection = objection(to: image, durable) { Issue.record("call \(call): \(objection)") }
            }
            images += left.count
        }
        print("crash points: \(whole.calls), crash images: \(images)")
        #expect(whole.calls > 40)
    }
}
