internal import CBench
internal import Foundation

/// This program once more, for a part of a bench that is measured by itself: so that no memory of the rest hides in it.
enum ChildProcess {
    /// Runs it and reads the JSON that it prints.
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

    /// Says in the child's output what it found.
    static func answer(_ result: some Encodable) throws {
        Console.line(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
    }

    /// The most memory that this process has had so far, in MiB.
    static var peak: Double { Double(bench_peak_resident_bytes()) / 1_048_576 }
}
