import EDM
import ODataWire
import Operations

/// Replaces the content of a log so that only equality, order and links are preserved.
///
/// All records are processed twice: the first pass collects values, and after ``rank()`` the second one replaces each
/// value with its rank among all values of its kind. Everything except names of the model is replaced, so no list of
/// secrets is needed.
final class Redaction {
    static let root = "https://redacted.example/"

    private(set) var isCollecting = true
    var vocabulary = Vocabulary()
    var model: EntityDataModel?
    /// All service roots that the log contains.
    var roots: Set<String> = []
    /// The properties whose values are kept, as `Set/Property`, including those that constraints require to be equal.
    private var kept: Set<String>
    /// The given paths that lead to no property of any model.
    private(set) var pathsNotFound: Set<String>
    private var keptTexts: Set<ExactText> = []
    private var rooms: [String: Int] = [:]

    private var strings = RankedDomain<ExactText>()
    private var numbers = RankedDomain<DecimalValue>()
    private var guids = RankedDomain<GuidValue>()
    private var dates = RankedDomain<LocalDate>()
    private var instants = RankedDomain<Instant>()
    private var times = RankedDomain<LocalTime>()
    private var durations = RankedDomain<DayTimeDuration>()
    private var binaries = RankedDomain<[UInt8]>()
    private var raws = RankedDomain<String>()
    /// The numbers of unordered texts, by class.
    private var opaque: [String: [ExactText: Int]] = [:]

    /// The keys in the state, from original to redacted.
    var keys: [ExactText: String] = [:]
    /// The keys of a snapshot until its rows are known.
    var keysSeen: [(key: String, set: String, entity: EntityID)] = []
    /// The set and the type of each entity.
    private(set) var places: [EntityID: (set: String, type: String)] = [:]
    /// The service capabilities that the annotations of the newest metadata declare.
    var declared: ServiceOptions?

    func register(_ entity: EntityID, _ set: String, _ type: String) { places[entity] = (set, type) }

    /// Creates a redaction.
    ///
    /// - Parameter kept: Properties whose values are kept, as `Set/Property`.
    init(kept: Set<String>) {
        self.kept = kept
        pathsNotFound = kept
    }

