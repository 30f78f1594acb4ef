import ODataQuery

/// The root URL of a service: an absolute http or https URL that ends with a slash.
package struct ServiceRoot: Sendable, Hashable, CustomStringConvertible {
    package let scheme: String
    /// Host and port, as in the URL.
    package let authority: String
    /// Begins and ends with a slash.
    package let path: String

    /// Parses a root. Returns `nil` for other URLs, and for URLs with credentials, query, fragment or dot segments.
    package init?(_ text: String) {
        guard let end = text.range(of: "://") else { return nil }
        let scheme = text[..<end.lowerBound].lowercased()
        let rest = text[end.upperBound...]
        guard scheme == "http" || scheme == "https", let slash = rest.firstIndex(of: "/") else { return nil }
        let authority = rest[..<slash]
        let path = rest[slash...]
        guard !authority.isEmpty, !authority.contains("@"), !authority.contains("%"), path.hasSuffix("/"),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !path.contains("?"), !path.contains("#"),
            !path.contains("//"), RequestPath.isContained(String(path))
        else { return nil }
        self.scheme = scheme
        self.authority = String(authority)
        self.path = String(path)
    }

    private init(scheme: String, authority: String, path: String) {
        (self.scheme, self.authority, self.path) = (scheme, authority, path)
    }

    package var description: String { "\(scheme)://\(authority)\(path)" }

    /// The root of an endpoint below this root. `name` contains only characters of a path segment.
    package func endpoint(_ name: String) -> ServiceRoot {
        ServiceRoot(scheme: scheme, authority: authority, path: path + name + "/")
    }

    /// Returns the part of a URL after this root, or `nil` if the URL is not below it. The URL is absolute or an
    /// absolute path. The root without its last slash counts as the root.
    package func rest(of url: some StringProtocol) -> String? {
        var path = Substring(url).utf8
        if path.first != UInt8(ascii: "/") {
            guard let rest = path.after(scheme.utf8)?.after("://".utf8)?.after(authority.utf8),
                rest.isEmpty || rest.first.map("/?#".utf8.contains) == true
            else { return nil }
            path = rest
        }
        guard path.starts(with: self.path.utf8.dropLast()) else { return nil }
        let rest = path.dropFirst(self.path.utf8.count - 1)
        switch rest.first {
        case UInt8(ascii: "/"): return String(Substring(rest.dropFirst()))
        case nil, UInt8(ascii: "?"), UInt8(ascii: "#"): return String(Substring(rest))
        default: return nil
        }
    }
}

extension Substring.UTF8View {
    /// Returns the bytes after a prefix, which may differ in the case of ASCII letters.
    fileprivate func after(_ prefix: String.UTF8View) -> Self? {
        var rest = self
        for byte in prefix {
            guard let first = rest.popFirst(), first.asciiLowercased == byte.asciiLowercased else { return nil }
        }
        return rest
    }
}

extension StringProtocol {
    /// Returns the range of the first occurrence of `other`, which is ASCII.
    fileprivate func range(of other: String) -> Range<Index>? {
        var start = startIndex
        while start != endIndex {
            if self[start...].hasPrefix(other) { return start..<index(start, offsetBy: other.count) }
            start = index(after: start)
        }
        return nil
    }
}
