import Foundation

/// An executable of this package that a test starts and ends.
final class ChildProcess: Sendable {
    private let process: Process
    /// The lines that it printed before it was ready.
    let lines: [String]

    struct Unexpected: Error, CustomStringConvertible { let description: String }

    /// Starts the executable next to the test bundle, and waits for its first lines.
    init(_ name: String, _ arguments: [String], lines count: Int) throws {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        var folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.isExecutableFile(atPath: folder.path + "/\(name)") {
            folder.deleteLastPathComponent()
        }
        process = Process()
        process.executableURL = folder.appendingPathComponent(name)
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

    /// Ends the process as a crash would, and waits until it is gone.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Asks the process to end, and returns its status.
    func terminate() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -1
    }

    deinit { kill() }
}
