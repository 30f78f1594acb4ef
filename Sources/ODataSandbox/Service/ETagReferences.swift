internal import ODataWire

/// The ETags in the responses to the named requests of a batch so far, to which `If-Match` and `If-None-Match` of later
/// parts may refer (OData 4.01 Part 1, section 11.7.5).
struct ETagReferences {
    private var etags: [String: String] = [:]
    private static let headers = ["If-Match", "If-None-Match"]

    mutating func add(_ response: WireResponse, to name: String?) {
        guard let name, response.isSuccess else { return }
        etags[name] = response.headers["ETag"]
    }

    /// Returns the request with the ETags of earlier parts. A change set resolves references within itself.
    func resolved(_ request: WireRequest) -> WireRequest {
        var request = request
        for header in Self.headers {
            guard let name = ContentIDReferences.id(of: (request.headers[header] ?? "")[...]), let etag = etags[name]
            else { continue }
            request.headers[header] = etag
        }
        return request
    }

    /// Returns the name to which `If-Match` refers.
    static func name(in request: WireRequest) -> String? {
        ContentIDReferences.id(of: (request.headers["If-Match"] ?? "")[...])
    }

    /// Returns all names to which the preconditions refer.
    static func names(in request: WireRequest) -> [String] {
        headers.compactMap { ContentIDReferences.id(of: (request.headers[$0] ?? "")[...]) }
    }
}

extension Modifications {
    /// Checks `If-Match: $name`.
    ///
    /// All requests of a change set result in one ETag of each entity, so any earlier request about the same entity is
    /// a match.
    func requireMatch(_ id: RowID, withETagOf name: String) throws(SandboxError) {
        guard !view.isLegacy, view.capabilities.etagReferences else {
            throw SandboxError(400, .badRequest, "The service does not support references to ETags.")
        }
        guard let referenced = contentIDs[name] else {
            throw SandboxError(400, .unresolvedReference, "If-Match refers to the ETag of $\(name), which has none.")
        }
        guard referenced == id else {
            throw SandboxError(412, .preconditionFailed, "If-Match refers to the ETag of another entity, $\(name).")
        }
    }
}
