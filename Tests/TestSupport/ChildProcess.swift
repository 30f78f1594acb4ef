package import Foundation
import Synchronization

/// A program that a test starts, and that prints when it is ready. It ends with the value.
package final class ChildProcess: Sendable {
    private let process: Process
    /// The lines that it printed before it was ready.
    package let lines: [String]

    package struct Unexpected: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Starts an executable of this package, and waits for its first lines.
    package convenience init(_ name: String, _ arguments: [String], lines count: Int) throws {
        try self.init(Self.executable(name), arguments, lines: count)
    }

    /// Starts a program, and waits for its first lines.
    ///
    /// - Parameter isShared: Whether the process may exist until the end of the tests. Then it ends with them, however
    ///   they end.
    package init(_ executable: URL, _ arguments: [String], lines count: Int, isShared: Bool = false) throws {
        process = Process()
        process.executableURL = executable
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        if isShared { Self.guardian?.write(Data("\(process.processIdentifier)\n".utf8)) }
        var text = ""
        while text.count(where: { $0 == "\n" }) < count {
            let chunk = output.fileHandleForReading.availableData
            if chunk.isEmpty { break }
            text += String(decoding: chunk, as: UTF8.self)
        }
        lines = text.split(separator: "\n").map(String.init)
        guard lines.count >= count else {
            process.terminate()
            throw Unexpected(description: "\(executable.lastPathComponent) did not start: \(text)")
        }
    }

    /// The port in the first line, such as `V2 http://127.0.0.1:PORT/v2/`; 0 if there is none.
    package var port: Int { lines.first?.split(separator: ":").last.flatMap { Int($0.prefix(while: \.isNumber)) } ?? 0 }

    /// Returns the executable with this name next to the test bundle.
    package static func executable(_ name: String) -> URL {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        var folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.isExecutableFile(atPath: folder.path + "/\(name)") {
            folder.deleteLastPathComponent()
        }
        return folder.appendingPathComponent(name)
    }

    /// The standard input of a shell that reads the numbers of processes, and kills these when this process has ended.
    private static let guardian: FileHandle? = {
        let shell = Process()
        let input = Pipe()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", "while read -r number; do all=\"$all $number\"; done; kill -9 $all"]
        shell.standardInput = input
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = FileHandle.nullDevice
        return (try? shell.run()).map { input.fileHandleForWriting }
    }()

    /// Runs an executable of this package until it exits. Returns its exit status, and its standard output and standard
    /// error.
    package static func run(_ name: String, _ arguments: [String]) throws -> (status: Int32, text: String) {
        try run(executable(name), arguments)
    }

    /// Runs a program until it exits.
    package static func run(_ program: URL, _ arguments: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = program
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
        // The number of a process that has ended may be in use again.
        if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }

    /// Asks the process to end, and returns its status.
    @discardableResult
    package func terminate(_ signal: Int32 = SIGTERM) -> Int32 {
        Foundation.kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -1
    }

    deinit { kill() }
}
