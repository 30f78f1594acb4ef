import DiskSimulation
import Testing

@testable import OperationLog

/// The syncs that order the changes of names. A simulated disk keeps changes of a directory in order, so that a missing sync
/// between two of them is not visible in its images after a crash; other file systems reorder them.
@Suite struct SyncOrderTests {
    private let small = OperationLog.Options(segmentSize: 350, runSize: 150)

    private func damaged() throws -> CallRecorder {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: Array(repeating: 2, count: 12), small)
        disk[Sample.segment(1)][120] ^= 1
        disk[Sample.segment(1)][122] ^= 1
        return CallRecorder(disk.copy())
    }

    /// Returns the steps of a compaction that removes several segments.
    private func compaction() throws -> (steps: [String], report: CompactionReport) {
        let disk = SimulatedDisk()
        let log = try Sample.open(disk, small).log
        for sequence in UInt64(1)...30 { try log.append(Sample.commit(from: sequence, count: 1)) }
        try SampleSnapshot.write(log)
        try log.append(Sample.commit(from: 31, count: 1))
        var steps: [String] = []
        let report = try Compaction(
            reader: LogReader(directory: Sample.directory, fileSystem: disk),
            remove: { path throws(FileSystemError) in
                steps.append("remove")
                try disk.remove(path)
            },
            syncDirectory: { () throws(LogError) in steps.append("sync") }
        ).run(keepingFrom: .max)
        log.close()
        return (steps, report)
    }

    @Test func `a compaction makes the name of the snapshot durable before it removes a segment`() throws {
        #expect(try compaction().steps.first == "sync")
    }

    @Test func `a compaction syncs the directory after each removed segment`() throws {
        let (steps, report) = try compaction()
        #expect(report.removedSegments > 2)
        #expect(steps == ["sync"] + (0..<report.removedSegments).flatMap { _ in ["remove", "sync"] })
    }

    @Test func `a repair in place syncs the parent after each of its renames`() throws {
        let recorder = try damaged()
        guard case .salvaged = try LogRepair(directory: Sample.directory, fileSystem: recorder).inPlace(beforeSwap: {})
        else { return #expect(Bool(false)) }
        let renames = recorder.following("rename \(Sample.directory)")
        #expect(renames.count == 3 && renames.allSatisfy { $0 == "sync /store" }, "\(recorder.calls)")
    }

    @Test func `a repair syncs the directory of the new log before the directory gets its name`() throws {
        let recorder = try damaged()
        _ = try LogRepair(directory: Sample.directory, fileSystem: recorder).salvage(to: "/store/new")
        let calls = recorder.calls
        let rename = try #require(calls.firstIndex { $0.hasPrefix("rename /store/new.repairing to /store/new") })
        #expect(calls[rename - 1] == "sync /store/new.repairing")
        #expect(recorder.following("rename /store/new.repairing to /store/new") == ["sync /store"])
    }

    @Test func `a completed repair syncs the parent after the rename`() throws {
        let recorder = try damaged()
        try recorder.rename(Sample.directory, to: Sample.directory + LogRepair.repairedSuffix)
        try LogRepair.finishSwap(Sample.directory, recorder)
        #expect(recorder.calls.last == "sync /store")
    }

    @Test func `the recorded end is synced after each write`() throws {
        let recorder = CallRecorder(SimulatedDisk())
        var options = small
        options.storeIdentifier = Sample.store
        for _ in 0..<2 {
            let log = try OperationLog.open(directory: Sample.directory, options: options, fileSystem: recorder).log
            for _ in 0..<8 { try log.append(Sample.commit(from: log.nextSequence, count: 2)) }
            log.close()
        }
        let following = recorder.following("write \(Sample.end)")
        #expect(!following.isEmpty && following.allSatisfy { $0 == "sync \(Sample.end)" }, "\(recorder.calls)")
    }

    @Test func `torn bytes are durable, with their name, before they are cut`() throws {
        let disk = SimulatedDisk()
        try Sample.write(disk, commits: [2, 2], .init())
        Sample.forgetEnd(disk)
        disk[Sample.segment(1)] += [UInt8](repeating: 7, count: 20)
        let recorder = CallRecorder(disk.copy())
        try OperationLog.open(directory: Sample.directory, fileSystem: recorder).log.close()
        let calls = recorder.calls
        let write = try #require(calls.firstIndex { $0.hasPrefix("write ") && $0.contains(".cut") }, "\(calls)")
        #expect(calls[write + 1] == "sync" + calls[write].dropFirst("write".count))
        #expect(calls[write + 2] == "sync \(Sample.directory)")
        #expect(try #require(calls.firstIndex { $0.hasPrefix("truncate") }) > write + 2)
    }

    @Test func `a sync without new commits does not sync the segment again`() throws {
        let recorder = CallRecorder(SimulatedDisk())
        var options = OperationLog.Options(durability: .none)
        options.storeIdentifier = Sample.store
        let log = try OperationLog.open(directory: Sample.directory, options: options, fileSystem: recorder).log
        try log.append(Sample.commit(from: 1, count: 2))
        try log.sync()
        let before = recorder.calls
        #expect(before.contains("sync \(Sample.segment(1))"))
        try log.sync()
        #expect(recorder.calls == before)
        log.close()
    }

    @Test func `the parent of the directory of a new log is synced`() throws {
        let recorder = CallRecorder(SimulatedDisk(directories: ["/store"]))
        try OperationLog.open(directory: Sample.directory, fileSystem: recorder).log.close()
        #expect(recorder.calls.first == "sync /store")
    }

    @Test func `the end of a log is recorded on request`() throws {
        let recorder = CallRecorder(SimulatedDisk())
        let log = try OperationLog.open(directory: Sample.directory, fileSystem: recorder).log
        try log.append(Sample.commit(from: 1, count: 2))
        let before = recorder.calls.count
        log.recordEnd()
        #expect(recorder.calls.dropFirst(before).contains("write \(Sample.end)"))
        log.close()
    }
}
