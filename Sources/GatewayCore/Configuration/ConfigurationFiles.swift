/// The place of a value in a configuration file.
package struct ConfigurationPlace: Sendable, Hashable {
    package let file: String
    /// The line number, beginning with 1.
    package let line: Int

    package init(file: String, line: Int) { (self.file, self.line) = (file, line) }

    package func error(_ message: String, _ fix: String) -> ConfigurationError {
        ConfigurationError(file: file, line: line, message: message, fix: fix)
    }
}

extension GatewayConfiguration {
    /// Returns an error about the value of a parameter in `[gateway]`.
    package func error(_ parameter: String, _ message: String, _ fix: String) -> ConfigurationError {
        (places[parameter] ?? Self.noPlace).error(message, fix)
    }

    /// For values that are not from a file.
    fileprivate static let noPlace = ConfigurationPlace(file: "configuration", line: 1)
}

/// Checks the contents of the files that a configuration names. `nil` stands for a file that cannot be read.
package enum ConfigurationFiles {
    /// Returns the secret in the key file.
    package static func secret(
        _ content: [UInt8]?, _ configuration: GatewayConfiguration
    ) throws(ConfigurationError) -> [UInt8] {
        let place = configuration.places["key_file"] ?? GatewayConfiguration.noPlace
        let bytes = try readable(content, configuration.keyFile, "key_file", place)
        guard bytes.count >= 16 else {
            throw place.error(
                "The key_file \(configuration.keyFile ?? "") has fewer than 16 bytes.",
                "Write random bytes to it, such as those of “head -c 32 /dev/urandom”.")
        }
        return bytes
    }

    /// Returns the value of `Authorization` in the first line of the credentials file.
    package static func credentials(
        _ content: [UInt8]?, _ endpoint: GatewayConfiguration.Endpoint
    ) throws(ConfigurationError) -> String {
        let place = endpoint.places["credentials_file"] ?? GatewayConfiguration.noPlace
        let bytes = try readable(content, endpoint.credentialsFile, "credentials_file", place)
        let line = String(decoding: bytes, as: UTF8.self).prefix { !$0.isNewline }
        guard line.contains(" "), line.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw place.error(
                "The first line of \(endpoint.credentialsFile ?? "") is no value of Authorization.",
                "Write a line such as “Basic dXNlcjpwYXNz” to it.")
        }
        return String(line)
    }

    /// Checks the certificates of authorities.
    package static func checkAuthorities(
        _ content: [UInt8]?, _ endpoint: GatewayConfiguration.Endpoint
    ) throws(ConfigurationError) {
        let place = endpoint.places["certificate_authorities"] ?? GatewayConfiguration.noPlace
        let bytes = try readable(content, endpoint.certificateAuthorities, "certificate_authorities", place)
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        let isComplete = ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains { label in
            guard let begin = lines.firstIndex(of: "-----BEGIN \(label)-----") else { return false }
            return lines[begin...].contains("-----END \(label)-----")
        }
        guard isComplete else {
            throw place.error(
                "\(endpoint.certificateAuthorities ?? "") contains no certificate in the PEM format.",
                "Write each certificate to it between the lines BEGIN CERTIFICATE and END CERTIFICATE.")
        }
    }

    private static func readable(
        _ content: [UInt8]?, _ path: String?, _ parameter: String, _ place: ConfigurationPlace
    ) throws(ConfigurationError) -> [UInt8] {
        guard let content else {
            throw place.error(
                "The \(parameter) \(path ?? "") cannot be read.", "Check the path and the permissions of the file.")
        }
        return content
    }
}

extension GatewayConfiguration.ListenAddress {
    /// Whether only programs on this machine reach the address.
    var isLocal: Bool {
        switch self {
        case .unix: return true
        case .tcp(let host, _):
            if ["localhost", "::1"].contains(host.lowercased()) { return true }
            let parts = host.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
        }
    }
}
