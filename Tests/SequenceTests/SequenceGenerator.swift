import EDM
import ODataQuery
import ODataWire
import Operations
import SeededRandom
import SyncCore

/// Random operations of an app, legal and illegal. All choices are made among entities by their IDs, so that a V2 and a
/// V4 store in the same state get the same operations.
struct SequenceGenerator {
    var random: SeededRandom
    let sets: [String]
    /// Makes texts and natural keys unique.
    private var count = 0

    init(random: SeededRandom, sets: [String]) {
        self.random = random
        self.sets = sets
    }

    private struct Draft {
        let session: PureSession
        var next: EntityID
        var new: [(id: EntityID, set: String)] = []

        func set(_ name: String) -> EntitySet { session.model.findEntitySet(name)! }

        /// Returns the entities of the set, including those that the same change set creates.
        func entities(_ set: String) throws -> [EntityID] {
            try session.state.rows(set: set) + new.filter { $0.set == set }.map(\.id)
        }
    }

    /// Returns one action, or several for a change set.
    mutating func actions(_ session: PureSession) throws -> [Operation.Action] {
        var draft = try Draft(session: session, next: session.state.header().nextEntity)
        let size = random.chance(25) ? random.number(2...4) : 1
        return try (0..<size).compactMap { _ in try action(&draft) }
    }

    private mutating func action(_ draft: inout Draft) throws -> Operation.Action? {
        let set = random.pick(sets)!
        let type = draft.set(set).entityType
        switch random.number(0...11) {
        case 0...2: return try .create(creation(set, &draft, depth: 0), parent: nil)
        case 3:
            guard let navigation = random.pick(type.navigationProperties), let owner = try entity(set, draft),
                let target = draft.session.model.target(of: navigation, in: draft.set(set))
            else { return nil }
            return .create(
                try creation(target.name, &draft, depth: 1, through: navigation),
                parent: Parent(entity: owner, navigation: navigation.name))
        case 4, 5:
            guard let id = try entity(set, draft) else { return nil }
            let bindings = try random.chance(35) ? self.bindings(set, draft) : []
            return try .update(id, changes: values(set, draft, share: 35, isNew: false), bindings: bindings)
        case 6: return try entity(set, draft).map { .delete($0) }
        default:
            guard let from = try entity(set, draft), let navigation = random.pick(type.navigationProperties),
                let to = try target(navigation, set, draft)
            else { return nil }
            let link = Link(from: from, navigation: navigation.name, to: to)
            switch random.number(0...3) {
            case 0:
                // Most pairs are not linked, so choose an existing link.
                let linked =
                    navigation.navigation.flatMap { try? draft.session.state.targets(of: from, along: $0) } ?? []
                return .deleteLink(Link(from: from, navigation: navigation.name, to: random.pick(linked) ?? to))
            // Some updates of links are on collections, which is illegal.
            case 1 where !navigation.isCollection || random.chance(10): return .updateLink(link)
            default: return .createLink(link)
            }
        }
    }

    /// Returns a request of another client, in V4.
    mutating func request(_ session: PureSession) throws -> WireRequest? {
        let name = random.pick(sets)!
        guard let set = session.model.findEntitySet(name) else { return nil }
        func url(_ set: EntitySet, _ id: EntityID?) throws -> String? {
            guard let id, let row = try session.state.row(id), row.origin != .local,
                let key = KeyPredicate(of: set.entityType, in: row.values)
            else { return nil }
            return RequestEncoder(version: .v4, model: session.model, serviceRoot: "/v4/").url(
                of: .entity(set: set, key: key))
        }
        let entity = try url(set, random.pick(session.state.rows(set: name)))
        let text = random.pick(set.entityType.properties.filter { $0.type.primitive == .string && !$0.isCollection })
        count += 1
        var (method, path, body) = ("PATCH", entity, "{}")
        switch random.number(0...4) {
        case 0: method = "DELETE"
        case 1: (method, path, body) = ("POST", name, text.map { "{\"\($0.name)\":\"f\(count)\"}" } ?? "{}")
        case 2, 3:
            guard let navigation = random.pick(set.entityType.navigationProperties),
                let target = session.model.target(of: navigation, in: set),
                let other = try url(target, random.pick(session.state.rows(set: target.name)))
            else { return nil }
            let value = navigation.isCollection ? "[\"\(other)\"]" : "\"\(other)\""
            body = "{\"\(navigation.name)@odata.bind\":\(value)}"
        default:
            guard let text, !set.entityType.keyProperties.contains(text) else { return nil }
            body = "{\"\(text.name)\":\"f\(count)\"}"
        }
        guard let path else { return nil }
        return WireRequest(
            method: method, url: "/v4/" + path, headers: ["If-Match": "*", "Content-Type": "application/json"],
            body: Array(body.utf8))
    }

