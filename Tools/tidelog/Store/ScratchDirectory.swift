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

/// A temporary directory, which is removed even if a signal ends the program.
struct ScratchDirectory {
    let path: String

    init() throws {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/tidelog-XXXXXX".utf8CString)
        var created: String?
        var code: Int32 = 0
        TemporaryFiles.adding {
            guard mkdtemp(&template) != nil else {
                code = errno
                return nil
            }
            created = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return created
        }
        guard let created else {
            throw CommandFailure(
                "A directory cannot be created in \(folder): \(String(cString: strerror(code))).",
                recovery: "Set TMPDIR to another directory.")
        }
        path = created
    }

    func remove() {
        Self.remove(path)
        TemporaryFiles.unregister(path)
    }

    /// Throws if the path exists.
    static func check(isFree path: String) throws {
        guard access(path, F_OK) == 0 else { return }
        throw CommandFailure("\(path) already exists.", recovery: "Choose another name.")
    }

    static func write(_ text: String, to path: String) throws {
        let owner: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: owner) else {
            throw CommandFailure("\(path) cannot be written.", recovery: "Check the name of the directory.")
        }
    }

    /// Removes a file, or a directory with its content.
    static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
