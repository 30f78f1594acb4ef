/// The security and the route of the connections of a transport.
///
/// All transports of the platform apply it: libcurl and URLSession. A setting that a transport cannot apply is an error
/// of each request, before anything is sent.
public struct ConnectionOptions: Sendable {
    /// The servers to trust, for connections over TLS.
    public var serverTrust = ServerTrust.system
    /// The certificate that identifies the app to a server that asks for one; `nil` for none.
    public var clientCertificate: ClientCertificate?
    /// The proxy between the app and the service. Requests to the own machine (`localhost`) do not use one.
    public var proxy = ProxySelection.system

    /// Creates options with the trust and the proxy of the system, without a client certificate.
    public init() {}
}

/// The servers that a transport trusts.
///
/// Both parts only restrict: a connection needs a certificate that is valid for the host and issued by one of the
/// authorities.
public struct ServerTrust: Sendable {
    /// The path of a PEM file with the certificate authorities to trust instead of the system's; `nil` for the
    /// system's. A certificate that a server has signed itself is its own authority.
    public var authorities: String?
    /// Returns whether to trust a server, whose certificate is valid; `nil` trusts all.
    ///
    /// It is called for each new connection, before any byte of a request is sent, and delays all requests of the
    /// transport: compare the certificate with known ones (*pinning*), and do nothing else. With libcurl it requires
    /// version 7.80 or later.
    public var check: (@Sendable (ServerCertificates) -> Bool)?

    /// All servers that the system trusts.
    public static let system = ServerTrust()

    /// Creates a restriction to the given authorities and by a check; by default neither applies.
    public init(authorities: String? = nil, check: (@Sendable (ServerCertificates) -> Bool)? = nil) {
        (self.authorities, self.check) = (authorities, check)
    }
}

/// The certificates of a server.
public struct ServerCertificates: Sendable, Hashable {
    /// The name of the host in the request.
    public var host: String
    /// The port of the connection.
    public var port: Int
    /// The certificates in DER. The first is that of the server, each further one belongs to the issuer of the previous
    /// one.
    public var chain: [[UInt8]]

    /// Creates the certificates of a server, the server's own one first.
    public init(host: String, port: Int, chain: [[UInt8]]) {
        (self.host, self.port, self.chain) = (host, port, chain)
    }
}

/// A certificate of the app with its private key. The description does not contain the password.
public enum ClientCertificate: Sendable, Hashable {
    /// A PKCS #12 file, usually `.p12` or `.pfx`.
    case pkcs12(path: String, password: String)
    /// PEM files (libcurl only). The password is that of the key.
    case pem(certificate: String, key: String, password: String? = nil)
    /// The identity in the keychain with this label (`kSecAttrLabel`; Apple platforms only).
    case keychain(label: String)
}

extension ClientCertificate: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        switch self {
        case .pkcs12(let path, _): "the client certificate \(path)"
        case .pem(let certificate, _, _): "the client certificate \(certificate)"
        case .keychain(let label): "the client certificate “\(label)” of the keychain"
        }
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The choice of a proxy.
public enum ProxySelection: Sendable, Hashable {
    /// The proxy that the system names: the settings of the device, and with libcurl the environment variables
    /// `http_proxy`, `https_proxy` and `no_proxy`.
    case system
    /// No proxy, whatever the system names.
    case none
    /// This HTTP proxy.
    case http(HTTPProxy)
}

/// An HTTP proxy. Requests over TLS pass it through a tunnel (CONNECT). The description does not contain the password.
public struct HTTPProxy: Sendable, Hashable {
    /// The host name or address of the proxy.
    public var host: String
    /// The port of the proxy.
    public var port: Int
    /// The user and the password for basic authentication at the proxy. The service does not receive them.
    public var user: String?
    /// The password of ``user``.
    public var password: String?

    /// Creates a proxy; by default without authentication.
    public init(host: String, port: Int, user: String? = nil, password: String? = nil) {
        (self.host, self.port, self.user, self.password) = (host, port, user, password)
    }
}

extension HTTPProxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "the proxy \(host):\(port)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
