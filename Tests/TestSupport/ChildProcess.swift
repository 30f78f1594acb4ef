package import Foundation
import Synchronization

/// A program that a test starts, and that prints when it is ready. It ends with the value.
package final class ChildProcess: Sendable {
    /// The program, or the shell that runs a shared one.
    private let process: Process
    /// The input of the shell that runs a shared program. The program ends with it.
    private let lifeline: FileHandle?
    /// The lines that it printed before it was ready.
    package let lines: [String]
    /// The folder of the file with its standard error. Not a pipe, which the program could fill.
    private let folder: TemporaryDirectory

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
    /// If it ends before, the error contains its exit status, its output and its standard error.
    ///
    /// - Parameter isShared: Whether the process may exist until the end of the tests. Then it ends with them, however
    ///   they end, and can be killed, but not terminated.
    package init(_ executable: URL, _ arguments: [String], lines count: Int, isShared: Bool = false) throws {
        process = Process()
        folder = isShared ? .untilExit() : TemporaryDirectory()
        let output = Pipe()
        let errorFile = try Self.emptyFile(Self.errorFile(in: folder))
        process.standardOutput = output
        process.standardError = errorFile
        if isShared {
            let input = Pipe()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", Self.runUntilEndOfInput, executable.path] + arguments
            process.standardInput = input
            lifeline = input.fileHandleForWriting
        } else {
            process.executableURL = executable
            process.arguments = arguments
            lifeline = nil
        }
        try process.run()
        try errorFile.close()
        var text = ""
        while text.count(where: { $0 == "\n" }) < count {
            let chunk = output.fileHandleForReading.availableData
            if chunk.isEmpty { break }
            text += String(decoding: chunk, as: UTF8.self)
        }
        lines = text.split(separator: "\n").map(String.init)
        guard lines.count >= count else {
            let status = isShared ? "" : " (\(Self.end(of: process)))"
            throw Unexpected(
                description: "\(executable.lastPathComponent) did not start\(status): \(text)\(errors)")
        }
    }

    /// The standard error of the program so far.
    package var errors: String {
        String(decoding: TemporaryDirectory.read(Self.errorFile(in: folder)) ?? [], as: UTF8.self)
    }

    private static func errorFile(in folder: TemporaryDirectory) -> String { folder.path + "/stderr" }

    private static func emptyFile(_ path: String) throws -> FileHandle {
        TemporaryDirectory.write([], to: path)
        guard let file = FileHandle(forWritingAtPath: path) else {
            throw Unexpected(description: "\(path) cannot be written.")
        }
        return file
    }

    /// Waits until the process, which has closed its output, has ended, and returns its status.
    private static func end(of process: Process) -> String {
        for _ in 0..<500 where process.isRunning { usleep(10_000) }
        guard !process.isRunning else { return "still running" }
        return "\(process.terminationReason == .exit ? "status" : "signal") \(process.terminationStatus)"
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

    /// Runs a program until the standard input ends, which it does when the tests have ended. The shell does not wait for
    /// the program before, so its number belongs to it until then. The program alone holds the standard output.
    private static let runUntilEndOfInput =
        #""$0" "$@" </dev/null & trap '' HUP INT TERM; exec >&-; read -r _; kill -9 $!"#

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
        if let lifeline {
            try? lifeline.close()
        } else if process.isRunning {
            // The number of a process that has ended may belong to a new process.
            Foundation.kill(process.processIdentifier, SIGKILL)
        }
        process.waitUntilExit()
    }

    /// Asks the process to end, and returns its status.
    @discardableResult
    package func terminate(_ signal: Int32 = SIGTERM) -> Int32 {
        precondition(lifeline == nil, "the signal would reach the shell of a shared process")
        Foundation.kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -1
    }

    deinit { kill() }
}
