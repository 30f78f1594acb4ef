#if canImport(Darwin)
    import Foundation
    import Network
    import Security

    /// ``ConnectionOptions`` in the form of the system. `@unchecked Sendable` because nothing in it changes.
    struct SystemConnection: @unchecked Sendable {
        private let options: ConnectionOptions
        private var authorities: [SecCertificate]?
        private var identity: URLCredential?
        /// The reason why an option cannot be applied. No request may be sent then.
        private(set) var problem: String?

        init(_ options: ConnectionOptions) {
            self.options = options
            if let path = options.serverTrust.authorities {
                let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
                let found = PEM.certificates(text ?? "").compactMap {
                    SecCertificateCreateWithData(nil, Data($0) as CFData)
                }
                authorities = found
                if found.isEmpty { problem = "the file \(path) contains no certificates in PEM" }
            }
            switch options.clientCertificate {
            case nil: break
            case .pkcs12(let path, let password):
                identity = Self.identity(file: path, password)
                if identity == nil { problem = "the file \(path) is no PKCS #12 file, or has another password" }
            case .keychain(let label):
                identity = Self.identity(label: label)
                if identity == nil { problem = "the keychain has no identity with the label “\(label)”" }
            case .pem: problem = "URLSession reads no client certificates in PEM; use a PKCS #12 file"
            }
        }

        // MARK: Proxies

        func setProxy(of configuration: URLSessionConfiguration) {
            switch options.proxy {
            case .system: break
            case .none: configuration.connectionProxyDictionary = [:]
            case .http(let proxy):
                guard let port = NWEndpoint.Port(rawValue: UInt16(clamping: proxy.port)) else { return }
                var selected = ProxyConfiguration(
                    httpCONNECTProxy: .hostPort(host: NWEndpoint.Host(proxy.host), port: port), tlsOptions: nil)
                selected.excludedDomains = ["localhost", "127.0.0.1"]
                if let user = proxy.user {
                    selected.applyCredential(username: user, password: proxy.password ?? "")
                }
                configuration.proxyConfigurations = [selected]
            }
        }

        // MARK: Certificates

        /// A decision on an authentication challenge.
        enum Answer {
            case system
            case use(URLCredential)
            /// The app does not trust the server.
            case refuse
            /// The caller receives the response 401.
            case reject
        }

        func answer(to challenge: URLAuthenticationChallenge) -> Answer {
            let space = challenge.protectionSpace
            switch space.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust: return trust(space)
            case NSURLAuthenticationMethodClientCertificate: return identity.map { .use($0) } ?? .system
            default: return space.isProxy() ? .system : .reject
            }
        }

        private func trust(_ space: URLProtectionSpace) -> Answer {
            guard authorities != nil || options.serverTrust.check != nil else { return .system }
            guard let trust = space.serverTrust else { return .refuse }
            if let authorities {
                guard SecTrustSetAnchorCertificates(trust, authorities as CFArray) == errSecSuccess,
                    SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess
                else { return .refuse }
            }
            guard SecTrustEvaluateWithError(trust, nil) else { return .refuse }
            if let check = options.serverTrust.check {
                let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
                let certificates = ServerCertificates(
                    host: space.host.lowercased(), port: space.port,
                    chain: chain.map { Array(SecCertificateCopyData($0) as Data) })
                guard !chain.isEmpty, check(certificates) else { return .refuse }
            }
            return .use(URLCredential(trust: trust))
        }

        private static func identity(file path: String, _ password: String) -> URLCredential? {
            guard let data = FileManager.default.contents(atPath: path) else { return nil }
            var items: CFArray?
            let options = [kSecImportExportPassphrase as String: password]
            guard SecPKCS12Import(data as CFData, options as CFDictionary, &items) == errSecSuccess,
                let item = (items as? [[String: Any]])?.first,
                let identity = item[kSecImportItemIdentity as String]
            else { return nil }
            let chain = item[kSecImportItemCertChain as String] as? [SecCertificate] ?? []
            // The first certificate is that of the identity.
            return URLCredential(
                identity: identity as! SecIdentity, certificates: Array(chain.dropFirst()), persistence: .forSession)
        }

        private static func identity(label: String) -> URLCredential? {
            let query: [String: Any] = [
                kSecClass as String: kSecClassIdentity, kSecAttrLabel as String: label,
                kSecReturnRef as String: true, kSecMatchLimit as String: kSecMatchLimitOne,
            ]
            var found: CFTypeRef?
            guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess, let found else { return nil }
            return URLCredential(identity: found as! SecIdentity, certificates: nil, persistence: .forSession)
        }
    }
#endif
