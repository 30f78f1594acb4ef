import EDM

/// The numbers of values that the properties of a model can hold; see ``RankedValues``.
struct PropertyCapacities {
    /// The capacities of properties whose counterpart in a referential constraint can hold fewer values.
    private var rooms: [String: Int] = [:]

    init() {}

    /// Properties that a referential constraint requires to be equal have the smaller capacity of the two.
    init(constraints: [ReferentialPair]) {
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for (dependent, principal) in constraints {
                let least = min(self[dependent], self[principal])
                for property in [dependent, principal] where self[property] != least {
                    rooms[property.description] = least
                    hasChanged = true
                }
            }
        }
    }

    /// Returns the number of values that the property can hold; see ``RankedValues``. It is the same on both sides of a
    /// referential constraint.
    subscript(_ property: Property) -> Int {
        rooms[property.description] ?? Self.declared(property)
    }

    private static func declared(_ property: Property) -> Int {
        switch property.type.primitive {
        case .string, .binary:
            guard let length = property.facets.maxLength, length < 6 else { return .max }
            let base = property.type.primitive == .binary ? 256 : ValueRanking.digits.count
            return (0..<max(0, length)).reduce(1) { room, _ in room * base }
        case .byte: return 255
        case .sbyte: return 127
        case .int16: return 32_767
        case .decimal:
            guard let precision = property.facets.precision, precision < 10 else { return .max }
            let scale = if case .fixed(let scale)? = property.facets.scale { scale } else { 0 }
            return (0..<max(1, precision - max(0, min(precision, scale)))).reduce(1) { room, _ in room * 10 } - 1
        default: return .max
        }
    }
}
