internal import SyncEngine
internal import Tidelog

/// The credentials of the environment: `TIDELOG_TOKEN`, or `TIDELOG_USER` with `TIDELOG_PASSWORD`. The environment, because a
/// command line is seen by every process of the machine and kept in the shell's history.
///
/// They are for the origin that a person has named with them, and are sent to no other. A store says where its service is, and
/// a store may come from anywhere: it is in no position to say where secrets go.
struct EnvironmentCredentials {
    let credentials: Credentials
    /// What `TIDELOG_TOKEN_ORIGIN` names, separated by commas; nil where it is not set.
    private let origins: [String]?

    init() {
        if let token = Terminal.variable("TIDELOG_TOKEN") {
            credentials = .bearer(token)
        } else if let user = Terminal.variable("TIDELOG_USER") {
            credentials = .basic(user: user, password: Terminal.variable("TIDELOG_PASSWORD") ?? "")
        } else {
            credentials = .none
        }
        origins = Terminal.variable("TIDELOG_TOKEN_ORIGIN").flatMap { text in
            text.isEmpty ? nil : text.split(separator: ",").map { ServiceSession.origin(of: String($0)) }
        }
    }

    /// The credentials, for a URL that was typed by the person who runs the command.
    func credentials(typed url: String) throws -> Credentials {
        if credentials != .none { _ = try isNamed(ServiceSession.origin(of: url)) }
        return credentials
    }

    /// The credentials, for the service that a store says it is of. Asks on a terminal where nobody has named its origin.
    ///
    /// - Parameter named: what `--origin` says.
    func credentials(forStore path: String, root: String, named: String?) throws -> Credentials {
        guard credentials != .none else { return .none }
        let origin = ServiceSession.origin(of: root)
        if let named {
            guard ServiceSession.origin(of: named) == origin else {
                throw CommandFailure(
                    "The store's service is at \(oneLine(origin)), and --origin names \(oneLine(named)).", place: path,
                    recovery: "Nothing was sent. Check which store and which service you mean.")
            }
            try? KnownOrigins()?.add(origin, store: path)
            return credentials
        }
        if try isNamed(origin) { return credentials }
        guard KnownOrigins()?.contains(origin, store: path) != true else { return credentials }
        guard Self.confirms("Send the credentials of the environment to \(oneLine(origin)), the service of \(path)?")
        else {
            throw CommandFailure(
                "The store's service is at \(oneLine(origin)), and nobody has named that origin for the credentials of the "
                    + "environment. Nothing was sent.",
                place: path,
                recovery:
                    "If they are for it, say so once: --origin \(oneLine(origin)), or TIDELOG_TOKEN_ORIGIN in the "
                    + "environment.")
        }
        try? KnownOrigins()?.add(origin, store: path)
        return credentials
    }

    /// Whether `TIDELOG_TOKEN_ORIGIN` names the origin; false where it is not set.
    private func isNamed(_ origin: String) throws -> Bool {
        guard let origins else { return false }
        guard origins.contains(origin) else {
            throw CommandFailure(
                "TIDELOG_TOKEN_ORIGIN does not name \(oneLine(origin)). Nothing was sent.",
                recovery: "Set it to the origin that the credentials are for, as https://example.org.")
        }
        return true
    }

    private static func confirms(_ question: String) -> Bool {
        guard Console.isWatched, Terminal.isInput else { return false }
        Console.flushQuietly()
        Console.writeError("\(question) [y/N] ")
        return readLine()?.lowercased().hasPrefix("y") == true
    }
}
