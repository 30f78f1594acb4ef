package import ODataWire

/// The header fields that pass through the gateway.
package enum HeaderRules {
    /// Fields that concern one connection (RFC 9110, section 7.6.1).
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer",
        "transfer-encoding", "upgrade", "http2-settings",
    ]

    /// Fields that the gateway sets itself, or that a client could use to change the meaning of a request or of a
    /// response in a cache.
    private static let dropped: Set<String> = [
        "host", "content-length", "expect", "accept-encoding", "forwarded", "x-forwarded-host", "x-forwarded-proto",
        "x-forwarded-port", "x-forwarded-prefix", "x-forwarded-server", "x-forwarded-scheme", "x-forwarded-ssl",
        "x-forwarded-path", "x-forwarded-uri", "x-original-url", "x-original-host", "x-rewrite-url", "x-host",
        "x-real-ip", "x-client-ip", "true-client-ip", "x-cluster-client-ip", "via", "front-end-https",
        "x-http-host-override", "x-original-method",
    ]

    /// Returns the fields that the origin receives. They include credentials, which are sent to the configured origin
    /// only.
    package static func forwarded(_ headers: HTTPHeaders, trustsForwarded: Bool) -> HTTPHeaders {
        let connection = named(inConnection: headers)
        var result = HTTPHeaders()
        for field in headers.fields {
            let name = field.name.lowercased()
            // Some services do not distinguish “_” from “-”.
            if hopByHop.contains(name) || dropped.contains(name) || connection.contains(name) || name.contains("_") {
                continue
            }
            if name == "x-forwarded-for", !trustsForwarded { continue }
            result.add(name: field.name, value: field.value)
        }
        result.add(name: "Via", value: "1.1 tidelog-gateway")
        return result
    }

    /// Returns the fields that the client receives. No cache may store a response that was made for one user.
    ///
    /// - Parameter isRewritten: Whether the length of the body may differ from the origin's.
    package static func answered(_ headers: HTTPHeaders, _ roots: ServiceRoots, isRewritten: Bool) -> HTTPHeaders {
        let connection = named(inConnection: headers)
        var result = HTTPHeaders()
        for field in headers.fields {
            let name = field.name.lowercased()
            if hopByHop.contains(name) || connection.contains(name) { continue }
            switch name {
            case "location", "content-location", "odata-entityid":
                result.add(name: field.name, value: roots.rewritten(field.value, .response))
            case "set-cookie": result.add(name: field.name, value: roots.rewrittenCookie(field.value))
            case "cache-control", "expires", "pragma", "age", "alt-svc", "surrogate-control", "cdn-cache-control":
                continue
            case "content-length" where isRewritten: continue
            case "accept-ranges" where isRewritten: continue
            default: result.add(name: field.name, value: field.value)
            }
        }
        result.add(name: "Cache-Control", value: "private, no-store")
        return result
    }

    private static func named(inConnection headers: HTTPHeaders) -> Set<String> { Set(headers.connectionNames) }

    /// The fields that a Connection field may name. A client that names another one wants the gateway to remove a field
    /// that the origin should see.
    static let allowedInConnection = hopByHop.union(["close"])
}

extension HTTPHeaders {
    /// The names in the Connection fields, in lower case.
    var connectionNames: [String] {
        values("Connection").flatMap { $0.split(separator: ",") }.map { name in
            name.filter { $0 != " " && $0 != "\t" }.lowercased()
        }
    }
}
