import Foundation

/// A pseudo-terminal to which a program prints as to a real terminal.
final class Terminal {
    private let master: Int32
    private let slave: Int32

    /// Opens the terminal.
    ///
    /// - Parameter columns: The width of the terminal.
    init(columns: UInt16) throws {
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        var (master, slave): (Int32, Int32) = (-1, -1)
        guard openpty(&master, &slave, nil, nil, &size) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        (self.master, self.slave) = (master, slave)
    }

    deinit { close(master) }

    /// Runs the program with this terminal as standard output until it ends. Returns the complete output with plain
    /// line ends.
    func text(of process: Process) throws -> String {
        process.standardOutput = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
        try process.run()
        // While the test has this end open, reading would never reach the end of the output.
        close(slave)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(master, &chunk, chunk.count)
            if count > 0 { bytes += chunk[..<count] } else if count == 0 || errno != EINTR { break }
        }
        process.waitUntilExit()
        return String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
    }
}

extension Workspace {
    /// Returns the output of `tidelog` on a terminal. Times are replaced by a time of the same width.
    func onTerminal(_ columns: UInt16, _ arguments: String...) throws -> String {
        let process = Executable.process(arguments)
        process.currentDirectoryURL = folder
        // These variables may be set in the environment of the tests.
        var variables = ProcessInfo.processInfo.environment
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS"] { variables[name] = nil }
        variables["TERM"] = "xterm"
        variables["XDG_CONFIG_HOME"] = path("config")
        process.environment = variables.merging(environment) { $1 }
        process.standardError = FileHandle.nullDevice
        return try Terminal(columns: columns).text(of: process)
            .replacing(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ/, with: "2026-01-01T00:00:00.000Z")
    }
}
