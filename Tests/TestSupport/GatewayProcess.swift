/// `tidelog-gateway` with SQLite in a temporary folder, which can be killed and started again on its port.
package final class GatewayProcess {
    package var port: Int { reserved.number }
    private let reserved: LoopbackPort
    private let directory = TemporaryDirectory()
    private let origins: Int
    private var process: ChildProcess?

    /// Writes the configuration.
    ///
    /// - Parameters:
    ///   - origins: The roots of the services by their names.
    ///   - port: The port of the gateway, by default a free one.
    ///   - publicPort: The port that clients use, if a proxy is in between.
    ///   - settings: Lines to append to the section of each service.
    package init(
        _ origins: KeyValuePairs<String, String>, port: LoopbackPort? = nil, publicPort: Int? = nil,
        settings: String = ""
    ) throws {
        reserved = try port ?? LoopbackPort()
        let port = reserved.number
        self.origins = origins.count
        var text = """
            [gateway]
            listen = 127.0.0.1:\(port)
            public_root = http://127.0.0.1:\(publicPort ?? port)/odata/
            storage = sqlite:\(directory.path)/gateway.db

            """
        for (name, root) in origins { text += "[endpoint]\nname = \(name)\nroot = \(root)\n\(settings)\n" }
        TemporaryDirectory.write(Array(text.utf8), to: configuration)
    }

    private var configuration: String { directory.path + "/gateway.ini" }

    /// The path of the ledger.
    package var ledger: String { directory.path + "/gateway.db" }

    /// Returns the public root of a service.
    package func root(_ name: String) -> String { "http://127.0.0.1:\(port)/odata/\(name)/" }

    /// Starts the program, and waits until it is ready.
    package func start() throws {
        process = try ChildProcess("tidelog-gateway", ["serve", "--config", configuration], lines: 1 + origins)
    }

    /// Ends the program as a crash would.
    package func kill() {
        process?.kill()
        process = nil
    }

    /// Asks the program to end, and returns its status.
    package func terminate(_ signal: Int32) -> Int32? { process?.terminate(signal) }

    /// Returns the requests in the ledger as the command `ledger` lists them.
    package func ledgerRows(_ options: [String] = []) throws -> [String] {
        let (status, text) = try ChildProcess.run("tidelog-gateway", ["ledger", "--config", configuration] + options)
        guard status == 0 else { throw ChildProcess.Unexpected(description: text) }
        return text.split(separator: "\n").map(String.init)
    }
}
