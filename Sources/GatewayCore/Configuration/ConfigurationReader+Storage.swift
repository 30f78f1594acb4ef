extension ConfigurationReader {
    private static let postgresParameters = ["postgres_connections", "postgres_schema", "postgres_timeout"]

    /// Reads the place of the ledger and of the feeds.
    mutating func storage(
        _ value: Value, _ section: Section
    ) throws(ConfigurationError) -> GatewayConfiguration.Storage {
        if value.text.hasPrefix("postgres") { return .postgres(try postgres(value, section)) }
        guard value.text.hasPrefix("sqlite:"), value.text.utf8.count > 7 else {
            throw error(
                value.line, "storage must be sqlite:PATH or postgresql://HOST/DATABASE, not “\(value.text)”.",
                "Write storage = sqlite:/PATH/gateway.db for one node.")
        }
        for name in Self.postgresParameters {
            guard let unused = section.values[name] else { continue }
            notices.append(
                ConfigurationNotice(
                    file: file, line: unused.line, message: "\(name) has no effect: the storage is SQLite."))
        }
        return .sqlite(path: String(value.text.dropFirst(7)))
    }

    private func postgres(_ value: Value, _ section: Section) throws(ConfigurationError) -> PostgresSettings {
        let isURI = ["postgresql://", "postgres://"].contains { value.text.hasPrefix($0) }
        guard isURI, value.text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw error(
                value.line, "“\(value.text)” is no URI of PostgreSQL.",
                "Write storage = postgresql://USER@HOST/DATABASE, with other characters percent-encoded.")
        }
        var settings = PostgresSettings(value.text)
        settings.place = "\(file):\(value.line)"
        if settings.hasPassword {
            throw error(
                value.line, "storage contains a password.",
                "Write HOST:PORT:DATABASE:USER:PASSWORD to a file with mode 0600, and append ?passfile=/PATH to storage."
            )
        }
        try number(section, "postgres_connections", 1...200) { settings.connections = $0 }
        try number(section, "postgres_timeout", 1...3_600) { settings.timeoutMilliseconds = $0 * 1_000 }
        if let schema = section.values["postgres_schema"] {
            guard PostgresSettings.isSchema(schema.text) else {
                throw error(
                    schema.line, "“\(schema.text)” cannot be postgres_schema.",
                    "Use at most 48 lowercase letters, digits and _, and a letter first.")
            }
            settings.schema = schema.text
        }
        return settings
    }
}
