import OperationLog
import Testing

#if os(Linux)
    import Glibc

    /// Writing and reading a snapshot are streamed: the memory use does not grow with the number of items.
    @Suite struct SnapshotMemoryTests {
        @Test func `a large snapshot is written and read with little memory`() async {
            await #expect(processExitsWith: .success) {
                let items = Effort.runs("TIDELOG_SNAPSHOT_ITEMS", usually: 40_000)
                let store = TemporaryDirectory()
                defer { store.remove() }
                let log = try OperationLog.open(directory: store.path + "/log").log
                let before = peakMemory()
                let snapshot = try log.writeSnapshot { writer in
                    var payload = Sample.payload(1, size: 2000)
                    for item in 0..<items {
                        withUnsafeBytes(of: item.littleEndian) { payload.replaceSubrange(0..<8, with: $0) }
                        try writer.add(kind: 1, payload: payload)
                    }
                }
                let read = try LogReader(directory: store.path + "/log").verify(snapshot)
                let grown = peakMemory() - before
                print("items: \(items), raw bytes: \(read.rawBytes), memory: \(grown) KiB")
                guard read.items == UInt64(items), read.rawBytes > UInt64(items) * 2000, grown < 24_000 else { exit(1) }
            }
        }
    }

    /// Returns the peak memory of this process, in KiB.
    private func peakMemory() -> Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss
    }
#endif
