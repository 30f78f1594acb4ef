package import EDM

/// The URL of a request, split into resource path and query options, and resolved against a model.
package struct ServiceRequest: Sendable, Hashable {
    package let path: ResourcePath
    package let options: QueryOptions

    package init(path: ResourcePath, options: QueryOptions = QueryOptions()) {
        self.path = path
        self.options = options
    }

    /// Parses a URL that is absolute and below `serviceRoot`, or relative to it, with or without a leading slash.
    ///
    /// A fragment is dropped, as in `$metadata#Customers`.
    package static func parse(
        _ url: String, serviceRoot: String? = nil, model: EntityDataModel, version: ODataVersion,
        contentIDs: [String: ResourcePath.Target] = [:]
    ) throws(URLSyntaxError) -> ServiceRequest {
        let relative = try ServiceURL.relativePart(of: url, serviceRoot: serviceRoot)
        let (encodedPath, query) = ServiceURL.split(relative)
        let untyped = try QueryOptions.parse(query ?? "", version: version)
        let path = try ResourcePath.parse(
            encodedPath, model: model, version: version, aliases: untyped.aliases, contentIDs: contentIDs)
        if case .entity? = path.segments.first, untyped.id == nil {
            throw URLSyntaxError(.invalidOptionValue, "A request to $entity requires the option $id.", in: url)
        }
        if let type = path.queriedType { try untyped.check(against: type, model: model, version: version) }
        try path.checkParameters(untyped, version: version, url: url)
        if version.isLegacy { try path.checkOptions(untyped, url: url) }
        return ServiceRequest(path: path, options: untyped)
    }
}

package enum ServiceURL {
    /// Returns the part after the service root, without a leading slash.
    ///
    /// Scheme and host are compared case-insensitively, the path exactly. A path that begins with the service root's
    /// path counts as below it too.
    ///
    /// - Throws: `outsideService` for a URL outside of the service.
    package static func relativePart(of url: String, serviceRoot: String?) throws(URLSyntaxError) -> String {
        let root = serviceRoot.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        if isAbsolute(url) {
            guard let root, let rest = strip(root, from: url) else {
                throw URLSyntaxError(.outsideService, "The URL is not below the service root.", in: url)
            }
            return rest
        }
        if url.hasPrefix("/"), let root {
            let rootPath = path(of: root)
            if !rootPath.isEmpty, url.hasPrefix(rootPath) {
                let rest = url.dropFirst(rootPath.count)
                if rest.isEmpty || rest.hasPrefix("/") || rest.hasPrefix("?") { return withoutLeadingSlash(rest) }
            }
        }
        return url
    }

    /// Splits a URL at the question mark. The fragment is dropped.
    package static func split(_ url: String) -> (path: String, query: String?) {
        // In a query a number sign is an error, which the query parser reports.
        if let question = url.utf8.firstIndex(of: UInt8(ascii: "?")) {
            return (String(url[..<question]), String(url[url.utf8.index(after: question)...]))
        }
        return (url.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(url[..<$0]) } ?? url, nil)
    }

    private static func isAbsolute(_ url: String) -> Bool {
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), url.utf8[colon...].starts(with: "://".utf8) else {
            return false
        }
        let scheme = url[..<colon]
        return !scheme.isEmpty && scheme.utf8.allSatisfy { byte in byte.isASCIILetter || byte.isDigit || byte == 0x2B }
    }

    private static func strip(_ root: String, from url: String) -> String? {
        guard isAbsolute(root) else { return nil }
        let (rootHost, urlHost) = (host(of: root), host(of: url))
        guard String(rootHost).equalsIgnoringCase(String(urlHost)) else { return nil }
        let rest = url.dropFirst(urlHost.count)
        let rootPath = root.dropFirst(rootHost.count)
        guard rest.hasPrefix(rootPath) else { return nil }
        let relative = rest.dropFirst(rootPath.count)
        guard relative.isEmpty || relative.hasPrefix("/") || relative.hasPrefix("?") else { return nil }
        return withoutLeadingSlash(relative)
    }

    private static func withoutLeadingSlash(_ text: Substring) -> String {
        String(text.hasPrefix("/") ? text.dropFirst() : text)
    }

    /// Returns scheme, host and port.
    private static func host(of url: String) -> Substring {
        guard let colon = url.firstRange(of: "://") else { return "" }
        let rest = url[colon.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? url.endIndex
        return url[..<end]
    }

    private static func path(of url: String) -> Substring { url.dropFirst(host(of: url).count) }
}

extension ResourcePath {
    /// Checks the options that V2 and V3 permit for the target of the path (MS-ODATA, section 2.2.3.6.1).
    func checkOptions(_ options: QueryOptions, url: String) throws(URLSyntaxError) {
        let ofCollections: Set<QueryOptions.Name> = [.orderby, .top, .skip, .inlinecount, .skiptoken]
        let refused: Set<QueryOptions.Name>
        switch target {
        case .entities, .count, .references(_, _, isCollection: true), .anyEntities, .unresolved: return
        case .entity, .references: refused = ofCollections
        // There is nothing to select from in a property.
        case .value, .rawValue, .media: refused = ofCollections.union([.expand, .select])
        case .serviceDocument, .metadata, .batch, .nothing: refused = ofCollections.union([.filter, .expand, .select])
        }
        for name in QueryOptions.Name.allCases where refused.contains(name) && options.holds(name) {
            throw URLSyntaxError(
                .unknownOption, "$\(name.rawValue) is not allowed for this path.", in: url)
        }
    }

    /// Checks the parameters of a function import, which are query options in V2 and V3: each must be present and
    /// valid.
    func checkParameters(_ options: QueryOptions, version: ODataVersion, url: String) throws(URLSyntaxError) {
        guard version.isLegacy, case .operationImport(let found, _)? = segments.first else { return }
        for parameter in found.parameters {
            guard let given = options.custom.first(where: { $0.name == parameter.name }), let text = given.value else {
                guard parameter.isNullable else {
                    throw URLSyntaxError(
                        .invalidParameter, "\(found.name) requires the parameter \(parameter.name).", in: url)
                }
                continue
            }
            guard readLiteral(text, as: parameter.type, version: version) != nil else {
                throw URLSyntaxError(
                    .invalidParameter, "\(text) is not a value of type \(parameter.type.name) for \(parameter.name).",
                    in: url)
            }
        }
    }
}
