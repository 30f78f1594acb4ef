#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
internal import LogInspection
internal import OfflineStore

/// A shell command that tests a condition of a store. Its exit code has the meaning of `git bisect run`.
struct ShellTest {
    private let command: String

    init(_ command: String) { self.command = command }

    /// - Throws: An error if the command cannot be started, or if its exit code requires the bisect to stop.
    func verdict(on directory: String) throws(TidelogError) -> Bisection.Verdict {
        let status = try exitStatus(on: directory)
        switch status {
        case 0: return .holdsNot
        case 125: return .skipped
        case 1...127: return .holds
        default:
            throw TidelogError(
                .invalidRequest, "The command ended with exit code \(status), which is not a judgment.",
                recovery:
                    "Let the command exit with 0 if the store is good, with 125 if it cannot be judged, and with 1 to 127 if it is bad."
            )
        }
    }

    private func exitStatus(on directory: String) throws(TidelogError) -> Int32 {
        // The command's output is for users and is redirected to standard error, because a program may read the
        // standard output of this program.
        Console.flushQuietly()
        let text = command.replacing("{}", with: Self.quoted(directory)) as String
        let words = ["sh", "-c", text]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        Self.resetSignals(&attributes)
        let store = strdup("TIDELOG_STORE=" + directory)
        defer { free(store) }
        var environment = Self.environmentWithoutSecrets + [store, nil]
        var child: pid_t = 0
        let failure = posix_spawn(&child, "/bin/sh", &actions, &attributes, &arguments, &environment)
        guard failure == 0 else {
            throw TidelogError(.storage, "The shell cannot be started: \(String(cString: strerror(failure))).")
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else {
                throw TidelogError(
                    .storage, "The exit code of the command cannot be read: \(String(cString: strerror(errno))).")
            }
        }
        // As the macros of the system header do.
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }

    /// The environment variables with secrets of this program, which are not passed to commands and their children.
    private static let secrets: Set<String> = ["TIDELOG_KEY", "TIDELOG_TOKEN", "TIDELOG_PASSWORD"]

    /// The environment of this program, byte for byte, without the secrets and without the variable that each command
    /// gets.
    private static var environmentWithoutSecrets: [UnsafeMutablePointer<CChar>?] {
        var variables: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let variable = next.pointee {
            let name = String(cString: variable).prefix { $0 != "=" }
            if !secrets.contains(String(name)), name != "TIDELOG_STORE" { variables.append(variable) }
            next += 1
        }
        return variables
    }

    /// Resets the signals for the command: this program ignores broken pipes, and its threads block signals.
    private static func resetSignals(_ attributes: inout posix_spawnattr_t) {
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var pipes = sigset_t()
        sigemptyset(&pipes)
        sigaddset(&pipes, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &pipes)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }

    private static func quoted(_ path: String) -> String {
        "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
