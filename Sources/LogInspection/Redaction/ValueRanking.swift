import EDM
import ODataQuery

/// The scalar values of a log and their replacements: the rank of each value among all values of its kind.
///
/// Values are collected first. After ``rank()`` each is replaced with its rank, which preserves equality and order.
struct ValueRanking {
    private(set) var isCollecting = true
    private var strings = RankedValues<ExactText>()
    private var numbers = RankedValues<DecimalValue>()
    private var guids = RankedValues<GuidValue>()
    private var dates = RankedValues<LocalDate>()
    private var instants = RankedValues<Instant>()
    private var times = RankedValues<LocalTime>()
    private var durations = RankedValues<DayTimeDuration>()
    private var binaries = RankedValues<[UInt8]>()
    private var raws = RankedValues<String>()

    /// Ranks the collected values, between the two passes.
    ///
    /// - Throws: An error with a sentence if the values exceed a capacity.
    mutating func rank() throws(RedactionError) {
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
    }

    /// Replaces a scalar value other than a string.
    ///
    /// - Parameter room: The capacity of the location, or nil if it is unknown.
    mutating func scalar(_ value: Value, room: Int? = nil) -> Value {
        switch value {
        case .integer(let number): return .integer(Int64(self.number(DecimalValue(number), room)))
        case .decimal(let number):
            return number.isFinite ? .decimal(DecimalValue(Int64(self.number(number, room)))) : value
        case .double(let number):
            return number.isFinite ? .double(Double(self.number(DecimalValue(number), room))) : value
        case .single(let number):
            return number.isFinite ? .single(Float(self.number(DecimalValue(Double(number)), room))) : value
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

    private mutating func number(_ number: DecimalValue, _ room: Int?) -> Int {
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

    mutating func guid(_ guid: GuidValue) -> GuidValue {
        if isCollecting { guids.collect(guid) }
        return GuidValue(high: 0, low: UInt64(guids.rank(of: guid)?.rank ?? 0) + 1)
    }

    private mutating func dateTime(_ instant: Instant) -> LocalDateTime? {
        if isCollecting { instants.collect(instant) }
        let rank = Int64(instants.rank(of: instant)?.rank ?? 0)
        return LocalDateTime(millisecondsSince1970: (946_684_800 + rank) * 1000)
    }

    /// Returns the replacement for an unquoted literal, or nil if the text is none.
    mutating func literal(_ text: String) -> String? {
        func format(_ value: Value) -> String {
            PrimitiveLiteral.format(scalar(value), version: .v4, form: .text)
        }
        if let guid = GuidValue(text) { return self.guid(guid).description }
        if let time = GlobalDateTime(text) { return format(.dateTimeOffset(time)) }
        if let time = LocalDateTime(text) { return format(.dateTime(time)) }
        if let date = LocalDate(text) { return format(.date(date)) }
        if text.contains(":"), let time = LocalTime(text) { return format(.timeOfDay(time)) }
        if let duration = DayTimeDuration(text) { return format(.duration(duration)) }
        let digits = text.last.map { "MmLlFfDd".contains($0) } == true ? String(text.dropLast()) : text
        guard digits.utf8.first.map({ (0x30...0x39).contains($0) || $0 == 0x2D }) == true,
            let number = DecimalValue(digits)
        else { return nil }
        return format(.decimal(number)) + text.dropFirst(digits.count)
    }

    // MARK: Strings and bytes

    /// The digits in ascending UTF-8 order.
    static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    /// Returns the rank of a string as digits of a fixed width, or nil for a string that was not collected.
    mutating func string(_ text: String, room: Int?) -> String? {
        if isCollecting { strings.collect(ExactText(text), room: room ?? .max) }
        guard let (rank, count) = strings.rank(of: ExactText(text), room: room) else {
            return isCollecting ? text : nil
        }
        return String(decoding: Self.code(rank, of: count, digits: Self.digits), as: UTF8.self)
    }

    func contains(_ text: ExactText) -> Bool { strings.rank(of: text) != nil }

    private mutating func binary(_ bytes: [UInt8], room: Int?) -> [UInt8] {
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
