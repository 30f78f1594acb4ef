import CCurl

extension ConnectionOptions {
    /// Sets the options of a handle. Returns the reason if libcurl cannot apply one.
    func apply(to easy: OpaquePointer, isLoopback: Bool) -> String? {
        func set(_ option: ccurl_string_option, _ value: String) -> Bool {
            ccurl_set_string(easy, option, value) == CCURL_OK
        }
        setProxy(easy, isLoopback: isLoopback)
        if let file = serverTrust.authorities {
            // Without the folder of the system's authorities, which libcurl would search in addition.
            guard set(CCURL_CAINFO, file), ccurl_set_string(easy, CCURL_CAPATH, nil) == CCURL_OK else {
                return "libcurl does not read files of certificate authorities"
            }
        }
        let isSet: Bool
        switch clientCertificate {
        case nil: return nil
        case .pkcs12(let path, let password):
            isSet = set(CCURL_SSLCERTTYPE, "P12") && set(CCURL_SSLCERT, path) && set(CCURL_KEYPASSWD, password)
        case .pem(let certificate, let key, let password):
            isSet =
                set(CCURL_SSLCERTTYPE, "PEM") && set(CCURL_SSLCERT, certificate) && set(CCURL_SSLKEY, key)
                && (password.map { set(CCURL_KEYPASSWD, $0) } ?? true)
        case .keychain: return "the keychain is not available with libcurl; use a PKCS #12 file"
        }
        return isSet ? nil : "libcurl does not support client certificates of this kind"
    }

    private func setProxy(_ easy: OpaquePointer, isLoopback: Bool) {
        switch proxy {
        case _ where isLoopback: ccurl_set_string(easy, CCURL_PROXY, "")
        case .system: break
        case .none: ccurl_set_string(easy, CCURL_PROXY, "")
        case .http(let proxy):
            ccurl_set_string(easy, CCURL_PROXY, "http://\(proxy.host):\(proxy.port)")
            ccurl_set_string(easy, CCURL_NOPROXY, "")
            if let user = proxy.user { ccurl_set_string(easy, CCURL_PROXYUSERNAME, user) }
            if let password = proxy.password { ccurl_set_string(easy, CCURL_PROXYPASSWORD, password) }
        }
    }
}

extension CurlTransfer {
    /// Makes libcurl call the check of the app when a connection is established. Returns whether that is possible.
    ///
    /// HTTP/1.1, because a connection that was refused is closed only if it has one stream. A resumed session of TLS
    /// has no certificates, so there are none.
    func setTrustCheck(_ easy: OpaquePointer) -> Bool {
        let http1_1 = 2
        let context = Unmanaged.passUnretained(self).toOpaque()
        let isReady =
            ccurl_set_ready_callback(
                easy, { context, _, _, _, _ in CurlTransfer.from(context).isTrusted ? 0 : 1 }, context) == CCURL_OK
        return isReady && ccurl_set_long(easy, CCURL_CERTINFO, 1) == CCURL_OK
            && ccurl_set_long(easy, CCURL_SSL_SESSIONID_CACHE, 0) == CCURL_OK
            && ccurl_set_long(easy, CCURL_HTTP_VERSION, http1_1) == CCURL_OK
    }

    /// Whether the request may be sent over the connection. Sets the error if not.
    private var isTrusted: Bool {
        guard let easy, let check = options.connection.serverTrust.check, url.origin.scheme == "https" else {
            return true
        }
        var chain: [[UInt8]] = []
        while let text = ccurl_server_certificate(easy, Int32(chain.count)),
            let certificate = PEM.certificates(String(cString: text)).first
        {
            chain.append(certificate)
        }
        // An earlier request has checked the connection.
        if chain.isEmpty, ccurl_get_long(easy, CCURL_NUM_CONNECTS) == 0 { return true }
        let certificates = ServerCertificates(host: url.origin.host, port: url.origin.port, chain: chain)
        if !chain.isEmpty, check(certificates) { return true }
        failure = error(.tls, "the app does not trust the certificate of the server", sent: false)
        return false
    }

    /// Returns a sentence if the proxy has refused to connect to the service.
    func proxyRefusal(_ easy: OpaquePointer) -> String? {
        let status = ccurl_get_long(easy, CCURL_HTTP_CONNECTCODE)
        guard status != 0, !(200...299).contains(status) else { return nil }
        return "the proxy refused the connection with the status \(status)"
    }
}
