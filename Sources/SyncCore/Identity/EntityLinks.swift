import EDM
import ODataWire

/// What the URLs say that a service names its entities by.
struct EntityLinks {
    private let model: EntityDataModel
    private let root: String
    private let encoder: RequestEncoder

    init(model: EntityDataModel, serviceRoot: String) {
        self.model = model
        root = serviceRoot
        encoder = RequestEncoder(version: model.version, model: model, serviceRoot: serviceRoot)
    }

    /// The key in the URL of an entity of `set`. Nil if the URL names an entity of another set, or none by its key.
    func key(in url: String, of set: EntitySet) -> KeyPredicate? {
        guard let path = path(in: url), let end = end(of: path), end.set == set, case .key(let key)? = end.key,
            key.isPrimary(of: set.entityType)
        else { return nil }
        return key
    }

    /// The set of the one entity that a URL names by a key, or as the one that another entity contains. Nil if it names
    /// none, or not in this way.
    ///
    /// - Parameter expected: the set that most such URLs name. These are not parsed.
    func set(in url: String, expected: EntitySet?) -> EntitySet? {
        if let expected, Self.isPlainly(relative(url), of: expected) { return expected }
        guard let path = path(in: url), let end = end(of: path) else { return nil }
        return end.key != nil || end.set.isContainedSingle ? end.set : nil
    }

    /// Whether the URL is the name of the set and a key without a slash.
    private static func isPlainly(_ url: String, of set: EntitySet) -> Bool {
        !set.isContained && url.hasPrefix(set.segment + "(") && !url.utf8.contains(UInt8(ascii: "/"))
    }

    /// The path of an entity or collection in a URL or the fragment of a context URL, through the entities that contain it.
    func containmentPath(in url: String) -> ContainmentPath? { path(in: url).flatMap { ContainmentPath($0, model) } }

    /// The path that a URL has below the service's root.
    ///
    /// A service behind a gateway may know itself by another root. Its path then begins at the first segment from which on
    /// all can be read: `Orders(1)/Items(2)` names an item of an order, and not one of the set `Items`.
    private func path(in url: String) -> ResourcePath? {
        if let path = parsed(url) { return path }
        let authority = url.firstRange(of: "://")?.upperBound
        guard authority != nil || url.hasPrefix("/") else { return nil }
        var rest = url[(authority ?? url.startIndex)...]
        while let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) {
            rest = rest[rest.utf8.index(after: slash)...]
            if isRoot(rest.prefix { $0 != "(" && $0 != "/" && $0 != "?" && $0 != "#" }), let path = parsed(String(rest))
            {
                return path
            }
        }
        return nil
    }

    private func parsed(_ url: String) -> ResourcePath? {
        try? ServiceRequest.parse(url, serviceRoot: root, model: model, version: model.version).path
    }

    /// Whether a path may begin so: with an entity set or singleton, or one of another container than the default one.
    private func isRoot(_ segment: Substring) -> Bool {
        if let set = model.findEntitySet(String(segment)) { return !set.isContained }
        return segment.contains(".") && (model.entitySets + model.singletons).contains { $0.segment == segment }
    }

    /// The set that a path leads into, and the key at its end. Nil if that is not known.
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

    /// The entity's URL below the service root.
    func url(of key: KeyPredicate, in set: EntitySet) -> String { encoder.url(of: .entity(set: set, key: key)) }

    /// The key as it stands behind the name of a set or collection, `(1)`; nil if a value of it is missing.
    func predicate(of type: EntityType, in values: PropertyValues) -> String? {
        KeyPredicate(of: type, in: values).map { encoder.predicate($0, of: type) }
    }

    /// Whether the URL is what follows from the key anyway.
    func isConventional(_ url: String, _ set: EntitySet, _ key: KeyPredicate) -> Bool {
        if set.isContained { return self.key(in: url, of: set) == key }
        let own = encoder.url(of: .entity(set: set, key: key))
        return url == own || url.hasSuffix("/" + own) || self.key(in: url, of: set) == key
    }

    /// With the origin of the service's root, where the URL is a path from there.
    func absolute(_ url: String) -> String {
        guard url.hasPrefix("/"), !url.hasPrefix("//") else { return url }
        return origin + url
    }

    /// Whether the URL leads to the origin of the service's root.
    func isOfOrigin(_ url: String) -> Bool { Self.isAddress(url) || (!origin.isEmpty && url.hasPrefix(origin + "/")) }

    /// Of the service's root: scheme, host and port.
    private var origin: String {
        guard let scheme = root.firstRange(of: "://") else { return "" }
        return String(root[..<(root[scheme.upperBound...].firstIndex(of: "/") ?? root.endIndex)])
    }

    /// Below the service's root the rest only, so that a service can move.
    func relative(_ url: String) -> String {
        !root.isEmpty && url.hasPrefix(root) ? String(url.dropFirst(root.count)) : url
    }

    /// Whether a request can go to the link: it is below the service's root, and no mere name as `urn:…` is.
    static func isAddress(_ link: String) -> Bool {
        let scheme = link.prefix { $0 != ":" && $0 != "/" && $0 != "(" && $0 != "?" }
        return scheme.endIndex == link.endIndex || link[scheme.endIndex] != ":"
    }
}
