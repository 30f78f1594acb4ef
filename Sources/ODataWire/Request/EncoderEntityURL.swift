internal import EDM
internal import ODataQuery

/// Writes the URLs of entities, relative to the service root and absolute.
struct EntityURLWriter: Sendable {
    let version: ODataVersion
    let model: EntityDataModel
    /// The URL of the service root, with a slash at its end.
    let serviceRoot: String
    /// All prefixes of URLs of the service, absolute and as paths, beginning with ``serviceRoot``.
    private let prefixes: [String]

    /// - Parameter givenRoot: The URL that redirects to `serviceRoot`. The service may still use it in its links.
    init(version: ODataVersion, model: EntityDataModel, serviceRoot: String, givenRoot: String? = nil) {
        self.version = version
        self.model = model
        let root = serviceRoot.hasSuffix("/") ? serviceRoot : serviceRoot + "/"
        self.serviceRoot = root
        var roots = [root]
        if let givenRoot, givenRoot != root { roots.append(givenRoot) }
        prefixes = roots + roots.map(Self.path).filter { !$0.isEmpty }
    }

    /// Returns the URL relative to the service root, percent-encoded. Absolute only for a URL outside of the service.
    func relative(_ reference: ResourceReference) -> String {
        switch reference {
        case .entity(let set, let key): return encode(set.segment) + predicate(key, of: set.entityType)
        case .contentID(let id): return "$" + id
        case .contained(let parent, let navigation, let key):
            let type = model.findEntityType(navigation.navigation?.targetType ?? "")
            return relative(parent) + "/" + encode(navigation.name) + (key.map { predicate($0, of: type) } ?? "")
        case .cast(let entity, let type): return relative(entity) + "/" + encode(type)
        case .url(let url):
            for prefix in prefixes where url.hasPrefix(prefix) { return String(url.dropFirst(prefix.count)) }
            return url
        }
    }

    /// Returns the URL as used in a body: absolute, except for a reference within the change set, which remains `$1`.
    func absolute(_ reference: ResourceReference) -> String {
        let url = relative(reference)
        if reference.isBelowContentID { return url }
        return Self.isAbsolute(url) ? url : serviceRoot + url
    }

    /// Returns `(1)`, or `(A=1,B='x')` for a key of several properties; an empty string for a singleton.
    func predicate(_ key: KeyPredicate, of type: EntityType?) -> String {
        guard !key.values.isEmpty else { return "" }
        let texts = key.values.map { name, value in
            let text = encode(literal(value, type?.findProperty(name)?.type))
            return key.values.count == 1 ? text : encode(name) + "=" + text
        }
        return "(" + texts.joined(separator: ",") + ")"
    }

    /// Returns the key predicate at the end of an entity's URL, including the parentheses, or nil if there is none.
    func predicate(endOf url: String) -> String? {
        let path = url.prefix { $0 != "?" && $0 != "#" }
        let last = path.split(separator: "/").last ?? ""
        guard last.hasSuffix(")"), let start = last.firstIndex(of: "(") else { return nil }
        return String(last[start...])
    }

    private func literal(_ value: Value, _ type: TypeReference?) -> String {
        if case .enumeration(let members) = value, !version.isLegacy, let type {
            return PrimitiveLiteral.format(enumeration: members, typeName: type.name)
        }
        return PrimitiveLiteral.format(value, as: type?.primitive, version: version, form: .url)
    }

    func encode(_ text: String) -> String { PercentCoding.encode(text, for: .pathSegment) }

    static func isAbsolute(_ url: String) -> Bool {
        guard let scheme = url.range(of: "://") else { return false }
        // A scheme contains none of these characters; a slash or a parenthesis before "://" makes it part of a path.
        return !url[..<scheme.lowerBound].utf8.contains { "/?#()'".utf8.contains($0) }
    }

    private static func path(of url: String) -> String {
        guard isAbsolute(url), let scheme = url.range(of: "://") else { return "" }
        let rest = url[scheme.upperBound...]
        return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? ""
    }
}

extension String {
    /// Returns the range of the first occurrence of `text`. The standard library has no such function.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
