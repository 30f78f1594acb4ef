import GatewayCore
import Testing

/// The files that a configuration names.
struct ConfigurationFilesTests {
    private func configuration() throws -> GatewayConfiguration {
        let text = """
            [gateway]
            listen = 127.0.0.1:8443
            public_root = https://gw.example/odata/
            storage = sqlite:/gateway.db
            key_file = /key
            [endpoint]
            name = shop
            root = https://backend.example/sap/SHOP/
            credentials_file = /login
            certificate_authorities = /ca
            """
        return try ConfigurationReader.read(text, file: "f.ini").configuration
    }

    /// The file, its content, and the expected error.
    @Test(arguments: [
        ("key", nil, "f.ini:5: The key_file /key cannot be read. Check the path and the permissions of the file."),
        ("key", "0123456789", "f.ini:5: The key_file /key has fewer than 16 bytes. Write random bytes to it"),
        ("login", nil, "f.ini:9: The credentials_file /login cannot be read."),
        ("login", "secret\nBasic eA==", "f.ini:9: The first line of /login is no value of Authorization."),
        ("login", "Basic é", "f.ini:9: The first line of /login is no value of Authorization."),
        ("login", "", "f.ini:9: The first line of /login is no value of Authorization."),
        ("ca", nil, "f.ini:10: The certificate_authorities /ca cannot be read."),
        ("ca", "-----BEGIN CERTIFICATE-----\nMII", "f.ini:10: /ca contains no certificate in the PEM format."),
        ("ca", "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----", "f.ini:10: /ca contains no certificate"),
    ])
    func `an error in a file names the line of its parameter, and the remedy`(
        _ file: String, _ content: String?, _ expected: String
    ) throws {
        let configuration = try configuration()
        let endpoint = configuration.endpoints[0]
        let bytes = content.map { Array($0.utf8) }
        let error = #expect(throws: ConfigurationError.self) {
            switch file {
            case "key": _ = try ConfigurationFiles.secret(bytes, configuration)
            case "login": _ = try ConfigurationFiles.credentials(bytes, endpoint)
            default: try ConfigurationFiles.checkAuthorities(bytes, endpoint)
            }
        }
        #expect(error?.description.hasPrefix(expected) == true, "\(error?.description ?? "")")
        #expect(error?.fix.isEmpty == false)
    }

    @Test func `files in the expected format are accepted`() throws {
        let configuration = try configuration()
        let endpoint = configuration.endpoints[0]
        let key = Array("0123456789abcdef".utf8)
        #expect(try ConfigurationFiles.secret(key, configuration) == key)
        #expect(try ConfigurationFiles.credentials(Array("Basic eA==\r\n# x".utf8), endpoint) == "Basic eA==")
        let certificate = "# CA\r\n-----BEGIN CERTIFICATE-----\r\nMII\r\n-----END CERTIFICATE-----\r\n"
        try ConfigurationFiles.checkAuthorities(Array(certificate.utf8), endpoint)
    }

    @Test func `an address in use is an error at the line of the address`() throws {
        let error = try configuration().error("listen", "The listen address cannot be opened.", "Choose another one.")
        #expect(error.description == "f.ini:2: The listen address cannot be opened. Choose another one.")
    }
}
