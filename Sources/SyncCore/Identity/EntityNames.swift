public import EDM
public import ODataWire
public import Operations

/// Which entity a name means, and by which link an entity is handed out. A name that was handed out once leads to its
/// entity for good; only a key that belongs to another entity by now leads there.
public struct EntityNames<Storage: StateReader> {
    private let storage: Storage
    private let model: EntityDataModel
    private let root: String

    /// - Parameter serviceRoot: with a slash at its end; empty where no service is known.
    public init(storage: Storage, model: EntityDataModel, serviceRoot: String) {
        self.storage = storage
        self.model = model
        root = serviceRoot
    }

    /// The entity that has the key, or else the one that had it last.
    public func entity(set: String, key: KeyPredicate) throws(StateError) -> EntityID? {
        let values = key.located(in: model.findEntitySet(set)?.entityType)
        if let id = try storage.findRows(set: set, where: values).first { return id }
        return try storage.entity(set: set, key: KeyText.of(key))
    }

    /// The entity that a path leads to, through those that contain it; nil where it leads to several or to none.
    public func entity(at path: ContainmentPath) throws(StateError) -> EntityID? {
        let found = try path.entity { set, key, parent throws(StateError) in
            if set.isContained {
                guard let parent else { return nil }
                return try storage.entity(of: set, key: key, in: parent)
            }
            guard let key else { return try storage.rows(set: set.name).first }
            return try entity(set: set.name, key: key)
        }
        guard let found, try storage.set(of: found) == path.set.name else { return nil }
        return found
    }

    /// The entity that the service names by a URL or URI that does not follow from its key.
    public func entity(named url: String) throws(StateError) -> EntityID? {
        try storage.entity(
            set: Self.namesSet, key: EntityLinks(model: model, serviceRoot: root).relative(url))
    }

    /// The key map keeps names beside keys, under a set that no service has.
    static var namesSet: String { "" }

    /// The service's own link for changes, where there is one, or the readLink.
    ///
    /// - Parameter readLink: where it is known already.
    public func editLink(_ row: EntityRow, readLink known: String? = nil) -> String {
        row.editLink.flatMap { EntityLinks.isAddress($0) ? $0 : nil } ?? known ?? readLink(row)
    }

    /// With the real key as soon as the service has confirmed it, with the entity ID before.
    public func readLink(_ row: EntityRow) -> String {
        if let set = model.findEntitySet(row.set), set.isContained {
            return containedLink(row, set) ?? "\(row.set)(\(row.id))"
        }
        guard row.origin != .local, let set = model.findEntitySet(row.set), let type = model.findEntityType(row.type)
        else {
            return "\(row.set)(\(row.id))"
        }
        if set.isSingleton { return set.segment }
        if let form = Self.plainForm(set, type), case .integer(let key)? = row.values[form.key] {
            return form.link(key)
        }
        guard let key = KeyPredicate(of: type, in: row.values) else { return "\(row.set)(\(row.id))" }
        return RequestEncoder(version: model.version, model: model, serviceRoot: root).url(
            of: .entity(set: set, key: key))
    }

    /// `People('ann')/Trips(0)`; nil where nothing contains the entity any more.
    private func containedLink(_ row: EntityRow, _ set: EntitySet) -> String? {
        let encoder = RequestEncoder(version: model.version, model: model, serviceRoot: root)
        var link = ""
        var (row, set) = (row, set)
        for _ in 0..<EntityResolver<Storage>.deepestContainment {
            guard let containment = set.containment else { return readLink(row) + link }
            var step = "/" + (containment.cast.map { $0 + "/" } ?? "") + containment.navigation.name
            if containment.navigation.isCollection {
                let type = model.findEntityType(row.type)
                if row.origin != .local, let key = type.flatMap({ KeyPredicate(of: $0, in: row.values) }) {
                    step += encoder.predicate(key, of: set.entityType)
                } else {
                    step += "(\(row.id))"
                }
            }
            link = step + link
            guard let found = try? storage.container(of: row.id, in: set), let parent = try? storage.row(found),
                let parentSet = model.findEntitySet(parent.set)
            else { return nil }
            (row, set) = (parent, parentSet)
        }
        return nil
    }

    /// How the entities of a set and type are named where their key is one small whole number; nil for others.
    public func plainForm(set: String, type: String) -> PlainLinkForm? {
        guard let set = model.findEntitySet(set), !set.isSingleton, !set.isContained,
            let type = model.findEntityType(type)
        else {
            return nil
        }
        return Self.plainForm(set, type)
    }

    private static func plainForm(_ set: EntitySet, _ type: EntityType) -> PlainLinkForm? {
        guard set.segment == set.name, type.keyParts.count == 1, !type.keyParts[0].isNested,
            case .primitive(let primitive) = type.keyParts[0].type.kind
        else { return nil }
        switch primitive {
        case .int32, .int16, .byte, .sbyte: break
        default: return nil
        }
        guard
            set.name.utf8.allSatisfy({ (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x5F })
        else { return nil }
        return PlainLinkForm(set: set.name, key: type.keyParts[0].path)
    }
}

/// `Orders(5)`, for a key that is one small whole number, which all versions write alike: what the encoder makes of it, in a
/// tenth of the time.
public struct PlainLinkForm: Sendable {
    /// The property that is the key.
    public let key: String
    private let prefix: [UInt8]

    init(set: String, key: String) {
        self.key = key
        prefix = Array("\(set)(".utf8)
    }

    public func link(_ number: Int64) -> String {
        let isNegative = number < 0
        var digits = 1
        var rest = number.magnitude
        while rest >= 10 { (rest, digits) = (rest / 10, digits + 1) }
        // Exactly as long: short strings take no memory of their own.
        let count = prefix.count + (isNegative ? 1 : 0) + digits + 1
        return String(unsafeUninitializedCapacity: count) { bytes in
            _ = bytes.update(fromContentsOf: prefix)
            if isNegative { bytes[prefix.count] = UInt8(ascii: "-") }
            bytes[count - 1] = UInt8(ascii: ")")
            var rest = number.magnitude
            for place in 2..<(digits + 2) {
                bytes[count - place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            return count
        }
    }
}
