internal import CBench
internal import Foundation

/// A second process of this program, for a part of a benchmark whose memory is measured separately.
enum ChildProcess {
    /// Runs the process, and decodes the JSON that it prints.
    static func result<Result: Decodable>(_ arguments: [String]) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let answer = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                "\(arguments.joined(separator: " ")) ended with status \(process.terminationStatus).")
        }
        return try JSONDecoder().decode(Result.self, from: answer)
    }

    /// Prints the result, in the child process.
    static func answer(_ result: some Encodable) throws {
        Console.line(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
    }

    /// The peak memory of this process so far, in MiB.
    static var peak: Double { Double(bench_peak_resident_bytes()) / 1_048_576 }
}
