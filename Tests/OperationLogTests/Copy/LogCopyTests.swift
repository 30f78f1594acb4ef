import DiskSimulation
import OperationLog
import SeededRandom
import Testing

@Suite struct LogCopyTests {
    @Test func `a copy ends before the last sequence number`() throws {
        let copy = try LogCopy(
            directory: "/copy", store: Sample.store, firstSequence: .max - 1, fileSystem: SimulatedDisk())
        #expect(throws: LogError.sequenceExhausted) { try copy.add(kind: 1, payload: []) }
    }

    @Test func `a copy begins a new segment when the current one has reached the size of segments`() throws {
        let disk = SimulatedDisk()
        let copy = try LogCopy(directory: Sample.directory, store: Sample.store, fileSystem: disk)
        var generator = SeededRandom(seed: 1)
        // Random bytes are not compressed.
        let payload = (0..<1 << 20).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        for _ in 0..<20 { try copy.add(kind: 1, payload: payload) }
        try copy.finish()
        #expect(disk.paths.count { $0.hasSuffix(".segment") } == 2)
        let records = try Sample.read(disk)
        #expect(records.map(\.sequence) == Array(1...20))
        #expect(records.allSatisfy { $0.payload == payload })
    }
}
