import Foundation
import Gateway
import GatewayCore
import Synchronization
import TestSupport

/// A server of PostgreSQL in a temporary directory, reached through a Unix socket.
///
/// PostgreSQL refuses to run as root; then it runs as the user that its package has created.
final class PostgresServer: Sendable {
    /// The folder with `initdb` and `postgres` of version 15 or later, or `nil`.
    static let programs: String? = {
        let installed = ((try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? [])
            .compactMap { Int($0) }.filter { $0 >= 15 }.sorted(by: >).map { "/usr/lib/postgresql/\($0)/bin" }
        let chosen = ProcessInfo.processInfo.environment["TIDELOG_POSTGRES"].map { [$0] } ?? []
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (chosen + installed + path).first {
            FileManager.default.isExecutableFile(atPath: $0 + "/initdb")
                && FileManager.default.isExecutableFile(atPath: $0 + "/postgres")
        }
    }()

    /// The reason for which tests are skipped, or `nil`.
    static let missing: String? = {
        guard programs != nil else { return "PostgreSQL 15 or later is not installed" }
        if getuid() == 0, getpwnam("postgres") == nil { return "there is no user postgres to run PostgreSQL as" }
        return nil
    }()

    static let isInstalled: Bool = {
        if let missing { print("Skipped: tests with PostgreSQL: \(missing)") }
        return missing == nil
    }()

    /// The server of all tests that do not stop it.
    static let shared = Mutex<PostgresServer?>(nil)

    /// Returns settings with a schema of its own on the shared server.
    static func fresh() throws -> PostgresSettings {
        try shared.withLock { server in
            let running: PostgresServer
            if let server {
                running = server
            } else {
                running = try PostgresServer()
                server = running
                atexit { PostgresServer.shared.withLock { $0 = nil } }
            }
            return running.settings(schema: "t\(UInt64.random(in: 0...UInt64.max))")
        }
    }

    private let directory = TemporaryDirectory()
    private struct Running {
        let server: Process
        let guardian: Process
        let input: Pipe
    }

    private let running = Mutex<Running?>(nil)

    struct Failure: Error, CustomStringConvertible { let description: String }

    /// Creates the cluster and starts the server.
    init() throws {
        guard let programs = Self.programs, Self.missing == nil else {
            throw Failure(description: Self.missing ?? "PostgreSQL is not installed")
        }
        let own = getuid() == 0 ? getpwnam("postgres")?.pointee : nil
        chmod(directory.path, 0o711)
        for name in ["data", "run"] {
            mkdir("\(directory.path)/\(name)", name == "data" ? 0o700 : 0o755)
            if let own { chown("\(directory.path)/\(name)", own.pw_uid, own.pw_gid) }
        }
        try Self.run(
            Self.asUser + [
                "\(programs)/initdb", "-D", directory.path + "/data", "-U", "gateway", "--auth=trust", "-E", "UTF8",
                "--locale=C", "--no-sync",
            ], log: log)
        let options = """
            listen_addresses = ''
            unix_socket_directories = '\(directory.path)/run'
            max_wal_size = 64MB
            shared_buffers = 32MB
            max_connections = 200
            logging_collector = off

            """
        guard let file = FileHandle(forWritingAtPath: directory.path + "/data/postgresql.conf") else {
            throw Failure(description: "The configuration of PostgreSQL cannot be written.")
        }
        try file.seekToEnd()
        try file.write(contentsOf: Data(options.utf8))
        try file.close()
        try start()
    }

    deinit { stop() }

    private static var asUser: [String] {
        getuid() == 0 ? ["/usr/bin/env", "setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []
    }

    /// Runs a program until it exits. A failure contains its standard error if `log` is the path of a file for it.
    private static func run(_ command: [String], log: String? = nil) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardOutput = FileHandle.nullDevice
        process.standardError = log.map(output) ?? FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(command) failed: \(log.map(end) ?? "")")
        }
    }

    /// Returns a handle for an empty file. Not a pipe, whose end a process of another test may inherit.
    private static func output(_ path: String) -> FileHandle {
        TemporaryDirectory.write([], to: path)
        return FileHandle(forWritingAtPath: path) ?? FileHandle.nullDevice
    }

    /// Returns the last characters of a file.
    private static func end(_ path: String) -> Substring {
        String(decoding: TemporaryDirectory.read(path) ?? [], as: UTF8.self).suffix(2_000)
    }

    func settings(schema: String) -> PostgresSettings {
        var settings = PostgresSettings("postgresql:///postgres?host=\(directory.path)/run&user=gateway")
        settings.schema = schema
        settings.connections = 4
        return settings
    }

    /// Starts the server, and waits until it accepts connections.
    func start() throws {
        let deadline = ContinuousClock.now + .seconds(300)
        // After a crash, the first starts fail until the old processes are gone.
        while ContinuousClock.now < deadline {
            try launch()
            while ContinuousClock.now < deadline, running.withLock({ $0?.server.isRunning ?? false }) {
                if (try? Self.run(["/usr/bin/env"] + ready)) != nil { return }
                usleep(20_000)
            }
            stop()
            usleep(100_000)
        }
        throw Failure(description: "PostgreSQL did not start: \(Self.end(log))")
    }

    private var log: String { directory.path + "/log" }

    private var ready: [String] {
        ["\(Self.programs ?? "")/pg_isready", "-q", "-h", directory.path + "/run", "-U", "gateway", "-d", "postgres"]
    }

    private func launch() throws {
        let server = Process()
        let command = Self.asUser + ["\(Self.programs ?? "")/postgres", "-D", directory.path + "/data"]
        server.executableURL = URL(fileURLWithPath: command[0])
        server.arguments = Array(command.dropFirst())
        server.currentDirectoryURL = URL(fileURLWithPath: "/")
        server.standardInput = FileHandle.nullDevice
        server.standardOutput = FileHandle.nullDevice
        server.standardError = Self.output(log)
        try server.run()
        // Ends the server when this process ends, however it ends. It has no children: Foundation would wait for them.
        let guardian = Process()
        let input = Pipe()
        guardian.executableURL = URL(fileURLWithPath: "/bin/sh")
        guardian.arguments = ["-c", "read -r end; kill -QUIT \(server.processIdentifier)"]
        guardian.standardInput = input
        guardian.standardOutput = FileHandle.nullDevice
        guardian.standardError = FileHandle.nullDevice
        try guardian.run()
        running.withLock { $0 = Running(server: server, guardian: guardian, input: input) }
    }

    /// Ends the server as a crash would: it has no time to write anything.
    func stop() {
        running.withLock { running in
            guard let last = running else { return }
            kill(last.guardian.processIdentifier, SIGKILL)
            last.guardian.waitUntilExit()
            kill(last.server.processIdentifier, SIGQUIT)
            last.server.waitUntilExit()
            running = nil
        }
    }

    /// Starts the server again after a crash.
    func crash() throws {
        stop()
        try start()
    }
}
