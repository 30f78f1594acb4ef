import OfflineStore

/// The root of a service, which may have moved, and the URLs that are relative to it.
package struct ServiceAddress: Sendable {
    /// The root that requests are sent to, with a slash at its end.
    private(set) var root: String {
        didSet { origin = Self.origin(of: root) }
    }
    /// The origin of the root.
    private var origin: String
    /// The configured root, which may redirect to it.
    let given: String

    init(_ root: String) {
        given = Self.directory(root)
        self.root = given
        origin = Self.origin(of: given)
    }

    private static func directory(_ root: String) -> String { root.hasSuffix("/") ? root : root + "/" }

    /// Continues with another root, unless it has another origin.
    mutating func move(to root: String) -> Bool {
        guard isOurs(root) else { return false }
        self.root = Self.directory(root)
        return true
    }

    /// Returns whether an absolute URL has the service's origin.
    func isOurs(_ url: String) -> Bool { Self.origin(of: url) == origin }

    /// Returns scheme, host and port in normalized form (RFC 3986, 6.2.2.1 and 6.2.3), or an empty string if the URL is
    /// not absolute.
    package static func origin(of url: String) -> String {
        guard let separator = url.firstRange(of: "://") else { return "" }
        let end = url[separator.upperBound...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        let origin = url[..<end].lowercased()
        let port = origin.hasPrefix("https:") ? ":443" : ":80"
        return origin.hasSuffix(port) ? String(origin.dropLast(port.count)) : origin
    }

    /// Resolves a link in the response to a request.
    ///
    /// A link that begins with a slash is relative to the origin, one that begins with a question mark to the request
    /// (RFC 3986, 5.2.2). Any other relative link is relative to the root, like all URLs of the engine.
    func resolve(_ link: String, from request: String) -> String {
        let base = absolute(request)
        if link.hasPrefix("?") { return base.prefix { $0 != "?" && $0 != "#" } + link }
        guard link.hasPrefix("/"), let scheme = base.firstRange(of: "://") else { return link }
        if link.hasPrefix("//") { return base[..<scheme.lowerBound] + ":" + link }
        let end = base[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? base.endIndex
        return base[..<end] + link
    }

    /// Returns the URL of a request, which may be relative to the root.
    func absolute(_ url: String) -> String {
        // The service may continue to use the root that redirects.
        if given != root, url.hasPrefix(given), !url.hasPrefix(root) {
            return absolute(String(url.dropFirst(given.count)))
        }
        // Only a scheme at the beginning makes a URL absolute, because keys and query options may contain URLs too.
        let start = url.prefix(8).lowercased()
        let isAbsolute = start.hasPrefix("http://") || start.hasPrefix("https://")
        let text = isAbsolute ? url : root + (url.hasPrefix("/") ? String(url.dropFirst()) : url)
        return URLText.encoded(text)
    }
}
