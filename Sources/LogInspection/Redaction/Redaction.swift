import EDM
import ODataWire
import Operations

/// The replacements for the values and names of a log, which preserve only equality, order and links.
///
/// All records are processed twice: the first pass collects values, and after ``rank()`` the second one replaces each
/// value with its rank among all values of its kind. Everything except names of the model is replaced, so no list of
/// secrets is needed.
final class Redaction {
    static let root = "https://redacted.example/"

    var vocabulary = Vocabulary()
    var model: EntityDataModel?
    /// All service roots that the log contains.
    var roots: Set<String> = []
    private(set) var kept: KeptProperties
    private var keptTexts: Set<ExactText> = []
    private var capacities = PropertyCapacities()
    private var ranking = ValueRanking()

    /// The numbers of unordered texts, by class.
    private var opaque: [String: [ExactText: Int]] = [:]

    /// The set and the type of each entity.
    private(set) var places: [EntityID: (set: String, type: String)] = [:]
    /// The service capabilities that the annotations of the newest metadata declare.
    var declared: ServiceOptions?

    func register(_ entity: EntityID, _ set: String, _ type: String) { places[entity] = (set, type) }

    /// Creates a redaction.
    ///
    /// - Parameter kept: Properties whose values are kept, as `Set/Property`.
    init(kept: Set<String>) {
        self.kept = KeptProperties(kept)
    }

    var isCollecting: Bool { ranking.isCollecting }

    /// Ranks the collected values, between the two passes.
    ///
    /// - Throws: An error with a sentence if the values exceed a capacity.
    func rank() throws(RedactionError) {
        try ranking.rank()
        model = nil
    }

    // MARK: Texts without an order

    /// Returns a placeholder such as `text-12`, which is the same for equal texts.
    func opaque(_ text: String, _ kind: String = "text") -> String {
        guard !text.isEmpty else { return text }
        return "\(kind)-\(number(of: text, kind))"
    }

    func opaque(_ text: String?, _ kind: String = "text") -> String? { text.map { opaque($0, kind) } }

    func number(of text: String, _ kind: String) -> Int {
        if let known = opaque[kind]?[ExactText(text)] { return known }
        let number = (opaque[kind]?.count ?? 0) + 1
        opaque[kind, default: [:]][ExactText(text)] = number
        return number
    }

    /// Returns a name of the model unchanged, and a placeholder for any other text.
    func name(_ name: String) -> String { vocabulary.contains(name) ? name : opaque(name, "Name") }

    func etag(_ etag: String?) -> String? {
        guard let etag, !etag.isEmpty else { return etag }
        // A wildcard reveals nothing.
        if etag == "*" { return etag }
        return (etag.hasPrefix("W/") ? "W/" : "") + "\"\(number(of: etag, "etag"))\""
    }

    // MARK: Values

    /// Redacts the values of an entity.
    ///
    /// - Parameter set: The entity set, for the kept properties.
    func values(_ values: PropertyValues, type: String, set: String) -> PropertyValues {
        self.values(
            values, model?.findEntityType(type) ?? model?.findEntitySet(set)?.entityType, path: set, depth: 0)
    }

    private func values(
        _ values: PropertyValues, _ type: StructuredType?, path: String, depth: Int
    ) -> PropertyValues {
        PropertyValues(
            values.map { name, value in
                let property = type?.findProperty(name)
                let path = path + "/" + name
                if kept.contains(path) {
                    if case .string(let text) = value { keptTexts.insert(ExactText(text)) }
                    return (self.name(name), value)
                }
                return (self.name(name), self.value(value, property, path: path, depth: depth))
            })
    }

    func value(_ value: Value, _ property: Property?, path: String = "", depth: Int = 0) -> Value {
        // Deeper than the codec supports.
        guard depth < 64 else { return .null }
        switch value {
        case .null, .boolean: return value
        case .complex(let complex):
            let declared: String? = if case .complex(let name)? = property?.type.kind { name } else { nil }
            let type = (complex.type ?? declared).flatMap { model?.findComplexType($0) }
            return .complex(
                ComplexValue(
                    type: complex.type.map(name),
                    properties: values(complex.properties, type, path: path, depth: depth + 1)))
        case .collection(let items):
            return .collection(items.map { self.value($0, property, path: path, depth: depth + 1) })
        case .enumeration(let text): return .enumeration(enumeration(text))
        default: return scalar(value, room: property.map { capacities[$0] })
        }
    }

    /// Learns a model. Properties that a referential constraint requires to be equal have the smaller capacity of the
    /// two.
    func register(_ model: EntityDataModel) {
        self.model = model
        declared = ServiceOptions(declaredBy: model)
        vocabulary.add(model)
        let constraints = model.referentialPairs()
        kept.extend(with: model, constraints)
        capacities = PropertyCapacities(constraints: constraints)
    }

    private func enumeration(_ text: String) -> String {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        return parts.allSatisfy { vocabulary.contains($0) } ? text : String(number(of: text, "member"))
    }

    /// Redacts a scalar value.
    ///
    /// - Parameter room: The capacity of the location, or nil if it is unknown.
    func scalar(_ value: Value, room: Int? = nil) -> Value {
        if case .string(let text) = value { return .string(string(text, room: room)) }
        return ranking.scalar(value, room: room)
    }

    /// Returns the rank as digits of a fixed width. An empty text is unchanged.
    func string(_ text: String, room: Int? = nil) -> String {
        guard !text.isEmpty, !keptTexts.contains(ExactText(text)) || room != nil else { return text }
        return ranking.string(text, room: room) ?? opaque(text)
    }

    /// Returns the replacement for an unquoted literal, or nil if the text is none.
    func literal(_ text: String) -> String? { ranking.literal(text) }

    /// Returns whether the text was collected as a value.
    func isKnown(_ text: String) -> Bool {
        keptTexts.contains(ExactText(text)) || ranking.contains(ExactText(text))
    }
}

/// The reason why a log cannot be redacted.
struct RedactionError: Error {
    let reason: String
}
