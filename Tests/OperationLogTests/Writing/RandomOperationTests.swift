import DiskSimulation
import OperationLog
import SeededRandom
import Testing

/// Random sequences of appends, syncs, reopenings, crashes and reads, compared with an array of records.
@Suite struct RandomOperationTests {
    @Test func `a log behaves like an array of commits that loses at most commits that are not durable`() throws {
        let seed = UInt64.testSeed()
        var generator = SeededRandom(seed: seed)
        for round in 0..<20 {
            var run = Run(context: "seed \(seed), round \(round)")
            for _ in 0..<120 { try run.step(&generator) }
        }
    }

    private struct Run {
        let context: String
        private var disk = SimulatedDisk()
        private var log: OperationLog?
        private var model: [LogRecord] = []
        private var boundaries: Set<Int> = [0]
        private var durable = 0
        private var cursor: LogCursor?
        private var cursorSeen = 0

        init(context: String) { self.context = context }

        mutating func step(_ generator: inout SeededRandom) throws {
            guard let log else { return try open(&generator) }
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<10: try append(to: log, &generator)
            case 10:
                try log.sync()
                durable = model.count
            case 11:
                log.close()
                self.log = nil
            case 12: try crash(&generator)
            case 13..<15: try read(&generator)
            case 15..<19: try follow()
            default:
                let report = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
                #expect(report.isSound && report.tail == nil && report.records == UInt64(model.count), "\(context)")
            }
        }

        private mutating func open(_ generator: inout SeededRandom) throws {
            let options = OperationLog.Options(
                durability: Bool.random(using: &generator) ? .everyCommit : .none,
                compression: [.stored, .zstd(level: 1), .zstd(level: 6)].randomElement(using: &generator) ?? .stored,
                segmentSize: .random(in: 100...20000, using: &generator),
                runSize: .random(in: 1...8000, using: &generator))
            let (log, recovery) = try Sample.open(disk, options)
            let kept = Int(recovery.nextSequence - 1)
            #expect(kept >= durable && kept <= model.count && boundaries.contains(kept), "\(context)")
            model.removeSubrange(kept...)
            boundaries = boundaries.filter { $0 <= kept }
            durable = kept
            self.log = log
        }

        private mutating func append(to log: OperationLog, _ generator: inout SeededRandom) throws {
            var records: [(kind: UInt8, payload: [UInt8])] = []
            for _ in 0..<Int.random(in: 1...5, using: &generator) {
                let size = Bool.random(using: &generator) ? 30 : Int.random(in: 0...3000, using: &generator)
                let letters: ClosedRange<UInt8> = Bool.random(using: &generator) ? 0...255 : 97...100
                let payload = (0..<size).map { _ in UInt8.random(in: letters, using: &generator) }
                records.append((kind: .random(in: 0 ... .max, using: &generator), payload: payload))
            }
            let range = try log.append(records)
            #expect(range.lowerBound == UInt64(model.count + 1), "\(context)")
            for (sequence, record) in zip(range, records) {
                model.append(LogRecord(sequence: sequence, kind: record.kind, payload: record.payload))
            }
            boundaries.insert(model.count)
            durable = Int(log.durableSequence)
        }

        private mutating func crash(_ generator: inout SeededRandom) throws {
            disk = disk.random(&generator)
            log = nil
            cursor = nil
        }

        private func read(_ generator: inout SeededRandom) throws {
            let first = Int.random(in: 1...model.count + 2, using: &generator)
            let records = try Sample.read(disk, from: UInt64(first))
            #expect(records == Array(model.dropFirst(first - 1)), "\(context)")
        }

        private mutating func follow() throws {
            if cursor == nil {
                cursor = try LogReader(directory: Sample.directory, fileSystem: disk).records()
                cursorSeen = 0
            }
            while let record = try cursor?.next() {
                #expect(record == model[cursorSeen], "\(context)")
                cursorSeen += 1
            }
            #expect(cursorSeen == model.count, "\(context)")
        }
    }
}
