/// The database of a gateway with several nodes.
package struct PostgresSettings: Sendable, Hashable {
    /// The parameters of libpq: a URI, or keywords with values. They contain no password.
    package var parameters: String
    /// The file and the line of the parameters, for errors.
    package var place: String?
    /// The schema of the tables: lowercase letters, digits and `_`.
    package var schema = "gateway"
    /// The maximum number of connections of the ledger, and of the feeds.
    package var connections = 8
    /// The time for a statement, in milliseconds.
    package var timeoutMilliseconds = 10_000

    /// The time for a new connection, for each address of the host.
    package static let connectSeconds = 5

    package init(_ parameters: String) { self.parameters = parameters }

    /// Returns whether a text can be the name of the schema without quotation marks.
    package static func isSchema(_ text: String) -> Bool {
        guard let first = text.utf8.first, (0x61...0x7A).contains(first), text.utf8.count <= 48 else { return false }
        return text.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
        }
    }

    /// The path of the file with the password, if the parameters name one.
    package var passwordFile: String? {
        let options = parameters.drop { $0 != "?" }.dropFirst().split(separator: "&")
        guard let option = options.last(where: { $0.hasPrefix("passfile=") }) else { return nil }
        return RequestPath.decoded(option.dropFirst("passfile=".count))
    }

    /// Whether the parameters contain a password, which everyone who can read the configuration would see.
    package var hasPassword: Bool {
        let rest = parameters.drop { $0 != ":" }.dropFirst(3)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        if let at = authority.lastIndex(of: "@"), authority[..<at].contains(":") { return true }
        let options = rest.drop { $0 != "?" }.dropFirst()
        return options.split(separator: "&").contains { $0.lowercased().hasPrefix("password=") }
    }
}
