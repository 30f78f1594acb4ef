internal import Foundation

/// The program `odata-sandbox` from the same folder, on a free port, until this object is released.
final class SandboxProcess: Sendable {
    private let process: Process
    /// The root of the V4 service.
    let root: String

    init() throws {
        let folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        let program = folder.appending(path: "odata-sandbox")
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw Failure("There is no \(program.path); Tools/bench builds it.")
        }
        process = Process()
        process.executableURL = program
        process.arguments = ["--quiet"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var text = ""
        while text.count(where: { $0 == "\n" }) < 2 {
            let chunk = output.fileHandleForReading.availableData
            if chunk.isEmpty { break }
            text += String(decoding: chunk, as: UTF8.self)
        }
        guard let line = text.split(separator: "\n").last, line.hasPrefix("V4 ") else {
            process.terminate()
            throw Failure("The sandbox did not start: \(text)")
        }
        root = String(line.dropFirst(3))
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }
}
