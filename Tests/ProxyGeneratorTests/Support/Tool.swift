import Foundation
import TestSupport

#if os(macOS) || os(Linux)
    /// The program, with a working folder that is removed when the value is released.
    final class Tool {
        let folder = FileManager.default.temporaryDirectory.appending(path: "proxygen-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: folder) }

        /// Returns the path of a file in the folder.
        func path(_ name: String) -> String { folder.appending(path: name).path }

        func write(_ text: String, to name: String) throws {
            let url = folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }

        func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

        /// Returns the names of the files in the folder or in one of its subfolders, including hidden files.
        func names(in name: String = "") throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: path(name)).sorted()
        }

        /// Runs the program in the folder and returns its output and its exit code.
        func run(_ arguments: [String], input: String = "") throws -> (said: String, code: Int32) {
            let result = try output(arguments, input: input)
            return (result.said + result.printed, result.code)
        }

        func output(
            _ arguments: [String], input: String = ""
        ) throws -> (printed: String, said: String, code: Int32) {
            let files = FileManager.default.temporaryDirectory.appending(path: "proxygen-io-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: files) }
            func file(_ name: String, _ text: String) throws -> URL {
                let url = files.appending(path: name)
                try Data(text.utf8).write(to: url)
                return url
            }
            let (printed, said) = (try file("out", ""), try file("err", ""))
            let process = Process()
            process.executableURL = ChildProcess.executable("tidelog-proxygen")
            process.arguments = arguments
            process.currentDirectoryURL = folder
            process.standardInput = try FileHandle(forReadingFrom: file("in", input))
            process.standardOutput = try FileHandle(forWritingTo: printed)
            process.standardError = try FileHandle(forWritingTo: said)
            try process.run()
            process.waitUntilExit()
            return (
                try String(contentsOf: printed, encoding: .utf8), try String(contentsOf: said, encoding: .utf8),
                process.terminationStatus
            )
        }
    }
#endif
