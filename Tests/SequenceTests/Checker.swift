import EDM
import Operations
import SyncCore

/// Checks the invariants that a state must satisfy between change sets. Uses the navigation properties of the model,
/// but no code of the rules that refuse operations.
struct Checker {
    let session: PureSession
    private var state: WorkingSet { session.state }
    private var model: EntityDataModel { session.model }

    /// Returns a sentence for each violation.
    func violations() throws -> [String] {
        var found: [String] = []
        var rows: [EntityID: EntityRow] = [:]
        try state.forEachRow { rows[$0.id] = $0 }
        for row in rows.values {
            guard let type = model.findEntityType(row.type) else { continue }
            for property in type.navigationProperties {
                guard let end = property.navigation else { continue }
                try look(row, property, end, rows, &found)
            }
        }
        try state.forEachLink { link in
            if link.inLocal, rows[link.first] == nil || rows[link.second] == nil {
                found.append("\(link.relationship) links \(link.first) and \(link.second), one of which is not there.")
            }
            if !link.inLocal, !link.inBase { found.append("\(link.relationship): a link that is in neither state.") }
            if try state.pendingOperations().isEmpty, link.inLocal != link.inBase {
                found.append("\(link.relationship): nothing is pending and base and local differ.")
            }
        }
        return found.sorted()
    }

    private func look(
        _ row: EntityRow, _ property: Property, _ end: Navigation, _ rows: [EntityID: EntityRow],
        _ found: inout [String]
    ) throws {
        let targets = try state.targets(of: row.id, along: end)
        let place = "\(row.set)(\(row.id))/\(property.name)"
        if end.multiplicity != .many, targets.count > 1 { found.append("\(place) leads to \(targets).") }
        if end.multiplicity == .one, targets.isEmpty, !namesAnAbsentOne(row, end) { found.append("\(place) is empty.") }
        for target in targets {
            guard let other = rows[target] else { continue }
            if !model.isType(other.type, derivedFrom: end.targetType) {
                found.append("\(place) leads to a \(other.type).")
            }
            if let name = end.partner, let back = model.findEntityType(other.type)?.findProperty(name)?.navigation,
                try !state.targets(of: target, along: back).contains(row.id)
            {
                found.append("\(place) leads to \(target), whose \(name) does not lead back.")
            }
            for pair in end.constraints {
                let dependent = row.values[pair.dependent] ?? .null
                let principal = other.values[pair.principal] ?? .null
                if dependent != principal {
                    found.append("\(place): \(pair.dependent) is \(dependent), but \(target) has \(principal).")
                }
            }
        }
        if targets.isEmpty, !end.constraints.isEmpty, let named = named(row, end),
            let principal = rows.values.first(where: { $0.type == end.targetType && matches($0, named) })
        {
            found.append("\(place) is empty, but the dependent properties name \(principal.id).")
        }
    }

    private func named(_ row: EntityRow, _ end: Navigation) -> [(String, Value)]? {
        var values: [(String, Value)] = []
        for pair in end.constraints {
            guard let value = row.values[pair.dependent], value != .null else { return nil }
            values.append((pair.principal, value))
        }
        return values.isEmpty ? nil : values
    }

    private func matches(_ row: EntityRow, _ values: [(String, Value)]) -> Bool {
        values.allSatisfy { row.values[$0.0] == $0.1 }
    }

    /// Whether the row refers to a partner that was never downloaded, by its dependent properties.
    private func namesAnAbsentOne(_ row: EntityRow, _ end: Navigation) -> Bool { named(row, end) != nil }
}
