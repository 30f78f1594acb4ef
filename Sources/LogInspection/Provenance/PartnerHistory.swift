import EDM
import Operations
import SyncCore

/// The past and present partners of entities: those that records link to them, and those that referential constraints
/// determine by values.
struct PartnerHistory {
    private let centre: Set<EntityID>
    private let models: MetadataHistory
    private(set) var entities: Set<EntityID> = []

    /// A value by which an entity of a set would be linked.
    struct Name: Hashable {
        let set: String
        let property: String
        let value: Value
    }

    private(set) var named: Set<Name> = []
    private var sets: [EntityID: String] = [:]

    init(of centre: Set<EntityID>, _ models: MetadataHistory) {
        self.centre = centre
        self.models = models
    }

    /// Adds the partners in a record that refers to a central entity.
    mutating func add(_ body: Record.Body) {
        switch body {
        case .operation(let operation): entities.formUnion(operation.touchedEntities)
        case .operationsAmended(let amended):
            for amended in amended { entities.formUnion(amended.content.touchedEntities) }
        case .downloadPage(let page):
            add(page.entities)
            for link in page.links {
                guard let target = link.target, centre.contains(link.source) || centre.contains(target) else {
                    continue
                }
                entities.formUnion([link.source, target])
            }
        case .entitiesRead(let images): add(images)
        case .batchAnswered(let answered):
            for outcome in answered.outcomes { if case .confirmed(let images) = outcome.result { add(images) } }
        default: break
        }
        body.forEachValues { id, set, values in addNames(id, set, values) }
        entities.subtract(centre)
    }

    mutating func add(_ state: CompactedState) {
        entities.formUnion(state.partners(of: centre))
        for row in state.rows where centre.contains(row.id) { addNames(row.id, row.set, row.values) }
        entities.subtract(centre)
    }

    private mutating func add(_ images: [EntityImage]) {
        for image in images {
            let targets = image.links.flatMap(\.targets)
            if centre.contains(image.entity) {
                entities.formUnion(targets)
            } else if targets.contains(where: centre.contains) {
                entities.insert(image.entity)
            }
        }
    }

    private mutating func addNames(_ id: EntityID, _ set: String?, _ values: PropertyValues) {
        guard centre.contains(id) else { return }
        if let set { sets[id] = set }
        guard let set = set ?? sets[id] else { return }
        let (dependent, principal) = models.constraints(of: set)
        for constraint in dependent {
            for pair in constraint.pairs {
                guard let value = values[pair.dependent], value != .null else { continue }
                named.insert(Name(set: constraint.principalSet, property: pair.principal, value: value))
            }
        }
        for constraint in principal {
            for pair in constraint.pairs {
                guard let value = values[pair.principal], value != .null else { continue }
                named.insert(Name(set: constraint.dependentSet, property: pair.dependent, value: value))
            }
        }
    }

    /// Adds the entities that match one of the values.
    mutating func addMatches(in body: Record.Body) {
        body.forEachValues { id, set, values in match(id, set, values) }
    }

    mutating func addMatches(in state: CompactedState) {
        for row in state.rows { match(row.id, row.set, row.values) }
    }

    private mutating func match(_ id: EntityID, _ set: String?, _ values: PropertyValues) {
        guard !centre.contains(id), !entities.contains(id) else { return }
        let isNamed = named.contains { name in
            (set == nil || set == name.set) && values[name.property] == name.value
        }
        if isNamed { entities.insert(id) }
    }
}
