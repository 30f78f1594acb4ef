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

    /// A value in the file, and the value without its comment.
    @Test(arguments: [
        ("/Orders?$filter=Name eq 'A # B'", "Orders?$filter=Name%20eq%20'A%20%23%20B'"),
        ("/Orders?$filter=Name eq 'A ; B' # of A", "Orders?$filter=Name%20eq%20'A%20%3B%20B'"),
        ("/Orders?$filter=Name eq 'A'' # B'\t; 'x'", "Orders?$filter=Name%20eq%20'A''%20%23%20B'"),
        ("/Orders?$filter=Name eq 'A' # 'B'", "Orders?$filter=Name%20eq%20'A'"),
        ("/Orders?$search=\"it's # 1\" # 'B'", "Orders?$search=%22it's%20%23%201%22"),
    ])
    func `a number sign or semicolon in a quoted text is no comment`(_ value: String, _ expected: String) throws {
        let text = whole + "\n" + feed.replacing("/Orders?$filter=State eq 'open'&$select=ID,Note", with: value)
        let (configuration, _) = try ConfigurationReader.read(text, file: "f.ini")
        #expect(configuration.endpoints[0].feeds.map(\.query) == [CanonicalQuery(expected)])
    }

    @Test func `an apostrophe by itself does not hide a comment`() throws {
        let text = whole.replacing("/var/lib/gateway.db   ; the", with: "/o'brien/gateway.db   ; a")
        let (configuration, _) = try ConfigurationReader.read(text, file: "f.ini")
        #expect(configuration.storage == .sqlite(path: "/o'brien/gateway.db"))
    }

    /// The changed line, and the expected beginning of the error.
    @Test(arguments: [
        ("listen = 127.0.0.1:8443", "listen = 8443", "f.ini:3: listen must be HOST:PORT"),
        ("[endpoint]", "feed_rows = 0\n[endpoint]", "f.ini:6: feed_rows must be a number from 1 to 1000000000"),
        ("[endpoint]", "feed_bytes = 1\n[endpoint]", "f.ini:6: feed_bytes must be a number from 1048576 to"),
        ("public_root = https://gw.example/odata/", "", "f.ini:2: [gateway] has no public_root."),
        (
            "https://gw.example/odata/", "https://gw.example/odata",
            "f.ini:4: “https://gw.example/odata” cannot be public_root."
        ),
        ("https://gw.example/odata/", "https://u:p@gw.example/odata/", "f.ini:4: "),
        ("sqlite:/var/lib/gateway.db", "mysql://db", "f.ini:5: storage must be sqlite:PATH or postgresql://"),
        ("sqlite:/var/lib/gateway.db", "postgresql:db", "f.ini:5: “postgresql:db” is no URI of PostgreSQL."),
        ("sqlite:/var/lib/gateway.db", "postgresql://u:secret@h/db", "f.ini:5: storage contains a password."),
        ("sqlite:/var/lib/gateway.db", "postgres://h/d?password=x", "f.ini:5: storage contains a password."),
        (
            "sqlite:/var/lib/gateway.db", "postgresql://h/d\npostgres_schema = Gateway",
            "f.ini:6: “Gateway” cannot be postgres_schema."
        ),
        (
            "sqlite:/var/lib/gateway.db", "postgresql://h/d\npostgres_connections = 0",
            "f.ini:6: postgres_connections must be a number from 1 to 200, not “0”."
        ),
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

    @Test func `the bounds on readings of feeds are read`() throws {
        let text = whole.replacing("[endpoint]", with: "feed_rows = 7\nfeed_bytes = 2000000\n[endpoint]")
        let limits = try ConfigurationReader.read(text, file: "f.ini").configuration.limits
        #expect(limits.feedRows == 7 && limits.feedBytes == 2_000_000)
    }

    @Test(arguments: [
        ("0.0.0.0:9443", true), ("10.1.2.3:9443", true), ("[::]:9443", true), ("gateway.example:9443", true),
        ("127.0.0.1.evil.example:9443", true), ("127.0.0.1:9443", false), ("127.1.2.3:9443", false),
        ("localhost:9443", false), ("[::1]:9443", false), ("unix:/run/admin", false),
    ])
    func `an admin address that other machines reach is noticed`(_ address: String, _ isNoticed: Bool) throws {
        let text = whole.replacing("[endpoint]", with: "admin = \(address)\n[endpoint]")
        let (_, notices) = try ConfigurationReader.read(text, file: "f.ini")
        let expected = "f.ini:6: \(address) can be reached from other machines, and admin has no access control."
        #expect(notices.map(\.description).contains(expected) == isNoticed, "\(notices)")
    }

    @Test func `a database is read, with its parameters`() throws {
        let uri = "postgresql://gateway@[::1]:5432/gateway?sslmode=verify-full&passfile=/etc/gateway.pass"
        let text = whole.replacing(
            "sqlite:/var/lib/gateway.db   ; the ledger",
            with: "\(uri)\npostgres_connections = 3\npostgres_schema = g_1\npostgres_timeout = 4")
        let (configuration, notices) = try ConfigurationReader.read(text, file: "f.ini")
        var expected = PostgresSettings(uri)
        expected.place = "f.ini:5"
        (expected.schema, expected.connections, expected.timeoutMilliseconds) = ("g_1", 3, 4_000)
        #expect(configuration.storage == .postgres(expected))
        #expect(expected.passwordFile == "/etc/gateway.pass")
        #expect(notices.count == 2)
    }

    @Test func `parameters of a database have no effect with SQLite`() throws {
        let text = whole.replacing("[endpoint]", with: "postgres_schema = a\n[endpoint]")
        let (_, notices) = try ConfigurationReader.read(text, file: "f.ini")
        #expect(
            notices.map(\.description).contains("f.ini:6: postgres_schema has no effect: the storage is SQLite."))
    }

    private let feed = """
        [defining_query]
        name = Open
        query = /Orders?$filter=State eq 'open'&$select=ID,Note
        is_shared_data = Y
        refresh_interval = 5
        delta_token_lifetime = 60
        authorize = any
        """

    @Test func `a shared query is a feed of the endpoint before it`() throws {
        let (configuration, _) = try ConfigurationReader.read(
            whole + "\n" + feed + "\n[endpoint]\nname=b\nroot=http://b/",
            file: "f.ini")
        let feeds = configuration.endpoints.map(\.feeds)
        #expect(feeds[0].map(\.name) == ["Open"] && feeds[1].isEmpty)
        #expect(feeds[0][0].query == CanonicalQuery("Orders?$select=ID,Note&$filter=State%20eq%20'open'"))
        #expect(feeds[0][0].refreshMilliseconds == 300_000 && feeds[0][0].tokenMilliseconds == 3_600_000)
        #expect(feeds[0][0].authorization == .any && feeds[0][0].language == .pass)
        let ignoring = feed + "\naccept_language = ignore"
        let (other, _) = try ConfigurationReader.read(whole + "\n" + ignoring, file: "f.ini")
        #expect(other.endpoints[0].feeds.map(\.language) == [.ignore])
    }

    /// The changed text, and the notice about the query, which passes through.
    @Test(arguments: [
        ("is_shared_data = Y", "is_shared_data = N", "its data are not shared"),
        ("is_shared_data = Y\n", "", "its data are not shared"),
        ("State eq 'open'", "State eq {state}", "patterns are not supported"),
        ("authorize = any", "track_deltas = NEVER", "track_deltas is NEVER"),
        ("query = /Orders?$filter=State eq 'open'&$select=ID,Note\n", "", "it has no query"),
    ])
    func `a query that is not shared passes through with a notice`(
        _ text: String, _ replacement: String, _ reason: String
    ) throws {
        let (configuration, notices) = try ConfigurationReader.read(
            whole + "\n" + feed.replacing(text, with: replacement), file: "f.ini")
        #expect(configuration.endpoints[0].feeds.isEmpty)
        #expect(notices.contains { $0.message == "The query Open passes through: \(reason)." })
    }

    @Test(arguments: [
        (
            "/Orders?$filter=State eq 'open'&$select=ID,Note", "/Orders(1)",
            "f.ini:15: “/Orders(1)” cannot be a shared feed."
        ),
        ("/Orders?$filter=State eq 'open'&$select=ID,Note", "Orders?$count=true", "f.ini:15: "),
        ("authorize = any", "authorize = none", "f.ini:19: authorize must be probe or any, not “none”."),
        ("authorize = any", "accept_language = de", "f.ini:19: accept_language must be pass or ignore, not “de”."),
        ("authorize = any", "changes = etag", "f.ini:19: changes = etag is not supported by this version."),
        ("authorize = any", "track_deltas = yes", "f.ini:19: track_deltas must be AUTO, ALWAYS or NEVER"),
        ("refresh_interval = 5", "refresh_interval = -1", "f.ini:17: refresh_interval must be a number"),
        ("is_shared_data = Y", "is_shared_data = yes", "f.ini:16: is_shared_data must be Y or N"),
    ])
    func `an error in a feed names file, line and remedy`(
        _ text: String, _ replacement: String, _ expected: String
    ) throws {
        let changed = whole + "\n" + feed.replacing(text, with: replacement)
        let error = #expect(throws: ConfigurationError.self) { try ConfigurationReader.read(changed, file: "f.ini") }
        #expect(error?.description.hasPrefix(expected) == true, "\(error?.description ?? "")")
        #expect(error?.fix.isEmpty == false)
    }

    @Test func `a feed that occurs twice, or before all endpoints, is an error`() {
        let twice = whole + "\n" + feed + "\n" + feed
        #expect(throws: ConfigurationError.self) { try ConfigurationReader.read(twice, file: "f.ini") }
        let early = feed + "\n" + whole
        #expect(throws: ConfigurationError.self) { try ConfigurationReader.read(early, file: "f.ini") }
    }

    @Test func `a file without endpoints is refused`() {
        let text =
            whole.prefix(while: { $0 != "[" })
            + "[gateway]\nlisten=unix:/run/a\npublic_root=http://a/\nstorage=sqlite:b"
        #expect(throws: ConfigurationError.self) { try ConfigurationReader.read(String(text), file: "f.ini") }
    }
}
