internal import ODataWire

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

/// Checks of the path of a request.
package enum RequestPath {
    /// Returns whether no segment of the path leads out of its root, also after decoding. Accepts any text.
    package static func isContained(_ target: String) -> Bool {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        var decoded = Array(path.utf8)
        // Some services decode twice.
        for _ in 0..<2 {
            guard let once = percentDecoded(decoded) else { return false }
            decoded = once
            let segments = decoded.split(omittingEmptySubsequences: false) { $0 == 0x2F || $0 == 0x5C }
            if segments.contains(where: { $0.elementsEqual([0x2E, 0x2E]) || $0.elementsEqual([0x2E]) }) {
                return false
            }
            if decoded.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return false }
        }
        return true
    }

    /// Returns the bytes with `%XX` decoded. A percent sign without digits is kept; nil for `%00`.
    private static func percentDecoded(_ bytes: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x25, index + 2 < bytes.count, let high = digit(bytes[index + 1]),
                let low = digit(bytes[index + 2])
            {
                let byte = high << 4 | low
                if byte == 0 { return nil }
                result.append(byte)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}
