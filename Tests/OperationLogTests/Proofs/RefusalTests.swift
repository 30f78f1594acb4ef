import DiskSimulation
import OperationLog
import Testing

/// A disk that refuses calls, once or permanently, with an error or because it is full.
@Suite struct RefusalTests {
    private struct Refusal: CustomStringConvertible {
        let fault: SimulatedDisk.Fault
        let isForEver: Bool

        var description: String { "\(fault)\(isForEver ? ", for ever" : "")" }

        static let all = [
            Refusal(fault: .fail(number: 5, writes: .none, syncs: .none), isForEver: false),
            Refusal(fault: .fail(number: 5, writes: .half, syncs: .half), isForEver: false),
            Refusal(fault: .fail(number: 5, writes: .all, syncs: .all), isForEver: false),
            Refusal(fault: .fail(number: 5, writes: .none, syncs: .none), isForEver: true),
            Refusal(fault: .fail(number: 28, writes: .half, syncs: .half), isForEver: true),
        ]
    }

    @Test(arguments: LogVariant.allCases)
    func `after a failure of any call, once or permanent, the log closes and keeps all durable records`(
        variant: LogVariant
    ) throws {
        let script = variant.script
        let calls = script.calls.changes
        var runs = 0
        for call in 0..<calls {
            for refusal in Refusal.all {
                let disk = SimulatedDisk()
                disk.fail(atCall: call, refusal.fault, forEver: refusal.isForEver)
                let outcome = script.run(on: disk)
                let context = "call \(call), \(refusal)"
                // With these durabilities, closing syncs and does not report a failure. A failure to record the end is
                // not reported either.
                let isUntold =
                    outcome.isOver && ([.grouped, .interval].contains(variant) || Sample.isOfEnd(disk.refusedPaths))
                #expect(outcome.failure?.isOfTheDisk == true || isUntold, "\(context): \(outcome)")
                #expect(disk.syncsAfterFailure == 0, "\(context)")
                // The process ends, or the power fails.
                for image in [disk.copy(), disk.withoutUnsynced()] {
                    if let objection = script.objection(to: image, outcome) {
                        Issue.record("\(context): \(objection); \(outcome)")
                    }
                }
                // The process ends, another process continues with the content of the system's memory, and then the
                // power fails.
                if !refusal.isForEver {
                    let after = try script.goOn(on: disk, outcome)
                    if let objection = script.objection(to: disk.withoutUnsynced(), after) {
                        Issue.record("\(context), and going on: \(objection); \(outcome), \(after)")
                    }
                }
                runs += 1
            }
        }
        print("refused calls, \(variant): \(runs)")
    }

    @Test(arguments: LogVariant.allCases)
    func `a failed read is an error that changes nothing and is not reported as damage`(
        variant: LogVariant
    ) throws {
        let script = variant.script
        let written = SimulatedDisk()
        let outcome = script.run(on: written)
        #expect(outcome.isOver)
        // The tail is torn, so that recovery examines it and would cut it.
        let whole = written.tearing(lastWriteTo: .max)
        let last = try #require(whole.paths.last { $0.hasSuffix(".segment") })
        whole[last].append(contentsOf: [0x54, 0x4C, 0x42, 0x4B, 1, 1])
        let names = whole.paths
        var failed = 0
        for call in 0..<200 {
            for step in 0..<3 {
                let disk = whole.copy()
                disk.fail(atRead: call, .refuse)
                let error = try Self.look(at: disk, step, keys: script.options.keys)
                // Opening succeeds even if it cannot record the end.
                guard disk.reads > call, !(error == nil && step == 2 && Sample.isOfEnd(disk.refusedPaths)) else {
                    continue
                }
                failed += 1
                #expect(
                    error?.isOfTheDisk == true, "step \(step), read call \(call): \(error.map { "\($0)" } ?? "none")")
                // Opening may have cut the torn tail, but must not change anything else.
                for path in names where path != Sample.end {
                    let isKept =
                        path == last && step == 2
                        ? whole[path].starts(with: disk[path]) : whole[path] == disk[path]
                    #expect(isKept, "step \(step), read call \(call): \(path)")
                }
                if let objection = script.objection(to: disk.copy(), outcome) {
                    Issue.record("step \(step), read call \(call): \(objection)")
                }
            }
        }
        print("refused calls to read, \(variant): \(failed)")
        #expect(failed > 20)
    }

    /// Returns the error of reading, verifying or opening the log, depending on `step`, or nil.
    private static func look(at disk: SimulatedDisk, _ step: Int, keys: [LogKey]) throws -> LogError? {
        do {
            switch step {
            case 0: _ = try Sample.read(disk, keys: keys)
            case 1: _ = try LogVerification.verify(directory: Sample.directory, keys: keys, fileSystem: disk)
            default: try Sample.open(disk, .init(keys: keys)).log.close()
            }
            return nil
        } catch let error as LogError {
            return error
        }
    }

    @Test(arguments: LogVariant.allCases)
    func `a log on a disk that is full at any byte keeps all durable records and accepts commits once there is space`(
        variant: LogVariant
    ) throws {
        let script = variant.script
        let whole = SimulatedDisk()
        _ = script.run(on: whole)
        let size = whole.peak
        var sizes = 0
        // One variant is tested with every capacity. The others write the same structures, so every seventh capacity is
        // sufficient.
        for capacity in stride(from: 0, through: size, by: variant == .everyCommit ? 1 : 7) {
            sizes += 1
            let disk = SimulatedDisk()
            disk.limit(to: capacity)
            let outcome = script.run(on: disk)
            #expect(outcome.isOver == (capacity >= size), "\(capacity) of \(size) bytes: \(outcome)")
            if outcome.appended > 0 {
                // The disk is still full. Opening a log needs no space.
                let full = disk.withoutUnsynced()
                full.limit(to: full.paths.reduce(0) { $0 + full[$1].count })
                let log = try Sample.open(full, script.options).log
                #expect(log.nextSequence > outcome.durable, "\(capacity) of \(size) bytes")
                log.close()
            }
            for image in [disk.copy(), disk.withoutUnsynced()] {
                if let objection = script.objection(to: image, outcome) {
                    Issue.record("\(capacity) of \(size) bytes: \(objection); \(outcome)")
                }
            }
        }
        print("sizes of a full disk, \(variant): \(sizes)")
    }
}

extension LogError {
    /// Whether the error reports a failed call, not damaged bytes or an unknown feature.
    var isOfTheDisk: Bool {
        switch self {
        case .fileSystem, .writeFailed: true
        default: false
        }
    }
}
