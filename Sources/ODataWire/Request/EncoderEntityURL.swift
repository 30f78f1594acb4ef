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
            let key = key.map { predicate($0, of: type) } ?? ""
            return Self.appending("/" + encode(navigation.name) + key, to: relative(parent))
        case .cast(let entity, let type): return casting(relative(entity), to: type)
        case .url(let url):
            for prefix in prefixes where url.hasPrefix(prefix) { return String(url.dropFirst(prefix.count)) }
            return url
        }
    }

    /// Returns the URL with a cast to the type. Some services return links that already end with it or with a cast to a
    /// type that is derived from it.
    func casting(_ url: String, to type: String) -> String {
        let last = url.prefix { $0 != "?" }.split(separator: "/").last ?? ""
        let name = model.resolveAlias((try? PercentCoding.decode(last)) ?? "")
        return model.isType(name, derivedFrom: type) ? url : Self.appending("/" + encode(type), to: url)
    }

    /// Returns the URL with a longer path. The query options of an editLink stay at the end.
    static func appending(_ path: String, to url: String) -> String {
        guard let query = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return url + path }
        return url[..<query] + path + url[query...]
    }

    /// Returns the URL with further query options.
    static func adding(_ options: String, to url: String) -> String {
        url + (url.utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + options
    }

    /// Returns the URL as used in a body: absolute, except for a reference within the change set, which remains `$1`.
    /// It identifies the entity, so it has no query options after a key in parentheses. Options after a different path
    /// stay, because they may identify the entity.
    func absolute(_ reference: ResourceReference) -> String {
        var url = relative(reference)
        if let query = url.utf8.firstIndex(of: UInt8(ascii: "?")), url[..<query].hasSuffix(")") {
            url.removeSubrange(query...)
        }
        if reference.isBelowContentID { return url }
        return Self.isAbsolute(url) ? url : serviceRoot + url
    }

    /// Returns `(1)`, or `(A=1,B='x')` for a key of several properties; an empty string for a singleton.
    func predicate(_ key: KeyPredicate, of type: EntityType?) -> String {
        func text(_ part: (name: String, value: Value)) -> String {
            // An alias is not the name of a property.
            let declared = type?.keyParts.first { $0.name == part.name }?.type ?? type?.findProperty(part.name)?.type
            return encode(literal(part.value, declared))
        }
        if key.values.count == 1 { return "(" + text(key.values[0]) + ")" }
        guard !key.values.isEmpty else { return "" }
        return "(" + key.values.map { encode($0.name) + "=" + text($0) }.joined(separator: ",") + ")"
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

    static func isAbsolute(_ url: String) -> Bool { authority(of: url) != nil }

    /// Returns the part of an absolute URL after its scheme and `://`, or nil for a relative URL.
    private static func authority(of url: String) -> Substring? {
        // A scheme contains none of these characters; a slash or a parenthesis before "://" makes it part of a path.
        guard let slash = url.utf8.firstIndex(where: { "/?#()'".utf8.contains($0) }),
            url.utf8[..<slash].last == UInt8(ascii: ":"), url.utf8[slash...].starts(with: "//".utf8)
        else { return nil }
        // By bytes, because a combining character after the slashes is a `Character` together with the second one.
        return url[url.utf8.index(slash, offsetBy: 2)...]
    }

    private static func path(of url: String) -> String {
        guard let rest = authority(of: url) else { return "" }
        return rest.utf8.firstIndex(of: UInt8(ascii: "/")).map { String(rest[$0...]) } ?? ""
    }
}
