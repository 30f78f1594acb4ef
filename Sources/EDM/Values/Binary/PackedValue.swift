/// A value read in place: numbers and dates are decoded, strings and longer values are references to their bytes,
/// which are valid only as long as the cursor's buffer.
package enum PackedValue {
    case null
    case boolean(Bool)
    case integer(Int64)
    case single(Float)
    case double(Double)
    case decimal(UnsafeRawBufferPointer)
    case string(UnsafeRawBufferPointer)
    case binary(UnsafeRawBufferPointer)
    case guid(GuidValue)
    case date(LocalDate)
    case timeOfDay(LocalTime)
    case duration(DayTimeDuration)
    case dateTime(LocalDateTime)
    case dateTimeOffset(GlobalDateTime)
    case enumeration(UnsafeRawBufferPointer)
    case raw(UnsafeRawBufferPointer)
    /// All bytes of the value, including the tag.
    case complex(UnsafeRawBufferPointer)
    case collection(UnsafeRawBufferPointer)
}

extension PackedCursor {
    /// Returns the next value, or `nil` if there is none or a number is not encoded canonically. Advances past it in both
    /// cases, so that an invalid value does not affect the values after it.
    ///
    /// Does not check strings or the contents of complex values and collections; use ``check()``.
    package mutating func next() -> PackedValue? {
        let start = offset
        if let value = decoded() { return value }
        offset = start
        skip()
        return nil
    }

    /// Returns the next value. If it is invalid, the offset may be within it.
    private mutating func decoded() -> PackedValue? {
        let start = offset
        guard let tag = byte().flatMap(ValueTag.init) else { return nil }
        switch tag {
        case .null: return .null
        case .false: return .boolean(false)
        case .true: return .boolean(true)
        case .integer: return signed().map { .integer($0) }
        case .single: return unsigned().flatMap(UInt32.init(exactly:)).map { .single(Float(bitPattern: $0)) }
        case .double: return fixed64().map { .double(Double(bitPattern: $0)) }
        case .decimal: return block().map { .decimal($0) }
        case .string: return block().map { .string($0) }
        case .binary: return block().map { .binary($0) }
        case .guid:
            guard let high = fixed64(), let low = fixed64() else { return nil }
            return .guid(GuidValue(high: high, low: low))
        case .date: return date().map { .date($0) }
        case .timeOfDay: return time().map { .timeOfDay($0) }
        case .duration: return duration().map { .duration($0) }
        case .dateTime: return dateTime().map { .dateTime($0) }
        case .dateTimeOffset:
            guard let local = dateTime(), let offset = signed() else { return nil }
            return Int(exactly: offset).flatMap { GlobalDateTime(local: local, offsetMinutes: $0) }
                .map { .dateTimeOffset($0) }
        case .enumeration: return block().map { .enumeration($0) }
        case .raw: return block().map { .raw($0) }
        case .complex, .collection:
            offset = start
            guard skip() else { return nil }
            let whole = UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
            return tag == .complex ? .complex(whole) : .collection(whole)
        }
    }

    private mutating func date() -> LocalDate? {
        guard let year = signed().flatMap(Int.init(exactly:)), let month = byte(), let day = byte() else { return nil }
        return LocalDate(year: year, month: Int(month), day: Int(day))
    }

    private mutating func time() -> LocalTime? {
        guard let picoseconds = signed(), let digits = byte(),
            let time = LocalTime(picoseconds: picoseconds, fractionDigits: digits), time.fractionDigits == digits
        else { return nil }
        return time
    }

    private mutating func dateTime() -> LocalDateTime? {
        guard let date = date(), let time = time() else { return nil }
        return LocalDateTime(date: date, time: time)
    }

    private mutating func duration() -> DayTimeDuration? {
        guard let isNegative = bool(), let seconds = signed(), let picoseconds = signed(),
            let duration = DayTimeDuration(isNegative: isNegative, seconds: seconds, picoseconds: picoseconds),
            duration.isNegative == isNegative
        else { return nil }
        return duration
    }
}

// MARK: Checking

