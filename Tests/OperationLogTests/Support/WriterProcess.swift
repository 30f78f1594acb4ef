import Testing

@testable import LogWriter

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

#if os(Linux) || os(macOS)
    /// A running `LogWriter` process.
    struct WriterProcess {
        private let identifier: pid_t

        struct NotStarted: Error { let number: Int32 }

        init(store: String, mode: WriterMode, run: Int) throws {
            unlink(store + "/acknowledged")
            try self.init([store, mode.rawValue, "\(run)"])
        }

        private init(_ words: [String], environment: [String]? = nil) throws {
            let words: [String] = [Self.program] + words
            var arguments = words.map { strdup($0) }
            arguments.append(nil)
            defer { for argument in arguments { free(argument) } }
            var identifier: pid_t = 0
            var variables = environment?.map { strdup($0) } ?? []
            variables.append(nil)
            defer { for variable in variables { free(variable) } }
            let result =
                environment == nil
                ? posix_spawn(&identifier, Self.program, nil, nil, arguments, environ)
                : posix_spawn(&identifier, Self.program, nil, nil, arguments, variables)
            guard result == 0 else { throw NotStarted(number: result) }
            self.identifier = identifier
        }

        /// Returns the memory that a process uses to read the log, in KiB.
        static func memory(toRead store: String) throws -> UInt64 {
            unlink(store + "/peak")
            // The process returns large allocations to the system when it frees them, so its peak contains only memory
            // in use.
            let process = try WriterProcess([store, "read"], environment: ["MALLOC_MMAP_THRESHOLD_=1000000"])
            #expect(process.wait() == 0)
            return number(in: store + "/peak", at: 0)
        }

        /// Kills the process and returns the signal that ended it, or 0.
        func kill() -> Int32 {
            _ = signal(SIGKILL)
            return wait() & 0x7F
        }

        /// Waits for the end of the process and returns the status of `waitpid`.
        private func wait() -> Int32 {
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            return status
        }

        private func signal(_ number: Int32) -> Int32 {
            #if canImport(Darwin)
                Darwin.kill(identifier, number)
            #elseif canImport(Musl)
                Musl.kill(identifier, number)
            #else
                Glibc.kill(identifier, number)
            #endif
        }

        /// Returns the number of the last commit that was acknowledged to the writer's thread.
        static func acknowledged(in store: String, thread: UInt32) -> UInt64 {
            number(in: store + "/acknowledged", at: off_t(thread * 8))
        }

        private static func number(in path: String, at offset: off_t) -> UInt64 {
            let note = open(path, O_RDONLY)
            guard note >= 0 else { return 0 }
            defer { close(note) }
            var number: UInt64 = 0
            _ = withUnsafeMutableBytes(of: &number) { bytes in pread(note, bytes.baseAddress, bytes.count, offset) }
            return UInt64(littleEndian: number)
        }

        /// The path of the program, which is built together with the tests into the directory of their bundle.
        private static let program: String = {
            let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
            var folder = bundle[...]
            while let slash = folder.lastIndex(of: "/") {
                folder = folder[..<slash]
                if access(folder + "/LogWriter", X_OK) == 0 { break }
            }
            return folder + "/LogWriter"
        }()
    }
#endif
