package import EDM

/// A search condition for entities with a sent value or a normalized form of it.
package struct ValueCondition: Sendable, Hashable {
    package enum Term: Sendable, Hashable {
        case equal(Value)
        /// A range that includes both ends.
        case between(Value, Value)
    }

    package let property: Property
    /// The terms of the condition, one of which has to hold.
    package let alternatives: [Term]
    /// The weight of the value in bits.
    package let bits: Double

    /// Creates a condition, or returns nil if a filter cannot find an entity by this value.
    init?(_ property: Property, _ value: Value, bits: Double) {
        guard property.isFilterable, !property.isNavigation, !property.isCollection else { return nil }
        switch value {
        case .string(let text):
            guard !text.isEmpty, text.utf8.count <= Self.longestText else { return nil }
            alternatives = Self.spellings(text).map { .equal(.string($0)) }
        case .boolean, .integer, .guid, .date: alternatives = [.equal(value)]
        case .dateTime(let time):
            let milliseconds = time.millisecondsSince1970
            guard let first = LocalDateTime(millisecondsSince1970: milliseconds - 1_000),
                let last = LocalDateTime(millisecondsSince1970: milliseconds + 1_000)
            else { return nil }
            alternatives = [.between(.dateTime(first), .dateTime(last))]
        case .dateTimeOffset(let time):
            let milliseconds = time.millisecondsSince1970
            guard let first = GlobalDateTime(millisecondsSince1970: milliseconds - 1_000),
                let last = GlobalDateTime(millisecondsSince1970: milliseconds + 1_000)
            else { return nil }
            alternatives = [.between(.dateTimeOffset(first), .dateTimeOffset(last))]
        case .null, .single, .double, .decimal, .binary, .timeOfDay, .duration, .enumeration, .raw, .complex,
            .collection:
            return nil
        }
        self.property = property
        self.bits = bits
    }

    private init(_ property: Property, _ alternatives: [Term], _ bits: Double) {
        self.property = property
        self.alternatives = alternatives
        self.bits = bits
    }

    /// The condition for the value exactly as sent, for a service that rejects alternatives; nil if it is already that.
    package var plain: ValueCondition? {
        alternatives.count > 1 ? ValueCondition(property, [alternatives[0]], bits) : nil
    }

    /// The longest text in a condition, because the length of URLs is limited.
    private static var longestText: Int { 160 }

    /// Returns the spellings of a text, beginning with the sent one.
    private static func spellings(_ text: String) -> [String] {
        let trimmed = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return [text, trimmed, trimmed.uppercased(), trimmed.lowercased()].reduce(into: []) { spellings, text in
            if !text.isEmpty, !spellings.contains(where: { $0.utf8.elementsEqual(text.utf8) }) {
                spellings.append(text)
            }
        }
    }
}

extension Property {
    /// Whether the metadata allow filtering by the property.
    fileprivate var isFilterable: Bool {
        !annotations.contains { $0.term == "sap:filterable" && $0.value == "false" }
    }

    /// Whether a create may set the property, according to the metadata.
    var isCreatable: Bool {
        !annotations.contains { annotation in
            switch annotation.term {
            case "Org.OData.Core.V1.Computed": annotation.value != "false"
            case "sap:creatable": annotation.value == "false"
            default: false
            }
        }
    }
}