extension PackedCursor {
    /// Advances past the next value if it and its contents have exactly the encoding of ``ByteWriter``. Such a value
    /// can be decoded later without errors and encodes to the same bytes.
    mutating func check() -> Bool {
        guard let tag = byte().flatMap(ValueTag.init) else { return false }
        switch tag {
        case .null, .false, .true: return true
        case .integer: return unsigned() != nil
        case .single: return unsigned().map { $0 <= UInt64(UInt32.max) } ?? false
        case .double: return consume(8) != nil
        case .guid: return consume(16) != nil
        case .binary: return block() != nil
        case .decimal: return block().map { DecimalValue.isText($0.bindMemory(to: UInt8.self)) } ?? false
        case .string, .enumeration, .raw: return block().map(UTF8Text.isValid) ?? false
        case .date: return date() != nil
        case .timeOfDay: return time() != nil
        case .duration: return duration() != nil
        case .dateTime: return date() != nil && time() != nil
        case .dateTimeOffset:
            guard date() != nil, time() != nil, let offset = signed() else { return false }
            return GlobalDateTime.offsets.contains(offset)
        case .complex: return nested { $0.checkComplex() }
        case .collection: return nested { $0.checkItems() }
        }
    }

    private mutating func checkItems() -> Bool {
        guard let count = unsigned() else { return false }
        for _ in 0..<count { guard check() else { return false } }
        return true
    }

    /// Whether the names are equal. Names with non-ASCII characters can be equal with different bytes.
    private static func isSameName(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        if a.hasSameBytes(as: b) { return true }
        if UTF8Text.isASCII(a), UTF8Text.isASCII(b) { return false }
        return String(decoding: a, as: UTF8.self) == String(decoding: b, as: UTF8.self)
    }

    /// The maximum number of names in complex values that are checked here, in quadratic time. Larger ones are
    /// decoded one by one.
    private static var nameLimit: UInt64 { 48 }

    private mutating func checkComplex() -> Bool {
        guard let hasType = bool() else { return false }
        if hasType { guard let type = block(), UTF8Text.isValid(type) else { return false } }
        guard let count = unsigned(), count <= Self.nameLimit else { return false }
        return withUnsafeTemporaryAllocation(of: UnsafeRawBufferPointer.self, capacity: Int(count)) { names in
            for index in 0..<Int(count) {
                guard let name = block(), UTF8Text.isValid(name) else { return false }
                guard !names[..<index].contains(where: { Self.isSameName($0, name) }) else { return false }
                names.initializeElement(at: index, to: name)
                guard check() else { return false }
            }
            return true
        }
    }
}

// MARK: Making

extension Value {
    /// Decodes a value. Invalid bytes become null, and texts that are not UTF-8 contain replacement characters.
    package init(_ packed: PackedValue) {
        self =
            switch packed {
            case .null: .null
            case .boolean(let flag): .boolean(flag)
            case .integer(let number): .integer(number)
            case .single(let number): .single(number)
            case .double(let number): .double(number)
            case .decimal(let text):
                // Arithmetic requires digits, and the structure of the bytes may be all that was checked.
                DecimalValue.isText(text.bindMemory(to: UInt8.self))
                    ? .decimal(DecimalValue(unchecked: String(decoding: text, as: UTF8.self))) : .null
            case .string(let text): .string(String(decoding: text, as: UTF8.self))
            case .binary(let bytes): .binary(Array(bytes))
            case .guid(let guid): .guid(guid)
            case .date(let date): .date(date)
            case .timeOfDay(let time): .timeOfDay(time)
            case .duration(let duration): .duration(duration)
            case .dateTime(let dateTime): .dateTime(dateTime)
            case .dateTimeOffset(let dateTime): .dateTimeOffset(dateTime)
            case .enumeration(let text): .enumeration(String(decoding: text, as: UTF8.self))
            case .raw(let text): .raw(String(decoding: text, as: UTF8.self))
            case .complex(let bytes), .collection(let bytes):
                (try? ByteReader.read(bytes) { reader throws(CodecError) in try reader.value() }) ?? .null
            }
    }
}