    /// - Parameter through: The property through which the entity is created, which needs no other partner.
    private mutating func creation(
        _ set: String, _ draft: inout Draft, depth: Int, through: Property? = nil
    ) throws -> Creation {
        let type = draft.set(set).entityType
        let id = draft.next
        draft.next = EntityID(rawValue: id.rawValue + 1)
        var creation = Creation(
            entity: id, set: set, type: type.name, values: try values(set, draft, share: 50, isNew: true))
        for navigation in type.navigationProperties {
            let isBack = through?.navigation?.partner == navigation.name
            if isBack, !random.chance(5) { continue }
            let isMandatory = navigation.navigation?.multiplicity == .one
            guard let target = draft.session.model.target(of: navigation, in: draft.set(set)) else { continue }
            if depth < 2, random.chance(isMandatory ? 35 : 12) {
                let children = try (0..<(navigation.isCollection ? random.number(1...2) : 1)).map { _ in
                    try self.creation(target.name, &draft, depth: depth + 1, through: navigation)
                }
                creation.inline.append(.init(navigation: navigation.name, entities: children))
            } else if random.chance(isMandatory ? 90 : 35), let to = try self.target(navigation, set, draft) {
                creation.bindings.append(Binding(navigation: navigation.name, targets: [to]))
            }
        }
        draft.new.append((id, set))
        return creation
    }

    private mutating func values(_ set: String, _ draft: Draft, share: Int, isNew: Bool) throws -> PropertyValues {
        let type = draft.set(set).entityType
        let keys = type.keyProperties.map(\.name)
        var values: PropertyValues = [:]
        for property in type.properties {
            if keys.contains(property.name) {
                if let value = keyValue(property, set, isNew: isNew) { values[property.name] = value }
                continue
            }
            let dependent = type.navigationProperties.first {
                $0.navigation?.constraints.contains { $0.dependent == property.name } == true
            }
            // Only properties that both versions return, so that both draw the same random numbers.
            let isText = property.type.primitive == .string && !property.isCollection
            guard dependent != nil || isText || property.type.primitive == .int16 else { continue }
            guard random.chance(property.isNullable || !isNew ? share : 98) else { continue }
            if let dependent {
                values[property.name] = try dependentValue(dependent, set, draft)
            } else if property.type.primitive == .string {
                count += 1
                let isNull = random.chance(property.isNullable ? 15 : 2)
                // Some texts are too long for some properties.
                values[property.name] =
                    isNull ? .null : .string(random.chance(2) ? String(repeating: "x", count: 90) : "t\(count)")
            } else if property.type.primitive == .int16 {
                values[property.name] = random.chance(3) ? .string("7") : .integer(Int64(random.number(0...99)))
            }
        }
        return values
    }

    /// Returns a key for sets whose keys the client assigns. For other sets, some entities get a key, which the service
    /// replaces.
    private mutating func keyValue(_ property: Property, _ set: String, isNew: Bool) -> Value? {
        guard isNew || random.chance(3) else { return nil }
        switch (set, property.type.primitive) {
        case ("Visits", _): return .guid(GuidValue(high: 0xABCD, low: random.next() % 1_000_000_007))
        case ("Prices", .string): return .string(random.pick(["EUR", "CHF", "USD"])!)
        case ("Prices", _): return .integer(Int64(random.number(1...6)))
        default: return random.chance(8) ? .integer(Int64(random.number(1...40))) : nil
        }
    }

    /// Returns the key of an entity to which a dependent property may refer, or null; sometimes the key of no entity.
    private mutating func dependentValue(_ navigation: Property, _ set: String, _ draft: Draft) throws -> Value {
        if random.chance(25) { return .null }
        if random.chance(3) { return .integer(900) }
        guard let pair = navigation.navigation?.constraints.first,
            let target = draft.session.model.target(of: navigation, in: draft.set(set)),
            let id = try random.pick(draft.session.state.rows(set: target.name))
        else { return .null }
        return try draft.session.state.row(id)?.values[pair.principal] ?? .null
    }

    private mutating func bindings(_ set: String, _ draft: Draft) throws -> [Binding] {
        guard let navigation = random.pick(draft.set(set).entityType.navigationProperties),
            let to = try target(navigation, set, draft)
        else { return [] }
        return [Binding(navigation: navigation.name, targets: [to])]
    }

    private mutating func entity(_ set: String, _ draft: Draft) throws -> EntityID? {
        // An entity ID that was never assigned, or of a deleted entity.
        if random.chance(2) { return EntityID(rawValue: UInt64(random.number(1...400))) }
        let fresh = draft.new.filter { $0.set == set }.map(\.id)
        if random.chance(40), let id = random.pick(fresh) { return id }
        return try random.pick(draft.entities(set))
    }

    private mutating func target(_ navigation: Property, _ set: String, _ draft: Draft) throws -> EntityID? {
        guard let target = draft.session.model.target(of: navigation, in: draft.set(set)) else { return nil }
        // Sometimes an entity of the wrong type.
        return try entity(random.chance(3) ? set : target.name, draft)
    }
}

extension SeededRandom {
    mutating func chance(_ percent: Int) -> Bool { number(0...99) < percent }
}
