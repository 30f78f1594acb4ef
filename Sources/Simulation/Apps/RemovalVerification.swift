import EDM
import OfflineStore
import Operations

/// Verifies that entities of some sets, which the device has created and uploaded, are not in its store before a
/// download delivers them.
struct RemovalVerification {
    private let sets: Set<String>
    /// The creating operation of each entity.
    private var created: [EntityID: SequenceNumber] = [:]
    /// The operations that name an entity, except for the one that creates it.
    private var naming: [EntityID: Set<SequenceNumber>] = [:]
    private var confirmed: Set<SequenceNumber> = []
    private var delivered: Set<EntityID> = []
    /// The entities that the store has removed.
    private(set) var removed: Set<EntityID> = []

    init(_ sets: Set<String>, _ records: [(sequence: SequenceNumber, record: Record)]) {
        self.sets = sets
        for (sequence, record) in records {
            switch record.body {
            case .operation(let operation): apply(operation, sequence)
            case .downloadPage(let page):
                delivered.formUnion(page.entities.map(\.entity) + page.unchanged)
                removed.formUnion(page.left.filter { created[$0] != nil && !delivered.contains($0) })
            case .batchAnswered(let answered):
                for outcome in answered.outcomes {
                    if case .confirmed = outcome.result { confirmed.insert(outcome.operation) }
                }
            default: break
            }
        }
    }

    private mutating func apply(_ operation: Operation, _ sequence: SequenceNumber) {
        var own: Set<EntityID> = []
        if case .create(let creation, _) = operation.action {
            for new in creation.all {
                own.insert(new.entity)
                if sets.contains(new.set) { created[new.entity] = sequence }
            }
        }
        for entity in operation.touchedEntities where !own.contains(entity) {
            naming[entity, default: []].insert(sequence)
        }
    }

    /// Returns the entities of these that the store should have removed. An entity may stay if an operation names it
    /// that the service has not confirmed.
    func leftovers(among entities: [EntitySnapshot]) -> [EntityID] {
        entities.compactMap(\.entityID).filter { id in
            guard let creation = created[id], confirmed.contains(creation), !delivered.contains(id) else {
                return false
            }
            return naming[id, default: []].isSubset(of: confirmed)
        }
    }

    /// Returns the violations of a device as sentences.
    static func violations(_ sets: Set<String>, _ device: Device) async -> [String] {
        guard !sets.isEmpty else { return [] }
        do {
            let verification = RemovalVerification(sets, try device.allRecords())
            var violations: [String] = []
            for set in sets.sorted() {
                for id in verification.leftovers(among: try await device.store.query(set).entities) {
                    violations.append("d\(device.number) still has \(id) of \(set) after its upload.")
                }
            }
            return violations
        } catch {
            return device.hasCrashed ? [] : ["d\(device.number): the store cannot be read: \(error)"]
        }
    }
}
