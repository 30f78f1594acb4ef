internal import SyncEngine
internal import Tidelog

/// The credentials of the environment: `TIDELOG_TOKEN`, or `TIDELOG_USER` with `TIDELOG_PASSWORD`. The environment is
/// used because a command line is visible to every process of the machine and stored in the shell's history.
///
/// They belong to the origin that the user named, and are sent to no other. The store contains the address of its
/// service, but may be from an untrusted source, so it must not determine where secrets are sent.
struct EnvironmentCredentials {
    let credentials: Credentials
    /// The origins in `TIDELOG_TOKEN_ORIGIN`, separated by commas; nil if it is not set.
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
            text.isEmpty ? nil : text.split(separator: ",").map { ServiceAddress.origin(of: String($0)) }
        }
    }

    /// Returns the credentials for a URL that the user of the command typed.
    func credentials(typed url: String) throws -> Credentials {
        if credentials != .none { _ = try isNamed(ServiceAddress.origin(of: url)) }
        return credentials
    }

    /// Returns the credentials for the service of a store. Asks on a terminal if its origin was not named.
    ///
    /// - Parameter named: The value of `--origin`.
    func credentials(forStore path: String, root: String, named: String?) throws -> Credentials {
        guard credentials != .none else { return .none }
        let origin = ServiceAddress.origin(of: root)
        if let named {
            guard ServiceAddress.origin(of: named) == origin else {
                throw CommandFailure(
                    "The service of the store is at \(oneLine(origin)), but --origin is \(oneLine(named)).",
                    place: path,
                    recovery: "Check the store and the service; no credentials were sent.")
            }
            try? KnownOrigins()?.add(origin, store: path)
            return credentials
        }
        if try isNamed(origin) { return credentials }
        guard KnownOrigins()?.contains(origin, store: path) != true else { return credentials }
        guard Self.confirms("Send the credentials of the environment to \(oneLine(origin)), the service of \(path)?")
        else {
            throw CommandFailure(
                "The service of the store is at \(oneLine(origin)), which is not a named origin for the credentials of the "
                    + "environment. No credentials were sent.",
                place: path,
                recovery:
                    "If the credentials are for this origin, name it once: --origin \(oneLine(origin)), or TIDELOG_TOKEN_ORIGIN in the "
                    + "environment.")
        }
        try? KnownOrigins()?.add(origin, store: path)
        return credentials
    }

    /// Returns whether `TIDELOG_TOKEN_ORIGIN` contains the origin; false if it is not set.
    private func isNamed(_ origin: String) throws -> Bool {
        guard let origins else { return false }
        guard origins.contains(origin) else {
            throw CommandFailure(
                "TIDELOG_TOKEN_ORIGIN does not contain \(oneLine(origin)). No credentials were sent.",
                recovery: "Set it to the origin of the credentials, such as https://example.org.")
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
