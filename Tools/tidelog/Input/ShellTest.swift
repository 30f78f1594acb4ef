#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif
internal import LogInspection
internal import SyncEngine

/// A command of the shell that says what holds of a store, by its exit code as `git bisect run` has it.
struct ShellTest {
    private let command: String

    init(_ command: String) { self.command = command }

    /// - Throws: where the command cannot be started, or says by its exit code that it makes no sense to go on.
    func verdict(on directory: String) throws(TidelogError) -> Bisection.Verdict {
        let status = try exitStatus(on: directory)
        switch status {
        case 0: return .holdsNot
        case 125: return .skipped
        case 1...127: return .holds
        default:
            throw TidelogError(
                .invalidRequest, "The command ended with exit code \(status), which says nothing.",
                recovery:
                    "It has to exit with 0 where all is well, with 125 where it cannot tell, with 1 to 127 where not.")
        }
    }

    private func exitStatus(on directory: String) throws(TidelogError) -> Int32 {
        setenv("TIDELOG_STORE", directory, 1)
        // What it prints is for people, and what this program prints may be for programs.
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
        var child: pid_t = 0
        let failure = posix_spawn(&child, "/bin/sh", &actions, nil, &arguments, environ)
        guard failure == 0 else {
            throw TidelogError(.storage, "The shell cannot be started: \(String(cString: strerror(failure))).")
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else {
                throw TidelogError(.storage, "The command was lost: \(String(cString: strerror(errno))).")
            }
        }
        // What the macros of the system's header say.
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }

    private static func quoted(_ path: String) -> String {
        "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}

/// A directory for what is thrown away.
struct ScratchDirectory {
    let path: String

    init() throws {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/tidelog-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandFailure(
                "No directory can be made in \(folder): \(String(cString: strerror(errno))).",
                recovery: "Name another one in TMPDIR.")
        }
        path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func remove() { Self.remove(path) }

    /// Throws where something has the name.
    static func check(isFree path: String) throws {
        guard access(path, F_OK) == 0 else { return }
        throw CommandFailure("\(path) is there already.", recovery: "Give a name that nothing has.")
    }

    static func write(_ text: String, to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8)) else {
            throw CommandFailure("\(path) cannot be written.", recovery: "Check the directory's name.")
        }
    }

    /// With all that is in it.
    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
