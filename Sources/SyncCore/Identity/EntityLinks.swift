package import EDM
import ODataQuery
import ODataWire

/// Parses the URLs by which a service names its entities.
package struct EntityLinks {
    private let model: EntityDataModel
    private let root: String
    private let encoder: RequestEncoder

    package init(model: EntityDataModel, serviceRoot: String) {
        self.model = model
        root = serviceRoot
        encoder = RequestEncoder(version: model.version, model: model, serviceRoot: serviceRoot)
    }

    /// Returns the key in the URL of an entity of `set`. Nil if the URL names an entity of another set, or has no key.
    func key(in url: String, of set: EntitySet) -> KeyPredicate? {
        key(at: path(in: url), of: set)
    }

    private func key(at path: ResourcePath?, of set: EntitySet) -> KeyPredicate? {
        guard let path, let end = end(of: path), end.set == set, case .key(let key)? = end.key,
            key.isPrimary(of: set.entityType)
        else { return nil }
        return key
    }

    /// Returns the set of the entity that a URL names by a key or as the target of a to-one containment. Nil for any
    /// other URL.
    ///
    /// - Parameter expected: The set of most such URLs. These are not parsed.
    func set(in url: String, expected: EntitySet?) -> EntitySet? {
        if let expected, Self.isPlainly(relative(url), of: expected) { return expected }
        guard let path = path(in: url), let end = end(of: path) else { return nil }
        return end.key != nil || end.set.isContainedSingle ? end.set : nil
    }

    /// Returns whether the URL consists of the set's name and a key without a slash.
    private static func isPlainly(_ url: String, of set: EntitySet) -> Bool {
        !set.isContained && url.hasPrefix(set.segment + "(") && !url.utf8.contains(UInt8(ascii: "/"))
    }

    /// Returns the path of an entity or collection in a URL or the fragment of a context URL, with its containers.
    func containmentPath(in url: String) -> ContainmentPath? { path(in: url).flatMap { ContainmentPath($0, model) } }

    /// Returns the path of a URL below the service root.
    ///
    /// A service behind a gateway may use another root in its URLs. The path then begins at the first segment from
    /// which the rest can be parsed: `Orders(1)/Items(2)` names an item of an order, and not an entity of the set
    /// `Items`.
    ///
    /// - Parameter withKeySegments: Whether keys may be segments, as in `Orders/5`.
    private func path(in url: String, withKeySegments: Bool = true) -> ResourcePath? {
        if let path = parsed(url, withKeySegments) { return path }
        let authority = url.firstRange(of: "://")?.upperBound
        guard authority != nil || url.hasPrefix("/") else { return nil }
        var rest = url[(authority ?? url.startIndex)...]
        while let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) {
            rest = rest[rest.utf8.index(after: slash)...]
            if isRoot(rest.prefix { $0 != "(" && $0 != "/" && $0 != "?" && $0 != "#" }),
                let path = parsed(String(rest), withKeySegments)
            {
                return path
            }
        }
        return nil
    }

    /// Returns the path of a URL relative to the service root. Services of 4.0 may also write keys as segments, which
    /// only 4.01 defines (OData 4.01 Part 2, section 4.3.5).
    private func parsed(_ url: String, _ withKeySegments: Bool) -> ResourcePath? {
        let isLegacy = model.version.isLegacy
        let versions: [ODataVersion] = isLegacy ? [model.version] : withKeySegments ? [.v4, .v401] : [.v4]
        return versions.lazy.compactMap { version in
            try? ServiceRequest.parse(url, serviceRoot: root, model: model, version: version).path
        }.first
    }

    /// Returns whether a path may begin with the segment: an entity set or singleton, possibly of another container
    /// than the default one.
    private func isRoot(_ segment: Substring) -> Bool {
        if let set = model.findEntitySet(String(segment)) { return !set.isContained }
        return segment.contains(".") && (model.entitySets + model.singletons).contains { $0.segment == segment }
    }

    /// Returns the set that a path leads into, and the key at its end. Nil if it is unknown.
    private func end(of path: ResourcePath) -> (set: EntitySet, key: KeySelector?)? {
        var end: (set: EntitySet, key: KeySelector?)?
        for segment in path.segments {
            switch segment {
            case .entitySet(let set) where end == nil: end = (set, nil)
            case .key(let key): end?.key = key
            case .navigation(let property):
                guard let set = end?.set, let target = model.target(of: property, in: set) else { return nil }
                end = (target, nil)
            case .type: continue
            default: return nil
            }
        }
        return end
    }

    /// Returns the entity's URL relative to the service root.
    func url(of key: KeyPredicate, in set: EntitySet) -> String { encoder.url(of: .entity(set: set, key: key)) }

    /// Returns the key as it follows the name of a set or collection, `(1)`, or nil if a value is missing.
    func predicate(of type: EntityType, in values: PropertyValues) -> String? {
        KeyPredicate(of: type, in: values).map { encoder.predicate($0, of: type) }
    }

    /// Returns whether the URL is the one that follows from the key. A URL with the key as a segment is not, because
    /// the service may support no other form.
    func isConventional(_ url: String, _ set: EntitySet, _ key: KeyPredicate) -> Bool {
        if !set.isContained {
            let own = encoder.url(of: .entity(set: set, key: key))
            if url == own || url.hasSuffix("/" + own) { return true }
        }
        let path = path(in: url, withKeySegments: false)
        return self.key(at: path, of: set).map(KeyText.of) == KeyText.of(key)
    }

    /// Returns the URL with the origin of the service root if it begins with a slash.
    package func absolute(_ url: String) -> String {
        guard url.hasPrefix("/"), !url.hasPrefix("//") else { return url }
        return origin + url
    }

    /// Returns whether the URL has the origin of the service root.
    package func isOfOrigin(_ url: String) -> Bool {
        Self.isAddress(url) || (!origin.isEmpty && url.hasPrefix(origin + "/"))
    }

    /// The scheme, host and port of the service root.
    private var origin: String {
        guard let scheme = root.firstRange(of: "://") else { return "" }
        return String(root[..<(root[scheme.upperBound...].firstIndex(of: "/") ?? root.endIndex)])
    }

    /// Returns the URL relative to the service root if it is below it, so that the service can move.
    package func relative(_ url: String) -> String {
        !root.isEmpty && url.hasPrefix(root) ? String(url.dropFirst(root.count)) : url
    }

    /// Returns whether a request can be sent to the link: it is relative to the service root, and not a name such as
    /// `urn:…`.
    package static func isAddress(_ link: String) -> Bool {
        let scheme = link.prefix { $0 != ":" && $0 != "/" && $0 != "(" && $0 != "?" }
        return scheme.endIndex == link.endIndex || link[scheme.endIndex] != ":"
    }
}
