internal import ODataWire

/// The `$<Content-ID>` references of a request: whole first segments of its URL and of strings in its body, so that `$1`
/// is not found in `$10`. Not everything found needs to be meant as one.
enum ContentIDReferences {
    static func all(in request: WireRequest) -> Set<String> {
        var found: Set<String> = []
        if let id = id(of: request.url[...]) { found.insert(id) }
        let opening = Array("\"$".utf8)
        var rest = request.body[...]
        while let start = rest.firstRange(of: opening)?.upperBound {
            rest = rest[start...]
            let token = rest.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "/") }
            found.insert(String(decoding: token, as: UTF8.self))
        }
        return found
    }

    /// That of a URL or path.
    static func id(of url: Substring) -> String? {
        guard url.hasPrefix("$") else { return nil }
        return String(url.dropFirst().prefix { $0 != "/" && $0 != "?" })
    }
}
