import Operations

/// The entity set of each entity according to the records read so far. Summaries can show `Customers(~3)` without a
/// query of the views.
struct EntitySets {
    private var names: [String] = []
    private var indexes: [String: UInt32] = [:]
    private var sets: [EntityID: UInt32] = [:]

    mutating func add(from body: Record.Body) {
        switch body {
        case .operation(let operation):
            if case .create(let creation, _) = operation.action { add(creation) }
        case .downloadPage(let page): add(page.entities)
        case .entitiesRead(let images): add(images)
        case .batchAnswered(let answered):
            for outcome in answered.outcomes {
                if case .confirmed(let images) = outcome.result { add(images) }
            }
        default: break
        }
    }

    /// Returns a text such as `Customers(~3)`, or `~3` if the set is unknown because its record cannot be read.
    func reference(_ id: EntityID) -> String {
        guard let index = sets[id] else { return "\(id)" }
        return "\(names[Int(index)])(\(id))"
    }

    /// Returns the set, or nil if it is unknown.
    func set(of id: EntityID) -> String? { sets[id].map { names[Int($0)] } }

    private mutating func add(_ creation: Creation) {
        add(creation.entity, creation.set)
        for inline in creation.inline { for child in inline.entities { add(child) } }
    }

    private mutating func add(_ images: [EntityImage]) {
        for image in images { add(image.entity, image.set) }
    }

    mutating func add(_ id: EntityID, _ set: String) {
        if let index = indexes[set] {
            sets[id] = index
        } else {
            let index = UInt32(truncatingIfNeeded: names.count)
            names.append(set)
            indexes[set] = index
            sets[id] = index
        }
    }
}
