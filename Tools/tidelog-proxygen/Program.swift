internal import ArgumentParser
internal import Foundation

/// The process: runs the command, and turns what went wrong into one sentence and exit code 1.
@main
enum Program {
    static func main() async {
        // Whoever reads what is said may leave early. Files are written all the same.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try Command.parseAsRoot()
            if let command = command as? Command {
                try await command.run()
            } else {
                // What the library adds of its own: completion scripts.
                try command.run()
            }
        } catch {
            // Help is asked for, and goes to standard output.
            if Command.exitCode(for: error).isSuccess { Command.exit(withError: error) }
            say((error as? Failure)?.description ?? sentence(onUsage: Command.message(for: error)))
            exit(1)
        }
    }

    /// The library's message may have a second line with what else could have been meant.
    private static func sentence(onUsage message: String) -> String {
        let first = message.prefix { $0 != "\n" }
        return first + (first.last?.isPunctuation == true && first.last != "'" ? "" : ".") + " See --help."
    }

    /// Standard error is for everything that is said: whoever pipes the program gets no surprises.
    static func say(_ sentence: String) {
        try? FileHandle.standardError.write(contentsOf: Data("tidelog-proxygen: \(sentence)\n".utf8))
    }
}

/// An error of one sentence, printed as it is.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
