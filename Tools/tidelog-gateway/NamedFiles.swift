internal import GatewayCore

/// The contents of the files that a configuration names.
struct NamedFiles {
    /// The key of digests, or nil if the storage keeps it.
    private(set) var secret: [UInt8]?
    /// The values of `Authorization` for reading shared feeds, by the name of the endpoint.
    private(set) var credentials: [String: String] = [:]

    static let addressFix = "Choose another address, or end the program that uses it."

    /// Reads and checks all files.
    init(_ configuration: GatewayConfiguration) throws {
        do throws(ConfigurationError) {
            if let path = configuration.keyFile {
                secret = try ConfigurationFiles.secret(TextFile.read(path), configuration)
            }
            if case .postgres(let settings) = configuration.storage, let path = settings.passwordFile,
                TextFile.read(path) == nil
            {
                // libpq does without it, and another kind of authentication may not need it.
                let notice = configuration.error(
                    "storage", "The passfile \(path) cannot be read.", "Check the path and the permissions of the file."
                )
                StandardError.write("\(notice)\n")
            }
            for endpoint in configuration.endpoints {
                if let path = endpoint.credentialsFile {
                    credentials[endpoint.name] = try ConfigurationFiles.credentials(TextFile.read(path), endpoint)
                }
                if let path = endpoint.certificateAuthorities {
                    try ConfigurationFiles.checkAuthorities(TextFile.read(path), endpoint)
                }
            }
        } catch {
            throw Failure("\(error)")
        }
    }
}
