import DiskSimulation
import Testing

@testable import OperationLog

/// Changed bytes in the last commits are damage, bytes missing after a crash are not, even if the end of the log is not
/// recorded.
@Suite struct DamagedTailTests {
    private let path = Sample.segment(1)

    /// Returns a log of commits with these sizes in bytes, and the offset of each commit followed by the end of the
    /// file.
    private func log(_ sizes: [Int], keys: [LogKey] = []) throws -> (disk: SimulatedDisk, starts: [Int]) {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, .init(keys: keys)).log
        var starts = [disk[path].count]
        for size in sizes {
            try log.append(Sample.commit(from: log.nextSequence, count: 1, size: size))
            starts.append(disk[path].count)
        }
        log.close()
        Sample.forgetEnd(disk)
        return (disk, starts)
    }

    private func isDamage(_ disk: SimulatedDisk, keys: [LogKey]) -> Bool {
        do {
            try Sample.open(disk, .init(keys: keys)).log.close()
            return false
        } catch LogError.damaged {
            return true
        } catch {
            return false
        }
    }

    @Test(arguments: [[], [Sample.key]])
    func `a changed bit of the last commit is damage, and the tail is not cut`(_ keys: [LogKey]) throws {
        for sizes in [[40, 40], [40, 1_500]] {
            let (disk, starts) = try log(sizes, keys: keys)
            let whole = disk[path]
            var taken = 0
            for bit in starts[1] * 8..<whole.count * 8 {
                let changed = disk.copy()
                changed[path][bit / 8] ^= 1 << UInt8(bit % 8)
                let before = changed[path]
                guard isDamage(changed, keys: keys) else {
                    // A byte that becomes zero next to zeroes looks like a byte that was not written.
                    #expect(before[bit / 8] == 0, "bit \(bit) of \(sizes)")
                    taken += 1
                    continue
                }
                #expect(changed[path] == before, "bit \(bit) of \(sizes)")
            }
            #expect(taken < 16, "\(taken) of \((whole.count - starts[1]) * 8) bits, \(sizes)")
        }
    }

    @Test func `a changed bit in each of the last two commits is damage`() throws {
        let (disk, starts) = try log([40, 300, 300])
        for offset in stride(from: starts[1], to: starts[2], by: 7) {
            for other in stride(from: starts[2], to: starts[3], by: 11) {
                let changed = disk.copy()
                changed[path][offset] ^= 4
                changed[path][other] ^= 16
                if changed[path][offset] == 0 { continue }
                #expect(isDamage(changed, keys: []), "bytes \(offset) and \(other)")
            }
        }
    }

    @Test func `verification reports a changed bit of the last commit`() throws {
        let (disk, starts) = try log([40, 300])
        disk[path][starts[1] + 50] ^= 1
        let report = try LogVerification.verify(directory: Sample.directory, fileSystem: disk)
        #expect(!report.isSound)
    }

    @Test func `a commit with a missing sector is torn, and its bytes are kept in a file`() throws {
        let (disk, starts) = try log([40, 4_000])
        let sector = (starts[1] / 512 + 2) * 512
        for index in sector..<sector + 512 { disk[path][index] = 0 }
        let torn = Array(disk[path][starts[1]...])
        let (log, recovery) = try Sample.open(disk)
        #expect(log.nextSequence == 2)
        #expect(recovery.cut?.offset == UInt64(starts[1]))
        let kept = try #require(recovery.cut?.keptAt)
        #expect(kept == "\(Sample.directory)/00000000000000000001-\(starts[1]).cut")
        #expect(disk[kept] == torn)
        // New commits are written at the place of the torn one. The file with the cut bytes does not interfere.
        try log.append(Sample.commit(from: 2, count: 1))
        log.close()
        #expect(try Sample.read(disk) == Sample.expected(1...2))
        #expect(try LogVerification.verify(directory: Sample.directory, fileSystem: disk).isSound)
    }

    @Test func `an intact last commit with another sequence number is damage, and the tail is not cut`() throws {
        let (disk, starts) = try log([40, 300])
        disk[path].store(UInt64(9), BlockHeader.Layout.firstSequence, in: starts[1])
        Forger.fitChecksums(ofBlockAt: starts[1], in: &disk[path])
        let before = disk[path]
        #expect(isDamage(disk, keys: []))
        #expect(disk[path] == before)
    }

    @Test func `a torn commit before one that required it to be durable is damage`() throws {
        let (disk, starts) = try log([40, 300, 300])
        for index in starts[1]..<starts[1] + 100 { disk[path][index] = 0 }
        #expect(isDamage(disk, keys: []))
    }

    @Test func `a header is found at the very end of a file`() throws {
        let (disk, starts) = try log([40, 300])
        disk[path].removeSubrange((starts[1] + BlockHeader.Layout.byteCount)...)
        let segment = try LogReader(directory: Sample.directory, fileSystem: disk).segment(1)
        #expect(try segment.nextHeader(after: UInt64(starts[0])) { _ in true }?.offset == UInt64(starts[1]))
    }

    @Test func `only the newest eight files with cut bytes are kept`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [1])
        var kept: [String] = []
        for _ in 0..<12 {
            let (log, recovery) = try Sample.open(disk)
            if let cut = recovery.cut?.keptAt { kept.append(cut) }
            try log.append(Sample.commit(from: log.nextSequence, count: 1))
            try log.append(Sample.commit(from: log.nextSequence, count: 1))
            log.close()
            disk[path].removeLast(3)
            Sample.forgetEnd(disk)
        }
        let files = disk.paths.filter { $0.hasSuffix(".cut") }
        #expect(files.count == TornTailArchive.limit)
        #expect(files.contains(try #require(kept.last)))
    }
}
