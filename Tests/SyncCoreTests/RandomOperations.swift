import EDM
import Operations
import SeededRandom
import SyncCore

/// Random operations of an app, legal and illegal.
struct RandomOperations {
    static let sets = [
        "Customers", "Orders", "Owners", "Cars", "Cities", "Mayors", "Fathers", "Children", "Persons", "IDCards",
        "Suppliers", "Products",
    ]

    var random: SeededRandom
    let model: EntityDataModel
    /// Returns the entities of a set.
    let rows: (String) -> [EntityID]
    let set: (EntityID) -> String?

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    /// Returns one action, or several for a change set. `next` is the first free entity ID.
    mutating func actions(next: EntityID) -> [Operation.Action] {
        var free = next
        let count = chance(25) ? Int.random(in: 2...4, using: &random) : 1
        var new: [(EntityID, String)] = []
        return (0..<count).compactMap { _ in action(&free, &new) }
    }

    private mutating func action(_ free: inout EntityID, _ new: inout [(EntityID, String)]) -> Operation.Action? {
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3:
            let set = Self.sets.randomElement(using: &random)!
            let creation = creation(set, &free, &new, depth: 0)
            return .create(creation, parent: nil)
        case 4, 5:
            guard let (id, type) = entity(new) else { return nil }
            return .update(id, changes: changes(type), bindings: chance(30) ? bindings(type, new) : [])
        case 6: return entity(new).map { .delete($0.0) }
        default:
            guard let (from, type) = entity(new),
                let navigation = type.navigationProperties.randomElement(using: &random),
                let to = target(of: navigation, new)
            else { return nil }
            let link = Link(from: from, navigation: navigation.name, to: to)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return .deleteLink(link)
            case 1 where !navigation.isCollection: return .updateLink(link)
            default: return .createLink(link)
            }
        }
    }

    private mutating func creation(
        _ set: String, _ free: inout EntityID, _ new: inout [(EntityID, String)], depth: Int
    ) -> Creation {
        let type = model.findEntitySet(set)!.entityType
        let id = free
        free = EntityID(rawValue: free.rawValue + 1)
        var creation = Creation(entity: id, set: set, type: type.name, values: changes(type))
        if chance(10) {
            creation.values[type.keyProperties[0].name] = .integer(Int64.random(in: 1...60, using: &random))
        }
        for navigation in type.navigationProperties {
            let isMandatory = navigation.navigation?.multiplicity == .one
            if depth < 2, chance(isMandatory ? 30 : 10),
                let target = model.target(of: navigation, in: model.findEntitySet(set)!)
            {
                let count = navigation.isCollection ? 2 : 1
                let children = (0..<count).map { _ in self.creation(target.name, &free, &new, depth: depth + 1) }
                creation.inline.append(.init(navigation: navigation.name, entities: children))
            } else if chance(isMandatory ? 90 : 40), let to = target(of: navigation, new) {
                creation.bindings.append(Binding(navigation: navigation.name, targets: [to]))
            }
        }
        new.append((id, set))
        return creation
    }

    private mutating func changes(_ type: EntityType) -> PropertyValues {
        var values: PropertyValues = [:]
        for property in type.properties
        where !property.isNavigation && type.keyProperties.allSatisfy({ $0.name != property.name }) {
            guard chance(40) else { continue }
            switch property.type.primitive {
            case .string:
                values[property.name] = chance(20) ? .null : .string("\(Int.random(in: 0...9, using: &random))")
            case .int32: values[property.name] = chance(30) ? .null : .integer(Int64.random(in: 1...60, using: &random))
            default: break
            }
        }
        return values
    }

    private mutating func bindings(_ type: EntityType, _ new: [(EntityID, String)]) -> [Binding] {
        guard let navigation = type.navigationProperties.randomElement(using: &random),
            let to = target(of: navigation, new)
        else { return [] }
        return [Binding(navigation: navigation.name, targets: [to])]
    }

    private mutating func entity(_ new: [(EntityID, String)]) -> (EntityID, EntityType)? {
        if chance(30), let (id, set) = new.randomElement(using: &random) {
            return (id, model.findEntitySet(set)!.entityType)
        }
        let set = Self.sets.randomElement(using: &random)!
        return rows(set).randomElement(using: &random).map { ($0, model.findEntitySet(set)!.entityType) }
    }

    private mutating func target(of navigation: Property, _ new: [(EntityID, String)]) -> EntityID? {
        guard let type = navigation.navigation?.targetType else { return nil }
        let set = Self.sets.first { model.findEntitySet($0)!.entityType.name == type }!
        let fresh = new.filter { $0.1 == set }
        if chance(40), let found = fresh.randomElement(using: &random) { return found.0 }
        return rows(set).randomElement(using: &random)
    }
}
