import Foundation

/// An executable of this package that a test starts and ends.
package final class ChildProcess: Sendable {
    private let process: Process
    /// The lines that it printed before it was ready.
    package let lines: [String]

    package struct Unexpected: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Starts the executable next to the test bundle, and waits for its first lines.
    package init(_ name: String, _ arguments: [String], lines count: Int) throws {
        process = Process()
        process.executableURL = Self.executable(name)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var text = ""
        while text.count(where: { $0 == "\n" }) < count {
            let chunk = output.fileHandleForReading.availableData
            if chunk.isEmpty { break }
            text += String(decoding: chunk, as: UTF8.self)
        }
        lines = text.split(separator: "\n").map(String.init)
        guard lines.count >= count else {
            process.terminate()
            throw Unexpected(description: "\(name) did not start: \(text)")
        }
    }

    private static func executable(_ name: String) -> URL {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        var folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.isExecutableFile(atPath: folder.path + "/\(name)") {
            folder.deleteLastPathComponent()
        }
        return folder.appendingPathComponent(name)
    }

    /// Runs the executable until it exits. Returns its exit status, and its standard output and standard error.
    package static func run(_ name: String, _ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = executable(name)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    /// Ends the process as a crash would, and waits until it is gone.
    package func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Asks the process to end, and returns its status.
    package func terminate(_ signal: Int32 = SIGTERM) -> Int32 {
        Foundation.kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -1
    }

    deinit { kill() }
}
