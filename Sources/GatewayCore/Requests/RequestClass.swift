package import ODataWire

/// The treatment of a request, by its head.
package struct RequestClass: Sendable, Hashable {
    package enum RequestKind: Sendable, Hashable {
        /// A request that modifies nothing.
        case read
        case metadata
        case multipartBatch
        case jsonBatch
        /// A single request that may modify data.
        case modification
    }

    /// Whether the body of the request is a batch.
    package var isBatch: Bool { kind == .multipartBatch || kind == .jsonBatch }

    package let endpoint: GatewayConfiguration.Endpoint
    package let roots: ServiceRoots
    /// The path and query after the root of the service.
    package let rest: String
    package let kind: RequestKind
    package let scope: LinkRewriter.Scope
    /// Whether the body of the request contains links that are rewritten, and is JSON.
    package let hasJSONBody: Bool

    /// Classifies a request whose head was checked. Throws if no endpoint has the path, or the method is not that of a
    /// batch.
    package init(
        method: String, target: String, headers: HTTPHeaders, configuration: GatewayConfiguration
    ) throws(RequestRefusal) {
        guard RequestPath.isContained(target) else { throw RequestRefusal(400, "The path is outside the service.") }
        let found = configuration.endpoints.lazy.compactMap { endpoint in
            configuration.publicRoot.endpoint(endpoint.name).rest(of: target).map { (endpoint, $0) }
        }.first
        guard let (endpoint, rest) = found else { throw RequestRefusal(404, "There is no service at this URL.") }
        self.endpoint = endpoint
        self.rest = rest
        roots = ServiceRoots(published: configuration.publicRoot.endpoint(endpoint.name), origin: endpoint.root)
        let path = rest.prefix { $0 != "?" }
        let segments = path.split(separator: "/").map { RequestPath.decoded($0) ?? "" }
        let contentType = (headers["Content-Type"] ?? "").lowercased()
        hasJSONBody = contentType.hasPrefix("application/json")
        if ["GET", "HEAD", "OPTIONS"].contains(method) {
            kind = method == "GET" && segments == ["$metadata"] ? .metadata : .read
        } else if RequestPath.isBatch(String(path)) {
            // In doubt it is a batch, whose requests are checked: services decode the path before they look at it, some
            // of them without regard to case and parameters.
            guard method == "POST" else { throw RequestRefusal(405, "The method of a batch is POST.") }
            kind = hasJSONBody ? .jsonBatch : .multipartBatch
        } else if method == "POST", segments.count > 1, segments.last == "$query" {
            kind = .read
        } else {
            kind = .modification
        }
        var scope: LinkRewriter.Scope = []
        if path.isEmpty { scope.insert(.serviceDocument) }
        if segments.dropLast().contains("$links") { scope.insert(.links) }
        if kind == .jsonBatch { scope.insert(.batch) }
        self.scope = scope
    }
}
