internal import GatewayCore

extension PostgresPool {
    /// Opens the tables of a storage, and creates or updates them.
    ///
    /// - Parameters:
    ///   - patience: The time for further attempts.
    ///   - isDry: Whether the changes are rolled back.
    /// - Returns: The versions that were added.
    @discardableResult
    func open(patience: Duration = .seconds(10), isDry: Bool = false) async throws(LedgerStorageError) -> [Int64] {
        do throws(PostgresError) {
            return try await perform(patience: patience) { (connection) throws(PostgresError) in
                try PostgresSchema.migrate(connection, isDry: isDry)
            }
        } catch {
            throw .opening(error, settings)
        }
    }
}

extension LedgerStorageError {
    /// The error if the tables cannot be opened, with a remedy.
    fileprivate static func opening(_ error: PostgresError, _ settings: PostgresSettings) -> LedgerStorageError {
        let remedy =
            switch error {
            case .library: ""
            case .server(.insufficientPrivilege, _):
                " Grant the user CREATE on the database, or create the schema \(settings.schema) as its owner."
            case .server, .unexpectedResult: ""
            case .connection, .timeout, .busy:
                " Check host, port, database and user in storage, and that the server accepts the connection (pg_hba.conf)."
            }
        let place = settings.place.map { "\($0): " } ?? ""
        return LedgerStorageError("\(place)PostgreSQL cannot be used: \(error).\(remedy)")
    }
}