    /// Ranks the collected values, between the two passes.
    ///
    /// - Throws: An error with a sentence if the values exceed a capacity.
    func rank() throws(RedactionError) {
        strings.rank { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
        numbers.rank { $0 < $1 }
        guids.rank { $0 < $1 }
        dates.rank { $0 < $1 }
        instants.rank { $0 < $1 }
        times.rank { $0 < $1 }
        durations.rank { $0 < $1 }
        binaries.rank { $0.lexicographicallyPrecedes($1) }
        raws.rank { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        for (room, count) in strings.counts + binaries.counts where room < count {
            throw RedactionError(reason: "\(count) different strings cannot be replaced by \(room) possible values")
        }
        for (room, count) in numbers.counts where room != .max && 2 * room + 1 < count {
            throw RedactionError(
                reason: "\(count) different numbers cannot be replaced by \(2 * room + 1) possible values")
        }
        if dates.counts.contains(where: { $0.count > 2_900_000 })
            || times.counts.contains(where: { $0.count > 86_400_000 })
        {
            throw RedactionError(reason: "the number of different dates or times exceeds the range of the calendar")
        }
        isCollecting = false
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
        default: return scalar(value, room: property.map(room))
        }
    }

    /// Returns the number of values that the property can hold; see ``RankedDomain``. It is the same on both sides of a
    /// referential constraint.
    private func room(_ property: Property) -> Int {
        let key = property.description
        if let room = rooms[key] { return room }
        return ownRoom(property)
    }

    private func ownRoom(_ property: Property) -> Int {
        switch property.type.primitive {
        case .string, .binary:
            guard let length = property.facets.maxLength, length < 6 else { return .max }
            let base = property.type.primitive == .binary ? 256 : Self.digits.count
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

    /// Learns a model. Properties that a referential constraint requires to be equal have the smaller capacity of the
    /// two.
    func register(_ model: EntityDataModel) {
        self.model = model
        declared = ServiceOptions(declaredBy: model)
        vocabulary.add(model)
        rooms = [:]
        let constraints = Self.constraints(of: model)
        let (equal, found) = Self.closure(of: kept, in: model, constraints)
        kept.formUnion(equal)
        pathsNotFound.subtract(found)
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for (dependent, principal) in constraints {
                let least = min(room(dependent), room(principal))
                for property in [dependent, principal] where room(property) != least {
                    rooms[property.description] = least
                    hasChanged = true
                }
            }
        }
    }

    private func enumeration(_ text: String) -> String {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        return parts.allSatisfy { vocabulary.contains($0) } ? text : String(number(of: text, "member"))
    }

    /// Redacts a scalar value.
    ///
    /// - Parameter room: The capacity of the location, or nil if it is unknown.
    func scalar(_ value: Value, room: Int? = nil) -> Value {
        switch value {
        case .integer(let number): return .integer(Int64(self.number(DecimalValue(number), room)))
        case .decimal(let number):
            return number.isFinite ? .decimal(DecimalValue(Int64(self.number(number, room)))) : value
        case .double(let number):
            return number.isFinite ? .double(Double(self.number(DecimalValue(number), room))) : value
        case .single(let number):
            return number.isFinite ? .single(Float(self.number(DecimalValue(Double(number)), room))) : value
        case .string(let text): return .string(string(text, room: room))
        case .guid(let guid): return .guid(self.guid(guid))
        case .binary(let bytes): return .binary(binary(bytes, room: room))
        case .date(let date):
            if isCollecting { dates.collect(date) }
            return LocalDate(daysSince1970: 10_957 + Int64(dates.rank(of: date)?.rank ?? 0)).map(Value.date) ?? .null
        case .dateTime(let time): return dateTime(time.instant).map(Value.dateTime) ?? .null
        case .dateTimeOffset(let time):
            let replaced = dateTime(time.instant).flatMap { GlobalDateTime(local: $0, offsetMinutes: 0) }
            return replaced.map(Value.dateTimeOffset) ?? .null
        case .timeOfDay(let time):
            if isCollecting { times.collect(time) }
            let (rank, count) = times.rank(of: time) ?? (0, 1)
            let step = (count <= 86_400 ? 1_000 : 1) as Int64
            return LocalTime(picoseconds: Int64(rank) * step * 1_000_000_000).map(Value.timeOfDay) ?? .null
        case .duration(let duration):
            if isCollecting { durations.collect(duration) }
            let rank = durations.rank(of: duration)?.rank ?? 0
            return DayTimeDuration(seconds: Int64(rank)).map(Value.duration) ?? .null
        case .raw(let text):
            if isCollecting { raws.collect(text) }
            let rank = raws.rank(of: text)?.rank ?? 0
            return .raw(#"{"type":"Point","coordinates":[\#(rank % 180),\#(rank / 180)]}"#)
        default: return .null
        }
    }

    private func number(_ number: DecimalValue, _ room: Int?) -> Int {
        if isCollecting { numbers.collect(number, room: room ?? .max) }
        let (rank, count) = numbers.rank(of: number, room: room) ?? (0, 1)
        guard let room, count > room else { return rank + 1 }
        // The whole range of the type, or of the number of digits.
        switch room {
        case 255: return rank
        case 127, 32_767: return rank - room - 1
        default: return rank - room
        }
    }

    func guid(_ guid: GuidValue) -> GuidValue {
        if isCollecting { guids.collect(guid) }
        return GuidValue(high: 0, low: UInt64(guids.rank(of: guid)?.rank ?? 0) + 1)
    }

    private func dateTime(_ instant: Instant) -> LocalDateTime? {
        if isCollecting { instants.collect(instant) }
        let rank = Int64(instants.rank(of: instant)?.rank ?? 0)
        return LocalDateTime(millisecondsSince1970: (946_684_800 + rank) * 1000)
    }

    // MARK: Strings

    /// The digits in ascending UTF-8 order.
    private static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// Returns the rank as digits of a fixed width. An empty text is unchanged.
    func string(_ text: String, room: Int? = nil) -> String {
        guard !text.isEmpty, !keptTexts.contains(ExactText(text)) || room != nil else { return text }
        if isCollecting { strings.collect(ExactText(text), room: room ?? .max) }
        guard let (rank, count) = strings.rank(of: ExactText(text), room: room) else {
            return isCollecting ? text : opaque(text)
        }
        return String(decoding: Self.code(rank, of: count, digits: Self.digits), as: UTF8.self)
    }

    /// Returns whether the text was collected as a value.
    func isKnown(_ text: String) -> Bool {
        keptTexts.contains(ExactText(text)) || strings.rank(of: ExactText(text)) != nil
    }

    private func binary(_ bytes: [UInt8], room: Int?) -> [UInt8] {
        guard !bytes.isEmpty else { return bytes }
        if isCollecting { binaries.collect(bytes, room: room ?? .max) }
        guard let (rank, count) = binaries.rank(of: bytes, room: room) else { return [] }
        return Self.code(rank, of: count, digits: Array(0...255))
    }

    private static func code(_ rank: Int, of count: Int, digits: [UInt8]) -> [UInt8] {
        var width = 1
        var reach = digits.count
        while reach < count {
            reach *= digits.count
            width += 1
        }
        var rest = rank
        var code = [UInt8](repeating: digits[0], count: width)
        for index in code.indices.reversed() {
            code[index] = digits[rest % digits.count]
            rest /= digits.count
        }
        return code
    }
}

/// The reason why a log cannot be redacted.
struct RedactionError: Error {
    let reason: String
}
