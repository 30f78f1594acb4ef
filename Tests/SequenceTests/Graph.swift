import EDM
import Operations
import SyncCore

@testable import ODataSandbox

/// Entities and links as lines of text, for comparisons with readable differences.
enum Graph {
    /// Returns the content of the sandbox, without a request.
    static func ofService(_ session: PureSession, _ sets: [String]) -> [String] {
        let state = session.sandbox.state
        let master = session.sandbox.schema.model
        var lines: [String] = []
        for name in sets {
            guard let type = session.model.findEntitySet(name)?.entityType,
                let masterType = master.findEntitySet(name)?.entityType
            else { continue }
            for row in state.rows(of: name) {
                let key = KeyText.of(row.key)
                lines.append(
                    line(
                        name, key,
                        type.properties.compactMap { property in
                            row.values[property.name].map { (property.name, $0.converted(to: property.type)) }
                        }))
                for navigation in type.navigationProperties {
                    guard let end = masterType.findProperty(navigation.name)?.navigation else { continue }
                    for target in state.targets(of: row.id, through: end) {
                        guard let partner = state[target] else { continue }
                        lines.append(link(name, key, navigation.name, target.set, KeyText.of(partner.key)))
                    }
                }
            }
        }
        return lines.sorted()
    }

    /// Returns the content of the store, with entities by their keys.
    ///
    ///  - Parameter inBase: Whether to return the base state, without the pending operations.
    static func ofStore(_ session: PureSession, inBase: Bool) throws -> [String] {
        try ofStore(session, inBase: inBase, isReported: { _, _ in true }) { row, type in
            KeyText.of(row.values, type: type) ?? "?"
        }
    }

    /// Returns the content of the store, with entities by their IDs, without values that the service may assign
    /// differently each time.
    static func byID(_ session: PureSession) throws -> [String] {
        try ofStore(session, inBase: false) { name, value in
            switch value {
            case .string, .integer: !name.hasSuffix("ID")
            // Values that the versions represent differently or that the sequences never set.
            default: false
            }
        } name: { row, _ in
            row.id.description
        }
    }

    private static func ofStore(
        _ session: PureSession, inBase: Bool, isReported: (String, Value) -> Bool,
        name: (EntityRow, EntityType) -> String
    ) throws -> [String] {
        let state = session.state
        var lines: [String] = []
        var rows: [EntityRow] = []
        try state.forEachRow { rows.append($0) }
        if inBase {
            rows = try rows.compactMap { row in
                switch try state.base(row.id) {
                case .row(let base): base
                case .absent: nil
                case nil: row
                }
            }
            let shown = Set(rows.map(\.id))
            try state.forEachBase { id, base in
                if case .row(let row) = base, !shown.contains(id) { rows.append(row) }
            }
            // Rows that exist only because of a pending operation.
            rows.removeAll { $0.origin == .gone }
        }
        let names = Dictionary(
            rows.compactMap { row in
                session.model.findEntityType(row.type).map { (row.id, (row.set, name(row, $0))) }
            }, uniquingKeysWith: { a, _ in a })
        for row in rows {
            guard let type = session.model.findEntityType(row.type), let own = names[row.id] else { continue }
            lines.append(
                line(own.0, own.1, row.values.filter { isReported($0.name, $0.value) }.map { ($0.name, $0.value) }))
            for navigation in type.navigationProperties {
                guard let end = navigation.navigation else { continue }
                for link in try state.links(of: row.id, along: end) where inBase ? link.inBase : link.inLocal {
                    guard let target = names[link.target(along: end)] else { continue }
                    lines.append(self.link(own.0, own.1, navigation.name, target.0, target.1))
                }
            }
        }
        return lines.sorted()
    }

    private static func line(_ set: String, _ key: String, _ values: [(String, Value)]) -> String {
        let texts = values.filter { $0.1 != .null }.map { "\($0.0)=\(text($0.1))" }.sorted()
        return "\(set)(\(key)) " + texts.joined(separator: " ")
    }

    private static func link(_ set: String, _ key: String, _ name: String, _ other: String, _ otherKey: String)
        -> String
    { "\(set)(\(key)) \(name) → \(other)(\(otherKey))" }

    /// 1.5 and 1.50 are the same value, and so are a date and its midnight.
    private static func text(_ value: Value) -> String {
        switch value {
        case .string(let text): "'\(text)'"
        case .integer(let number): String(number)
        case .dateTime(let moment): String(describing: moment.date)
        case .date(let date): String(describing: date)
        default: String(describing: value)
        }
    }
}
