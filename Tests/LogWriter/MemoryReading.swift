import OperationLog

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Measures the memory that reading a log takes, for any content of the log.
enum MemoryReading {
    static func run(store: String) {
        let before = peak()
        let (directory, keys) = (store + "/log", [WriterMode.key])
        // Errors are expected; only the memory use matters.
        try? LogReader(directory: directory, keys: keys).forEach { _ in }
        _ = try? LogVerification.verify(directory: directory, keys: keys)
        if let log = try? OperationLog.open(directory: directory, options: .init(keys: keys)).log { log.close() }
        let note = open(store + "/peak", O_WRONLY | O_CREAT, 0o666)
        withUnsafeBytes(of: UInt64(peak() - before).littleEndian) { bytes in
            _ = pwrite(note, bytes.baseAddress, bytes.count, 0)
        }
    }

    /// Returns the peak memory of the process, in kilobytes.
    private static func peak() -> Int {
        #if os(Linux)
            // On Linux, the result of `getrusage` includes the parent process.
            var bytes = [UInt8](repeating: 0, count: 8192)
            let status = open("/proc/self/status", O_RDONLY)
            let count = read(status, &bytes, bytes.count)
            close(status)
            let lines = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: "\n")
            let line = lines.first { $0.hasPrefix("VmHWM:") } ?? ""
            return Int(line.filter(\.isNumber)) ?? 0
        #else
            var usage = rusage()
            getrusage(RUSAGE_SELF, &usage)
            return usage.ru_maxrss / 1024
        #endif
    }
}
