internal import ODataWire

/// The `$<Content-ID>` references of a request: whole first segments of its URL and of strings in its body, or of
/// attributes and texts if the body is XML, so that `$1` is not found in `$10`.
///
/// The strings found are not necessarily meant as references.
enum ContentIDReferences {
    static func all(in request: WireRequest) -> Set<String> {
        var found: Set<String> = []
        if let id = id(of: request.url[...]) { found.insert(id) }
        for opening in request.body.first == UInt8(ascii: "<") ? ["\"$", ">$"] : ["\"$"] {
            var rest = request.body[...]
            while let start = rest.firstRange(of: Array(opening.utf8))?.upperBound {
                rest = rest[start...]
                let token = rest.prefix { !"\"/<".utf8.contains($0) }
                found.insert(String(decoding: token, as: UTF8.self))
            }
        }
        return found
    }

    static func inBody(of request: WireRequest) -> Set<String> {
        all(in: WireRequest(method: request.method, url: "", body: request.body))
    }

    /// Returns the reference at the start of a URL or path, or nil.
    static func id(of url: Substring) -> String? {
        guard url.hasPrefix("$") else { return nil }
        return String(url.dropFirst().prefix { $0 != "/" && $0 != "?" })
    }
}

extension ServiceView {
    /// Rejects references to other requests of the change set at positions that the service does not support.
    func requireReferences(of request: WireRequest, among identifiers: Set<String>) throws(SandboxError) {
        let inURL = ContentIDReferences.id(of: request.url[...]).map { identifiers.contains($0) } ?? false
        let inBody = !ContentIDReferences.inBody(of: request).isDisjoint(with: identifiers)
        let isRefused =
            switch capabilities.contentIDReferences {
            case .standard, .urlsPreferred, .urlsAndBodies: false
            case .urlsOnly: inBody
            case .none: inURL || inBody
            }
        guard isRefused else { return }
        if inURL, let id = ContentIDReferences.id(of: request.url[...]) {
            throw SandboxError(
                isLegacy ? 404 : 400, .unresolvedReference, "Resource not found for the segment '$\(id)'.")
        }
        // The error of libraries that interpret the reference as a URL (Olingo 2).
        if isLegacy { throw SandboxError(404, .notFound, "Requested entity could not be found.") }
        throw SandboxError(
            400, .badRequest,
            "The service does not support this kind of reference to another request of the change set.")
    }
}
