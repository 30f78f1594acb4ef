import EDM

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The origins that the user named, each for one store: the file `origins` in the directory `tidelog` of
/// `XDG_CONFIG_HOME`, or of `.config` in the home directory.
///
/// They are not in the store, because its creator could name any origin there. A store is identified by its path,
/// because its content is not trusted; the origin of a moved store has to be named again.
struct KnownOrigins {
    private let directory: String
    private var path: String { directory + "/origins" }

    /// Nil if the environment names no directory.
    init?() {
        if let configuration = Terminal.variable("XDG_CONFIG_HOME"), configuration.hasPrefix("/") {
            directory = configuration + "/tidelog"
        } else if let home = Terminal.variable("HOME"), home.hasPrefix("/") {
            directory = home + "/.config/tidelog"
        } else {
            return nil
        }
    }

    func contains(_ origin: String, store: String) -> Bool {
        guard let line = try? Self.line(origin, store), var reader = try? LineReader(path: path) else { return false }
        while let next = try? reader.next() { if next.elementsEqual(line.utf8) { return true } }
        return false
    }

    /// Adds a line. Several processes may do so concurrently.
    func add(_ origin: String, store: String) throws {
        guard !contains(origin, store: store) else { return }
        let line = Array((try Self.line(origin, store) + "\n").utf8)
        var parent = ""
        for part in directory.split(separator: "/") {
            parent += "/" + part
            mkdir(parent, 0o700)
        }
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure() }
        defer { close(file) }
        guard write(file, line, line.count) == line.count else { throw failure() }
    }

    private func failure() -> CommandFailure {
        CommandFailure(
            "The origin cannot be stored: \(String(cString: strerror(errno))).", place: path,
            recovery: "Set TIDELOG_TOKEN_ORIGIN for later commands.")
    }

    private static func line(_ origin: String, _ store: String) throws -> String {
        guard let resolved = realpath(store, nil) else {
            throw CommandFailure("The store cannot be found: \(String(cString: strerror(errno))).", place: store)
        }
        defer { free(resolved) }
        var json = JSONWriter()
        json.beginObject()
        json.member("origin", origin)
        json.member("store", String(cString: resolved))
        json.endObject()
        return json.text
    }
}
