package import EDM
package import ODataQuery
import ODataWire
package import Operations

/// The mapping between entities and the links by which apps refer to them. A link leads to its entity permanently,
/// unless its key belongs to another entity now.
package struct EntityNames<Storage: StateReader> {
    private let storage: Storage
    private let model: EntityDataModel
    private let root: String

    /// Creates the mapping.
    ///
    /// - Parameter serviceRoot: The service root with a trailing slash, or an empty string if no service is known.
    package init(storage: Storage, model: EntityDataModel, serviceRoot: String) {
        self.storage = storage
        self.model = model
        root = serviceRoot
    }

    /// Returns the entity that has the key now, or else the last one that had it.
    package func entity(set: String, key: KeyPredicate) throws(StateError) -> EntityID? {
        let type = model.findEntitySet(set)?.entityType
        if let id = try storage.findRows(set: set, where: key.located(in: type)).first { return id }
        return try storage.entity(set: set, key: KeyText.of(key.declared(in: type)))
    }

    /// Returns the entity at the end of a path through its containers, or nil if the path leads to several or to none.
    package func entity(at path: ContainmentPath) throws(StateError) -> EntityID? {
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

    /// Returns the entity that the service names by a URL or URI that does not follow from its key.
    package func entity(named url: String) throws(StateError) -> EntityID? {
        try storage.entity(
            set: Self.namesSet, key: EntityLinks(model: model, serviceRoot: root).relative(url))
    }

    /// The set under which the key map stores such names. No service has a set with an empty name.
    static var namesSet: String { "" }

    /// Returns the service's own edit link if there is one, otherwise the readLink.
    ///
    /// - Parameter readLink: The readLink if the caller already has it.
    package func editLink(_ row: EntityRow, readLink known: String? = nil) -> String {
        row.editLink.flatMap { EntityLinks.isAddress($0) ? $0 : nil } ?? known ?? readLink(row)
    }

    /// Returns the readLink: with the real key after the service has confirmed it, and with the entity ID before.
    package func readLink(_ row: EntityRow) -> String {
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

    /// Returns a link such as `People('ann')/Trips(0)`, or nil if the entity no longer has a container.
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

    /// Returns the form of the links of a set and type whose key is a single small integer, or nil for any other key.
    package func plainForm(set: String, type: String) -> PlainLinkForm? {
        guard let set = model.findEntitySet(set), !set.isSingleton, !set.isContained,
            let type = model.findEntityType(type)
        else {
            return nil
        }
        return Self.plainForm(set, type)
    }

    /// Returns the form of the links of entities that the service does not have, whose number is the entity ID. Nil for
    /// contained entities.
    package func localForm(set: String) -> PlainLinkForm? {
        model.findEntitySet(set)?.isContained == true ? nil : PlainLinkForm(localIn: set)
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

/// A link such as `Orders(5)` for a key that is a single small integer, which all versions write in the same way. It
/// equals the encoder's result in a tenth of the time.
package final class PlainLinkForm: Sendable {
    /// The key property; empty if the number is the entity ID.
    package let key: String
    private let prefix: [UInt8]

    init(set: String, key: String) {
        self.key = key
        prefix = Array("\(set)(".utf8)
    }

    /// Creates the form of links such as `Orders(~5)`, which contain the description of an entity ID.
    package init(localIn set: String) {
        key = ""
        prefix = Array("\(set)(~".utf8)
    }

    package func link(_ number: Int64) -> String {
        let isNegative = number < 0
        var digits = 1
        var rest = number.magnitude
        while rest >= 10 { (rest, digits) = (rest / 10, digits + 1) }
        // The exact length, because short strings need no allocation.
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
