import GatewayCore
import Testing

struct ConfigurationTests {
    private let whole = """
        # a comment
        [gateway]
        listen = 127.0.0.1:8443
        public_root = https://gw.example/odata/
        storage = sqlite:/var/lib/gateway.db   ; the ledger
        [endpoint]
        name = shop
        root = https://backend.example/sap/SHOP/
        indexed_type = x
        [defining_query]
        name = Orders
        query = /Orders?$filter=ID eq {id}
        """

    @Test func `a whole file is read, and parameters without effect are noticed with their lines`() throws {
        let (configuration, notices) = try ConfigurationReader.read(whole, file: "gateway.ini")
        #expect(configuration.listen == .tcp(host: "127.0.0.1", port: 8443))
        #expect(configuration.storage == .sqlite(path: "/var/lib/gateway.db"))
        #expect(configuration.endpoints.map(\.name) == ["shop"])
        #expect(configuration.publicRoot.endpoint("shop").description == "https://gw.example/odata/shop/")
        #expect(notices.map(\.line) == [9, 12])
    }

    /// The changed line, and the expected beginning of the error.
    @Test(arguments: [
        ("listen = 127.0.0.1:8443", "listen = 8443", "f.ini:3: listen must be HOST:PORT"),
        ("public_root = https://gw.example/odata/", "", "f.ini:2: [gateway] has no public_root."),
        (
            "https://gw.example/odata/", "https://gw.example/odata",
            "f.ini:4: “https://gw.example/odata” cannot be public_root."
        ),
        ("https://gw.example/odata/", "https://u:p@gw.example/odata/", "f.ini:4: "),
        ("sqlite:/var/lib/gateway.db", "postgresql://db", "f.ini:5: This version stores only in SQLite."),
        ("[endpoint]", "[end]", "f.ini:6: There is no section [end]."),
        ("name = shop", "name = a/b", "f.ini:7: “a/b” cannot be the name of an endpoint."),
        ("name = shop", "nome = shop", "f.ini:7: There is no parameter nome in [endpoint]."),
        ("name = shop", "name = shop\nname = shop", "f.ini:8: name occurs twice"),
        ("indexed_type = x", "origin_timeout = 0", "f.ini:9: origin_timeout must be a number from 1 to 3600, not “0”."),
        ("indexed_type = x", "identity = jwt", "f.ini:9: identity = jwt is not supported"),
        ("indexed_type = x", "indexed_type", "f.ini:9: “indexed_type” is not of the form"),
        ("indexed_type = x", "indexed_type =", "f.ini:9: indexed_type has no value."),
        ("listen = 127.0.0.1:8443", "listen = 127.0.0.1:8443\nadmin = x", "f.ini:4: admin must be HOST:PORT"),
        ("# a comment", "listen = 1", "f.ini:1: A parameter precedes the first section."),
    ])
    func `an error names file, line and remedy`(_ line: String, _ replacement: String, _ expected: String) throws {
        let text = whole.replacing(line, with: replacement, maxReplacements: 1)
        let error = #expect(throws: ConfigurationError.self) { try ConfigurationReader.read(text, file: "f.ini") }
        #expect(error?.description.hasPrefix(expected) == true, "\(error?.description ?? "")")
        #expect(error?.fix.isEmpty == false)
    }

    @Test func `a file without endpoints is refused`() {
        let text =
            whole.prefix(while: { $0 != "[" })
            + "[gateway]\nlisten=unix:/run/a\npublic_root=http://a/\nstorage=sqlite:b"
        #expect(throws: ConfigurationError.self) { try ConfigurationReader.read(String(text), file: "f.ini") }
    }
}
