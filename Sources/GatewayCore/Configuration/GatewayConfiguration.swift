/// The configuration of a gateway.
package struct GatewayConfiguration: Sendable, Hashable {
    /// The address of the listening socket.
    package enum ListenAddress: Sendable, Hashable {
        case tcp(host: String, port: Int)
        case unix(path: String)
    }

    /// The place of the ledger.
    package enum Storage: Sendable, Hashable {
        case sqlite(path: String)
        /// For one node or several.
        case postgres(PostgresSettings)
        /// Only for tests: a restart forgets all rows.
        case memory
    }

    package var listen: ListenAddress
    /// The address for `/health`, `/ready` and `/metrics`; none by default.
    package var admin: ListenAddress?
    /// The URL under which clients reach the gateway; ends with a slash.
    package var publicRoot: ServiceRoot
    package var storage: Storage
    /// A file whose bytes are the secret of the digests of credentials. Without it the storage keeps a random secret.
    package var keyFile: String?
    package var limits = GatewayLimits()
    package var ledgerDays = 14
    /// Whether `X-Forwarded-For` of requests is set by a proxy of the operator and passed on.
    package var trustsForwarded = false
    /// The seconds between the signal to stop and the end of the listening socket, in which `/ready` already fails.
    package var drainSeconds = 0
    package var endpoints: [Endpoint]
    /// The places of the parameters that name addresses and files.
    package var places: [String: ConfigurationPlace] = [:]

    package init(listen: ListenAddress, publicRoot: ServiceRoot, storage: Storage, endpoints: [Endpoint]) {
        self.listen = listen
        self.publicRoot = publicRoot
        self.storage = storage
        self.endpoints = endpoints
    }

    /// A service that the gateway forwards requests to.
    package struct Endpoint: Sendable, Hashable {
        package var name: String
        /// The root of the service; ends with a slash.
        package var root: ServiceRoot
        /// The time for the head of a response of the service, in milliseconds.
        package var timeoutMilliseconds: Int64 = 60_000
        /// The time after ``timeoutMilliseconds`` in which the service may still execute a request.
        package var marginMilliseconds: Int64 = 30_000
        /// A PEM file with the certificate authorities to trust instead of the system's.
        package var certificateAuthorities: String?
        /// A file whose first line is the value of `Authorization` with which shared feeds are read.
        package var credentialsFile: String?
        package var feeds: [FeedSettings] = []
        /// The places of the parameters that name files.
        package var places: [String: ConfigurationPlace] = [:]

        package init(name: String, root: ServiceRoot) {
            self.name = name
            self.root = root
        }
    }
}

/// The bounds on requests.
package struct GatewayLimits: Sendable, Hashable {
    /// The maximum size of a request body in bytes.
    package var bodyBytes = 64 << 20
    /// The maximum size of all header fields of a request in bytes.
    package var headBytes = 64 << 10
    package var targetBytes = 16 << 10
    /// The maximum numbers of rows and bytes on a page of a shared feed.
    package var pageRows = 5_000
    package var pageBytes = 4 << 20
    /// The maximum number of rows of a shared feed.
    package var feedRows = 5_000_000
    /// The maximum size of the changed rows that one reading of a shared feed holds in memory, in bytes.
    package var feedBytes = 2 << 30
    /// The maximum number of parts of a batch, and of requests in a change set.
    package var batchParts = 1_000
    /// The maximum number of requests in progress.
    package var requests = 2_000
    package var requestsPerUser = 8
    /// The maximum number of requests in progress at one service.
    package var requestsPerEndpoint = 32
    package var connections = 4_000
    /// The maximum size of all request bodies in memory together, in bytes.
    package var bodyMemory = 256 << 20
    /// The minimum speed of requests and responses in bytes per second, and the seconds for which a request may be slower.
    package var arrivalSpeed = 1_024
    package var arrivalGrace = 30
    /// The seconds in which a request must have arrived, without those in which the gateway does not read it.
    package var arrivalSeconds = 1_800
    /// The seconds for which a client may take nothing of a response, beyond the time of the minimum speed.
    package var responseGrace = 60

    package init() {}
}

/// An error in a configuration file, with its place and a remedy.
package struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    package let file: String
    /// The line number, beginning with 1.
    package let line: Int
    package let message: String
    package let fix: String

    package var description: String { "\(file):\(line): \(message) \(fix)" }
}

/// A parameter that this version accepts and does not use.
package struct ConfigurationNotice: Sendable, Hashable, CustomStringConvertible {
    package let file: String
    package let line: Int
    package let message: String

    package var description: String { "\(file):\(line): \(message)" }
}
