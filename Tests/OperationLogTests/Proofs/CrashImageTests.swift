import DiskSimulation
import OperationLog
import SeededRandom
import Testing

/// Crashes at every call of a short script, with every disk image that the crash can leave.
@Suite struct CrashImageTests {
    /// The size of a sector, so small that the writes of a short log have several sectors.
    private static let sector = 32

    @Test(arguments: LogVariant.allCases)
    func `each disk image that a crash at any call can leave keeps all durable records and only whole commits`(
        variant: LogVariant
    ) throws {
        let seed = UInt64.testSeed()
        var generator = SeededRandom(seed: seed)
        let script = variant.script
        let calls = script.calls.changes
        var images = 0
        var sampled = 0
        for call in 0..<calls {
            let disk = SimulatedDisk(sector: Self.sector)
            disk.fail(atCall: call, .crash)
            let outcome = script.run(on: disk)
            let isAll = disk.forEachImage(limit: 256, &generator) { image in
                images += 1
                if let objection = script.objection(to: image, outcome) {
                    Issue.record("seed \(seed), call \(call): \(objection); \(outcome)")
                }
            }
            if !isAll { sampled += 1 }
        }
        print(
            "crash images, \(variant): \(images) of \(calls) crash points, all images of \(calls - sampled) of them; "
                + "seed \(seed)")
        #expect(calls > 30)
    }

    @Test(arguments: LogVariant.allCases)
    func `random logs survive random crashes and crashes during recovery`(variant: LogVariant) throws {
        let seed = UInt64.testSeed()
        var generator = SeededRandom(seed: seed)
        let rounds = Effort.runs("TIDELOG_CRASHES", usually: 100)
        for round in 0..<rounds {
            let script = LogScript.random(variant.options, &generator)
            var disk = SimulatedDisk()
            disk.fail(atCall: Int.random(in: 0..<script.calls.changes, using: &generator), .crash)
            let outcome = script.run(on: disk)
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                disk = disk.random(&generator)
                disk.fail(atCall: Int.random(in: 0...6, using: &generator), .crash)
                _ = try? Sample.open(disk, script.options)
            }
            if let objection = script.objection(to: disk.random(&generator), outcome) {
                Issue.record("seed \(seed), round \(round): \(objection); \(script), \(outcome)")
            }
        }
        print("random crashes, \(variant): \(rounds), seed \(seed)")
    }
}
