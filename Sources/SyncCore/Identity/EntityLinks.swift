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

    /// The key in an entity's URL. A service behind a gateway may know itself by another root than we do, so that the end of
    /// the URL is all that counts.
    func key(in url: String, of set: EntitySet) -> KeyPredicate? {
        if let key = try? key(
            of: ServiceRequest.parse(url, serviceRoot: root, model: model, version: model.version), set)
        {
            return key
        }
        guard let start = Self.lastRange(of: "/\(set.root.segment)" + (set.root.isSingleton ? "/" : "("), in: url)
        else {
            return nil
        }
        return try? key(of: ServiceRequest.parse(String(url[start...]), model: model, version: model.version), set)
    }

    /// The set of the one entity that a URL names by a key; nil if it names none, or not in this way.
    ///
    /// - Parameter expected: the set that most such URLs name. These are not parsed.
    func set(in url: String, expected: EntitySet?) -> EntitySet? {
        if let expected, relative(url).hasPrefix(expected.segment + "(") { return expected }
        guard let request = try? ServiceRequest.parse(url, serviceRoot: root, model: model, version: model.version)
        else { return nil }
        var segments = request.path.segments[...]
        if case .type? = segments.last { segments.removeLast() }
        guard segments.count == 2, case .entitySet(let set)? = segments.first, case .key? = segments.last else {
            return nil
        }
        return set
    }

    /// The path of an entity or collection in a URL or the fragment of a context URL, through the entities that contain it.
    func containmentPath(in url: String) -> ContainmentPath? {
        if let request = try? ServiceRequest.parse(url, serviceRoot: root, model: model, version: model.version) {
            return ContainmentPath(request.path, model)
        }
        for set in model.entitySets + model.singletons {
            guard let start = Self.lastRange(of: "/\(set.segment)" + (set.isSingleton ? "/" : "("), in: url) else {
                continue
            }
            let rest = try? ServiceRequest.parse(String(url[start...]), model: model, version: model.version)
            if let path = rest.flatMap({ ContainmentPath($0.path, model) }) { return path }
        }
        return nil
    }

    private func key(of request: ServiceRequest, _ set: EntitySet) -> KeyPredicate? {
        if set.isContained {
            guard let path = ContainmentPath(request.path, model), path.set == set,
                case .key(let predicate)? = path.steps.last?.key
            else { return nil }
            return predicate
        }
        var segments = request.path.segments[...]
        if case .type? = segments.last { segments.removeLast() }
        guard segments.count == 2, case .entitySet(let named)? = segments.first, named.name == set.name,
            case .key(.key(let predicate))? = segments.last, predicate.isPrimary(of: set.entityType)
        else { return nil }
        return predicate
    }

    private static func lastRange(of text: String, in url: String) -> String.Index? {
        url.indices.last { url[$0...].hasPrefix(text) }
    }

    /// The entity's URL below the service root.
    func url(of key: KeyPredicate, in set: EntitySet) -> String { encoder.url(of: .entity(set: set, key: key)) }

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
