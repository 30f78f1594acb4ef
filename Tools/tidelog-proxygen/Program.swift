internal import ArgumentParser
internal import Foundation

/// The process: runs the command, and converts an error to a sentence and exit code 1.
@main
enum Program {
    static func main() async {
        // The reader of the messages may close the pipe early. The files are written nevertheless.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try Command.parseAsRoot()
            if let command = command as? Command {
                try await command.run()
            } else {
                // Commands that the library adds, such as completion scripts.
                try command.run()
            }
        } catch {
            // Help was requested, and is printed on standard output.
            if Command.exitCode(for: error).isSuccess { Command.exit(withError: error) }
            say((error as? Failure)?.description ?? sentence(onUsage: Command.message(for: error)))
            exit(1)
        }
    }

    /// Returns the first line of the library's message. A second line may contain suggestions.
    private static func sentence(onUsage message: String) -> String {
        let first = message.prefix { $0 != "\n" }
        return first + (first.last?.isPunctuation == true && first.last != "'" ? "" : ".") + " See --help."
    }

    /// Prints a message on standard error, so that standard output remains empty.
    static func say(_ sentence: String) {
        try? FileHandle.standardError.write(contentsOf: Data("tidelog-proxygen: \(sentence)\n".utf8))
    }
}

/// An error of one sentence, printed as it is.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
