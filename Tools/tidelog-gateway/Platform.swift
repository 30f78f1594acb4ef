internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

enum TextFile {
    /// Returns whether the folder of a file exists.
    static func hasFolder(_ path: String) -> Bool {
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "."
        return access(String(folder), F_OK) == 0
    }

    private static let maximumSize = 64 << 20

    /// Returns the content, or `nil` if the file cannot be read or has more than 64 MiB.
    static func read(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&chunk, 1, chunk.count, file), count > 0 {
            bytes += chunk[..<count]
            if bytes.count > maximumSize { return nil }
        }
        return ferror(file) == 0 ? bytes : nil
    }
}

enum StandardError {
    /// Writes a text at once, unbuffered.
    static func write(_ line: String) {
        var text = line
        text.withUTF8 { bytes in
            #if canImport(Darwin)
                _ = Darwin.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
            #elseif canImport(Glibc)
                _ = Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
            #else
                _ = Musl.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
            #endif
        }
    }
}

/// SIGINT, SIGTERM and SIGHUP, which end the program in an orderly way from the creation of this value on.
struct StopSignals: Sendable {
    init() {
        // The first access initializes the flag, which a signal handler must not do.
        stopWasRequested.store(false, ordering: .relaxed)
        signal(SIGINT) { _ in stopWasRequested.store(true, ordering: .relaxed) }
        signal(SIGTERM) { _ in stopWasRequested.store(true, ordering: .relaxed) }
        // nohup starts programs that ignore SIGHUP.
        let previous = signal(SIGHUP) { _ in stopWasRequested.store(true, ordering: .relaxed) }
        if unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { signal(SIGHUP, SIG_IGN) }
        // A client that disconnects is an error of its connection.
        signal(SIGPIPE, SIG_IGN)
    }

    /// Waits for a signal. It is polled, so that no thread of the shared pool is blocked.
    func wait() async {
        while !stopWasRequested.load(ordering: .relaxed) { try? await Task.sleep(for: .milliseconds(100)) }
    }
}

private let stopWasRequested = Atomic(false)
