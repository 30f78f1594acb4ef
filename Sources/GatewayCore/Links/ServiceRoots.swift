import ODataQuery

/// The two roots of an endpoint: the public one that clients use, and the origin's.
package struct ServiceRoots: Sendable, Hashable {
    package let published: ServiceRoot
    package let origin: ServiceRoot

    package init(published: ServiceRoot, origin: ServiceRoot) {
        self.published = published
        self.origin = origin
    }

    package enum Direction: Sendable, Hashable {
        /// From a client to the origin.
        case request
        /// From the origin to a client.
        case response
    }

    package func source(_ direction: Direction) -> ServiceRoot { direction == .request ? published : origin }
    package func target(_ direction: Direction) -> ServiceRoot { direction == .request ? origin : published }

    /// Returns the URL with its root replaced. URLs that are relative or below another root are returned unchanged.
    package func rewritten(_ url: String, _ direction: Direction) -> String {
        guard let rest = source(direction).rest(of: url) else { return url }
        let target = target(direction)
        return url.hasPrefix("/") ? target.path + rest : "\(target)\(rest)"
    }

    /// The target of a request at the origin: the path and query of the client's target, below the other root.
    package func originTarget(_ rest: String) -> String { origin.path + Self.withRewrittenID(rest, self) }

    /// Returns the URL of a request inside a batch with its roots replaced.
    package func rewrittenTarget(_ url: String) -> String {
        Self.withRewrittenID(rewritten(url, .request), self)
    }

    /// Rewrites the URL in `$id`, the query option of a request that removes a link (OData 4.01 Part 1, 11.4.6.2).
    private static func withRewrittenID(_ rest: String, _ roots: ServiceRoots) -> String {
        guard let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")), rest[mark...].contains("id=") else { return rest }
        let options = rest[rest.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false)
        let rewritten = options.map { option -> String in
            guard let equals = option.firstIndex(of: "="),
                ["$id", "%24id"].contains(where: { option[..<equals].lowercased() == $0 })
            else { return String(option) }
            let value = String(option[option.index(after: equals)...])
            let plain = value.replacing("%3A", "%2F", by: ":", "/")
            let changed = roots.rewritten(plain, .request)
            return changed == plain ? String(option) : option[...equals] + changed
        }
        return rest[...mark] + rewritten.joined(separator: "&")
    }

    /// Rewrites a Set-Cookie field: the cookie is for this endpoint only, and for the host of the gateway.
    package func rewrittenCookie(_ value: String) -> String {
        var parts = value.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        guard !parts.isEmpty else { return value }
        let first = parts.removeFirst()
        func name(_ part: String) -> String {
            part.prefix { $0 != "=" }.filter { $0 != " " }.lowercased()
        }
        parts.removeAll { name($0) == "path" || name($0) == "domain" }
        return ([first] + parts + [" Path=\(published.path)"]).joined(separator: ";")
    }
}

extension String {
    /// Decodes the two escapes that URLs inside of query options have.
    fileprivate func replacing(_ colon: String, _ slash: String, by plainColon: String, _ plainSlash: String) -> String
    {
        var result = ""
        var rest = self[...]
        while let first = rest.first {
            let head = rest.prefix(3)
            if head.equalsASCII(colon) {
                result += plainColon
                rest = rest.dropFirst(3)
            } else if head.equalsASCII(slash) {
                result += plainSlash
                rest = rest.dropFirst(3)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return result
    }
}

extension Substring {
    fileprivate func equalsASCII(_ other: String) -> Bool { String(self).equalsIgnoringCase(other) }
}
