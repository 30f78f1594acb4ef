public import HTTPTypes

extension HTTPRequest {
    /// Creates a request, or returns `nil` unless `url` is an absolute http or https URL without credentials and
    /// fragment. Nothing is encoded.
    public init?(method: HTTPRequest.Method, url: String, headerFields: HTTPFields = [:]) {
        guard let url = RequestURL(url) else { return nil }
        self.init(
            method: method, scheme: url.origin.scheme, authority: url.authority, path: url.target,
            headerFields: headerFields)
    }
}

/// The origin of a URL. Credentials are sent only to the same origin.
struct Origin: Hashable, CustomStringConvertible {
    var scheme: String
    var host: String
    var port: Int

    var description: String {
        port == Self.defaultPort(scheme) ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
    }

    static func defaultPort(_ scheme: String) -> Int { scheme == "https" ? 443 : 80 }

    var isLoopback: Bool {
        host == "localhost" || host == "[::1]" || (host.hasPrefix("127.") && host.utf8.allSatisfy { $0 <= 0x39 })
    }
}

/// An absolute URL, split into the parts that a request needs.
struct RequestURL {
    var origin: Origin
    var authority: String
    /// Path and query; at least `/`.
    var target: String

    init?(_ url: String) {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), url[colon...].hasPrefix("://") else { return nil }
        let rest = url[url.index(colon, offsetBy: 3)...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        let target = rest[end...]
        self.init(
            scheme: url[..<colon].lowercased(), authority: String(rest[..<end]),
            target: target.hasPrefix("/") ? String(target) : "/" + target)
    }

    init?(scheme: String, authority: String, target: String) {
        guard scheme == "http" || scheme == "https", target.hasPrefix("/"), !target.contains("#"),
            (authority + target).utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            let (host, port) = Self.hostAndPort(authority)
        else { return nil }
        origin = Origin(scheme: scheme, host: host, port: port ?? Origin.defaultPort(scheme))
        self.authority = authority
        self.target = target
    }

    var text: String { "\(origin.scheme)://\(authority)\(target)" }

    /// The URL without the query, which may contain confidential values.
    var redacted: String {
        guard let query = target.firstIndex(of: "?") else { return text }
        return "\(origin.scheme)://\(authority)\(target[..<query])?…"
    }

    private static func hostAndPort(_ authority: String) -> (String, Int?)? {
        guard !authority.contains(where: { "@/\\?#".contains($0) }) else { return nil }
        let afterBrackets = authority.lastIndex(of: "]") ?? authority.startIndex
        guard let colon = authority[afterBrackets...].lastIndex(of: ":") else {
            return authority.isEmpty ? nil : (authority.lowercased(), nil)
        }
        let host = authority[..<colon].lowercased()
        let digits = authority[authority.index(after: colon)...]
        if digits.isEmpty { return host.isEmpty ? nil : (host, nil) }
        guard !host.isEmpty, let port = UInt16(digits), digits.utf8.allSatisfy({ $0 >= 0x30 }) else { return nil }
        return (host, Int(port))
    }
}
