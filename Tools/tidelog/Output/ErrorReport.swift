internal import ArgumentParser
internal import Tidelog

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The exit codes of `tidelog`.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    /// A file of the store is damaged.
    case damage = 2
    /// The service is busy: the same command can succeed later (EX_TEMPFAIL).
    case later = 75
    /// The arguments are wrong (EX_USAGE).
    case usage = 64
    /// A comparison failed, if 1 means that it found a difference (EX_SOFTWARE).
    case notCompared = 70
}

extension ExitStatus {
    init(_ code: TidelogError.Code) {
        switch code {
        case .damaged: self = .damage
        case .postponed, .service(status: 408), .service(status: 425), .service(status: 429), .service(status: 503):
            self = .later
        default: self = .failed
        }
    }
}

/// A failure of the command line itself: a sentence, and the next step if there is one.
struct CommandFailure: Error, Hashable {
    var message: String
    var recovery: String?
    /// A file, or a line of input.
    var place: String?

    init(_ message: String, place: String? = nil, recovery: String? = nil) {
        self.message = message
        self.place = place
        self.recovery = recovery
    }
}

/// A failure that was reported already and only determines the exit code.
struct ReportedFailure: Error {
    var status: ExitStatus
}

/// An error, as a line for users and an exit code for scripts.
struct ErrorReport {
    private enum ReportContent {
        case line(String, ExitStatus)
        case silent(ExitStatus)
        case arguments(any Error)
    }

    private let content: ReportContent

    init(_ error: any Error) {
        content =
            switch error {
            case let error as TidelogError:
                .line(Self.line(error.message, error.place, Self.recovery(error)), ExitStatus(error.code))
            case let error as CommandFailure: .line(Self.line(error.message, error.place, error.recovery), .failed)
            case let error as LineFailure: .line(error.description, error.status)
            case let error as ReportedFailure: .silent(error.status)
            // The reader closed the pipe because it needs no more output.
            case is Console.BrokenPipe: .silent(.done)
            case let error as Console.OutputFailed: .line(error.description, .failed)
            default: .arguments(error)
            }
    }

    /// The error as a line without the program's name, or nil if nothing is printed.
    var line: String? { if case .line(let line, _) = content { line } else { nil } }

    var status: ExitStatus {
        switch content {
        case .line(_, let status), .silent(let status): status
        case .arguments(let error): ExitStatus(rawValue: RootCommand.exitCode(for: error).rawValue) ?? .failed
        }
    }

    func exit() -> Never {
        switch content {
        case .line(let line, let status):
            Console.printError("tidelog: \(line)")
            leave(status)
        case .silent(let status):
            try? Console.flush()
            leave(status)
        case .arguments(let error):
            let text = UsageText(
                parserText: RootCommand.fullMessage(for: error), arguments: Array(CommandLine.arguments.dropFirst()))
            guard status == .done else {
                if !text.parserText.isEmpty { Console.printError(text.error) }
                leave(status)
            }
            try? Console.print(text.help)
            try? Console.flush()
            leave(status)
        }
    }

    private func leave(_ status: ExitStatus) -> Never {
        #if canImport(Darwin)
            Darwin.exit(status.rawValue)
        #elseif canImport(Glibc)
            Glibc.exit(status.rawValue)
        #else
            Musl.exit(status.rawValue)
        #endif
    }

    /// Returns the next step. For missing or wrong credentials, it includes the variables that contain them.
    private static func recovery(_ error: TidelogError) -> String? {
        guard error.code == .unauthorized else { return error.recovery }
        return [error.recovery, "They are TIDELOG_TOKEN, or TIDELOG_USER and TIDELOG_PASSWORD, in the environment."]
            .compactMap { $0 }.joined(separator: " ")
    }

    private static func line(_ message: String, _ place: String?, _ recovery: String?) -> String {
        // Messages end with a full stop; the place belongs before it.
        var text = message
        if let place, !message.contains(place) {
            let hasStop = text.hasSuffix(".")
            if hasStop { text.removeLast() }
            text += " (\(place))" + (hasStop ? "." : "")
        }
        return [text, recovery].compactMap { $0 }.joined(separator: " ")
    }
}

/// An error in a line of input.
struct LineFailure: Error, CustomStringConvertible {
    let file: String
    let line: Int
    let cause: any Error

    var description: String {
        "\(file), line \(line): \(ErrorReport(cause).line ?? "\(cause)")"
    }

    var status: ExitStatus { ErrorReport(cause).status }
}
