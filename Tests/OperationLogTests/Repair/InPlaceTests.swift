import DiskSimulation
import Testing

@testable import OperationLog

/// Repair in place replaces the log by a new one, and no crash loses both.
@Suite struct InPlaceTests {
    private func damaged() throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        try Sample.write(
            disk, commits: Array(repeating: 2, count: 12),
            .init(sealing: .asWritten, segmentSize: 400, runSize: 150))
        disk[Sample.segment(1)][120] ^= 1
        // A copy treats all content as durable, like content written long ago.
        return disk.copy()
    }

    private func inPlace(_ disk: SimulatedDisk, beforeSwap: () throws -> Void = {}) throws -> LogRepair.Outcome {
        try LogRepair(directory: Sample.directory, fileSystem: disk).inPlace(beforeSwap: beforeSwap)
    }

    private func kept(_ disk: SimulatedDisk) -> [String] {
        Set(disk.paths.filter { $0.contains(".damaged-") }.map { String($0.prefix(while: { $0 != "." })) + ".damaged" })
            .sorted()
    }

    @Test func `the damaged log is kept next to the new one under the first free number`() throws {
        let disk = try damaged()
        let before = disk[Sample.segment(1)]
        guard case .salvaged(let salvage, let kept) = try inPlace(disk) else { return #expect(Bool(false)) }
        #expect(kept == "/store/log.damaged-1")
        #expect(disk["/store/log.damaged-1/00000000000000000001.segment"] == before)
        let log = try Sample.open(disk).log
        #expect(log.nextSequence == salvage.nextSequence)
        log.close()
        disk[Sample.segment(1)][120] ^= 1
        guard case .salvaged(_, let second) = try inPlace(disk) else { return #expect(Bool(false)) }
        #expect(second == "/store/log.damaged-2")
    }

    @Test func `a repair does nothing while a writer has the log open`() throws {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk).log
        try log.append(Sample.commit(from: 1, count: 1))
        #expect(throws: LogError.locked(path: "/store/LOCK", processID: 42)) { try inPlace(disk) }
        log.close()
    }

    @Test func `a repair that is aborted before the swap changes nothing and can be repeated`() throws {
        let disk = try damaged()
        struct Stop: Error {}
        #expect(throws: Stop.self) { try inPlace(disk) { throw Stop() } }
        #expect(kept(disk).isEmpty)
        guard case .salvage = try LogRepair(directory: Sample.directory, fileSystem: disk).plan() else {
            return #expect(Bool(false))
        }
        _ = try inPlace(disk)
        #expect(try LogRepair(directory: Sample.directory, fileSystem: disk).plan() == .nothing)
    }

    @Test func `a log whose directory cannot be read is not replaced`() throws {
        let disk = SimulatedDisk()
        disk["/store/log.repaired/1"] = [1]
        disk.fail(atRead: disk.reads, .fail(number: 5))
        #expect(throws: LogError.self) { try LogRepair.finishSwap("/store/log", disk) }
        #expect(throws: FileSystemError.self) { try disk.list("/store/log") }
        try LogRepair.finishSwap("/store/log", disk)
        #expect(try disk.list("/store/log") == ["1"])
    }

    @Test func `after a crash at any call, the next repair yields the same log`() throws {
        let reference = try damaged()
        let begin = reference.calls
        _ = try inPlace(reference)
        let calls = reference.calls - begin
        let expected = try Sample.records(LogReader(directory: Sample.directory, fileSystem: reference).records())
        var images = 0
        for call in 0..<calls {
            for fault in [SimulatedDisk.Fault.crash, .fail(number: 5)] {
                let disk = try damaged()
                disk.fail(atCall: disk.calls + call, fault)
                #expect(throws: (any Error).self) { try inPlace(disk) }
                for image in [disk.copy(), disk.withoutUnsynced()] {
                    images += 1
                    // In every second image the log is opened first: the writer refuses it, or completes the repair.
                    if call % 2 == 0 { (try? Sample.open(image))?.log.close() }
                    _ = try inPlace(image)
                    let records = try Sample.records(
                        LogReader(directory: Sample.directory, fileSystem: image).records())
                    #expect(records == expected, "call \(call), \(fault)")
                    #expect(!kept(image).isEmpty, "call \(call), \(fault)")
                }
            }
        }
        print("calls: \(calls), images: \(images)")
        #expect(calls > 10)
    }
}
