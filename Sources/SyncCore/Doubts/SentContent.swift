package import EDM
import ODataQuery
package import ODataWire
package import Operations

/// The content that was sent to create an entity, as far as it distinguishes the entity from similar entities.
package struct SentContent: Sendable, Hashable {
    private struct Item: Sendable, Hashable {
        let property: Property
        let value: Value
        let bits: Double
    }

    /// New entities of the same change set below a navigation property.
    private struct Level: Sendable, Hashable {
        let navigation: String
        let contents: [SentContent]
    }

    package let set: String
    /// The qualified name of the entity type.
    package let type: String
    private let items: [Item]
    private var levels: [Level] = []

    /// Creates the content of a creation.
    ///
    /// - Parameter frequency: Returns the number of known entities of the set with the value, and the number of all
    ///   known ones.
    package init(
        _ creation: Creation, _ type: EntityType,
        frequency: (Property, Value) throws(StateError) -> (same: Int, all: Int)
    ) throws(StateError) {
        set = creation.set
        self.type = type.name
        let keys = Swift.Set(type.keyProperties.map(\.name))
        var items: [Item] = []
        for (name, value) in creation.values {
            // A service that generates keys may replace the sent one.
            guard let property = type.findProperty(name), property.isCreatable, !keys.contains(name) else { continue }
            let counts = value == .null ? (0, 0) : try frequency(property, value)
            items.append(
                Item(
                    property: property, value: value,
                    bits: ValueInformation.bits(value, same: counts.0, all: counts.1)))
        }
        self.items = items
    }

    /// Adds the entities that the same change set creates below a navigation property.
    package mutating func add(_ contents: [SentContent], below navigation: String) {
        if !contents.isEmpty { levels.append(Level(navigation: navigation, contents: contents)) }
    }

    // MARK: Searching

    /// The navigation properties to expand for the linked entities.
    package var navigations: [String] { levels.map(\.navigation) }

    /// The weight of the values in bits, without those of linked entities.
    package var bits: Double { items.reduce(0) { $0 + $1.bits } }

    /// The conditions for searching the service, the most distinctive first.
    package var conditions: [ValueCondition] {
        items.compactMap { ValueCondition($0.property, $0.value, bits: $0.bits) }.enumerated()
            .sorted { ($1.element.bits, $0.offset) < ($0.element.bits, $1.offset) }.map(\.element)
    }

    // MARK: Comparing

    /// The degree to which an entity of the service matches the sent content.
    package enum MatchDegree: Sendable, Hashable {
        /// All returned values match, with this weight in bits.
        case alike(bits: Double)
        /// A distinctive value matches, but a second one differs.
        case lookalike
        case different
    }

    package func resemblance(of entity: EntityPayload) -> MatchDegree {
        if let other = entity.type, other != type { return .different }
        var (bits, most, differs) = (0.0, 0.0, false)
        for item in items {
            switch ValueComparison(sent: item.value, found: entity.values[item.property.name]) {
            case .same, .alike:
                bits += item.bits
                most = max(most, item.bits)
            case .silent: break
            case .other: differs = true
            }
        }
        for level in levels where !differs {
            guard let shown = entity.expanded.first(where: { $0.navigation == level.navigation }) else { continue }
            for content in level.contents {
                let best = shown.entities.compactMap { child -> Double? in
                    if case .alike(let bits) = content.resemblance(of: child) { bits } else { nil }
                }.max()
                if let best { bits += best } else { differs = shown.nextLink == nil }
            }
        }
        if !differs { return .alike(bits: bits) }
        return most >= DoubtEvidence.tellingBits ? .lookalike : .different
    }

    /// Returns whether both were sent with the same content.
    package func isSame(as other: SentContent) -> Bool {
        set == other.set && type == other.type && values == other.values && levels.count == other.levels.count
            && zip(levels, other.levels).allSatisfy { own, other in
                own.navigation == other.navigation && own.contents.count == other.contents.count
                    && zip(own.contents, other.contents).allSatisfy { $0.isSame(as: $1) }
            }
    }

    /// Returns whether the entity of the other create could be mistaken for the entity of this one.
    package func isAlike(_ other: SentContent) -> Bool {
        guard set == other.set, type == other.type else { return false }
        let values = other.values
        return items.allSatisfy { item in
            // A value that was not sent is assumed to be null.
            let found = values[item.property.name] ?? .null
            if case .other = ValueComparison(sent: item.value, found: found) { return false }
            return true
        }
    }

    private var values: PropertyValues { PropertyValues(items.map { ($0.property.name, $0.value) }) }
}
