import Foundation

/// A process of the program `odata-sandbox`, which ends with the test.
final class SandboxProgram {
    let process = Process()
    let output = Pipe()
    private let errors = Pipe()
    private(set) var lines: [String] = []

    /// Starts the program and waits for its first lines, which are the service roots.
    init(_ arguments: [String] = ["--quiet"], lineCount: Int = 2) throws {
        // The directory of the test bundle also contains the executables that were built with it.
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        var folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.isExecutableFile(atPath: folder.path + "/odata-sandbox") {
            folder.deleteLastPathComponent()
        }
        process.executableURL = folder.appendingPathComponent("odata-sandbox")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        lines = readLines(lineCount)
    }

    deinit { if process.isRunning { process.terminate() } }

    var port: UInt16 { lines.first?.split(separator: ":").last.flatMap { UInt16($0.prefix { $0 != "/" }) } ?? 0 }

    func stop(_ signal: Int32) -> Int32 {
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Waits for the end of a program that does not start, and returns its status and the text on standard error.
    func failure() -> (status: Int32, message: String) {
        let bytes = (try? errors.fileHandleForReading.readToEnd()) ?? nil
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: bytes ?? Data(), as: UTF8.self))
    }

    private func readLines(_ count: Int) -> [String] {
        var text = ""
        while text.filter({ $0 == "\n" }).count < count {
            let chunk = output.fileHandleForReading.availableData
            if chunk.isEmpty { break }
            text += String(decoding: chunk, as: UTF8.self)
        }
        return text.split(separator: "\n").map(String.init)
    }
}
