import EDM
import ODataQuery
package import ODataWire

/// The user of a request for permissions: all fields that may identify one.
package enum RequestCredentials {
    /// Fields that a service does not use to identify users. All remaining fields count, also unknown ones: two
    /// requests with different credentials must never look equal.
    private static let impersonal: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "connection", "content-length", "content-type", "date",
        "dataserviceversion", "expect", "host", "keep-alive", "maxdataserviceversion", "mindataserviceversion",
        "odata-isolation", "odata-maxversion", "odata-version", "prefer", "te", "traceparent", "tracestate",
        "transfer-encoding", "user-agent", "via", "x-correlation-id", "x-csrf-token", "x-request-id",
        "repeatability-client-id", "repeatability-first-sent", "repeatability-request-id", "requestid",
        "repeatabilitycreation", "if-match", "if-none-match", "slug",
        // Traces, which differ for each request
        "b3", "baggage", "sap-passport", "sentry-trace", "x-amzn-trace-id", "x-b3-flags", "x-b3-parentspanid",
        "x-b3-sampled", "x-b3-spanid", "x-b3-traceid", "x-cloud-trace-context", "x-datadog-parent-id",
        "x-datadog-trace-id",
    ]

    /// Returns a text that is equal for two requests only if their credentials are.
    package static func text(_ headers: HTTPHeaders) -> String {
        headers.fields.map { (name: $0.name.lowercased(), value: $0.value) }
            .filter { !impersonal.contains($0.name) }
            .map { "\($0.name.utf8.count) \($0.name) \($0.value.utf8.count) \($0.value)\n" }
            .sorted().joined()
    }

    /// Returns a text for the user whose requests in progress are limited together: the login, other fields that may
    /// identify a user, or the address of the client. Users behind one proxy have the same address.
    ///
    /// - Parameters:
    ///   - peer: The address of the connection.
    ///   - trustsForwarded: Whether the last address in `X-Forwarded-For` is the client's, added by a proxy.
    package static func limited(_ headers: HTTPHeaders, peer: String, trustsForwarded: Bool) -> String {
        let logins = headers.values("Authorization") + headers.values("Cookie")
        if !logins.isEmpty { return "login \(logins.joined(separator: "\n"))" }
        let forwarded = headers.values("X-Forwarded-For").last?.split(separator: ",").last.map {
            $0.filter { $0 != " " }
        }
        let address = (trustsForwarded ? forwarded : nil) ?? peer
        let keys = headers.fields.filter { keyFields.contains($0.name.lowercased()) }.map(\.value)
        return keys.isEmpty ? "peer \(address)" : "key \(keys.joined(separator: "\n"))"
    }

    /// The usual fields for the keys of interfaces and for the users that a proxy has authenticated.
    private static let keyFields: Set<String> = [
        "api-key", "apikey", "x-api-key", "ocp-apim-subscription-key", "x-forwarded-user", "x-remote-user", "x-user",
        "x-ssl-client-dn", "x-ssl-client-cert", "x-client-cert", "x-forwarded-client-cert",
    ]

    /// Returns a text that is equal for two requests with the same credentials, or with access tokens of one user in the
    /// form of JWTs. It must not be used for permissions, because nothing is verified.
    package static func exactWriter(_ headers: HTTPHeaders) -> String {
        guard let value = headers["Authorization"] else { return "" }
        return subject(of: value).map { "jwt \($0)" } ?? value
    }

    /// Returns a text that is equal for two requests of one user, also after an access token was renewed.
    ///
    /// The text may be equal for different users: all opaque access tokens have the same one, because nothing shows
    /// which of them replaced another. It must not be used for permissions, because nothing is verified.
    package static func writer(_ headers: HTTPHeaders) -> String {
        guard let value = headers["Authorization"] else { return "" }
        if let subject = subject(of: value) { return "jwt \(subject)" }
        return value.prefix { $0 != " " }.lowercased() == "bearer" ? "bearer" : value
    }

    /// Returns the issuer and the subject of a JWT (RFC 7519), or `nil` for other credentials.
    private static func subject(of authorization: String) -> String? {
        let words = authorization.split(separator: " ")
        guard words.count == 2, words[0].lowercased() == "bearer", words[1].utf8.count <= 16_384 else { return nil }
        let parts = words[1].split(separator: ".")
        guard parts.count == 3, let payload = Base64.decode(Array(parts[1].utf8)),
            let claims = try? JSONValue.parse(payload),
            let subject = claims["sub"]?.string
        else { return nil }
        return "\(claims["iss"]?.string ?? "") \(subject)"
    }
}

/// The permission of a user to read a feed, as the service answered the last probe.
package struct FeedPermission: Sendable, Hashable {
    /// How long a permission is believed, in milliseconds.
    package static let allowedFor: Int64 = 300_000
    /// The duration for which a rejection by the service stays valid.
    package static let refusedFor: Int64 = 30_000

    package let isAllowed: Bool
    /// The time at which the probe began.
    package let checked: Int64

    package init(isAllowed: Bool, checked: Int64) {
        self.isAllowed = isAllowed
        self.checked = checked
    }

    /// Returns whether the permission is still believed. A clock that was set back ends it.
    package func isFresh(now: Int64) -> Bool {
        let age = now - checked
        return age >= 0 && age < (isAllowed ? Self.allowedFor : Self.refusedFor)
    }

    /// The meaning of the response to a probe.
    package enum ProbeResult: Sendable, Hashable {
        case allowed
        case refused
        /// The response does not concern the permission: it is not remembered.
        case unknown
    }

    /// Interprets the response to a probe. Only JSON shows that the service has answered the query: a page with a login
    /// form is a rejection.
    package static func probe(status: Int, contentType: String?) -> ProbeResult {
        switch status {
        case 200..<300: (contentType ?? "").lowercased().hasPrefix("application/json") ? .allowed : .refused
        case 408, 425, 429: .unknown
        case 300..<500: .refused
        default: .unknown
        }
    }
}
