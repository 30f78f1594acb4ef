/// The tag before each value. Numbers are part of the format and never reused.
package enum ValueTag: UInt8 {
    case null = 0
    case `false` = 1
    case `true` = 2
    case integer = 3
    case single = 4
    case double = 5
    case decimal = 6
    case string = 7
    case binary = 8
    case guid = 9
    case date = 10
    case timeOfDay = 11
    case duration = 12
    case dateTime = 13
    case dateTimeOffset = 14
    case enumeration = 15
    case raw = 16
    case complex = 17
    case collection = 18
}

extension ByteWriter {
    private mutating func tag(_ tag: ValueTag) { byte(tag.rawValue) }

    package mutating func value(_ value: Value) {
        switch value {
        case .null: tag(.null)
        case .boolean(let flag): tag(flag ? .true : .false)
        case .integer(let number):
            tag(.integer)
            signed(number)
        case .single(let number):
            tag(.single)
            unsigned(UInt64(number.bitPattern))
        case .double(let number):
            tag(.double)
            fixed64(number.bitPattern)
        case .decimal(let number):
            tag(.decimal)
            string(number.text)
        case .string(let text):
            tag(.string)
            string(text)
        case .binary(let bytes):
            tag(.binary)
            blob(bytes)
        case .guid(let guid):
            tag(.guid)
            fixed64(guid.high)
            fixed64(guid.low)
        case .date(let date):
            tag(.date)
            self.date(date)
        case .timeOfDay(let time):
            tag(.timeOfDay)
            self.time(time)
        case .duration(let duration):
            tag(.duration)
            bool(duration.isNegative)
            signed(duration.seconds)
            signed(duration.picoseconds)
        case .dateTime(let dateTime):
            tag(.dateTime)
            date(dateTime.date)
            time(dateTime.time)
        case .dateTimeOffset(let dateTime):
            tag(.dateTimeOffset)
            date(dateTime.local.date)
            time(dateTime.local.time)
            signed(Int64(dateTime.offsetMinutes))
        case .enumeration(let member):
            tag(.enumeration)
            string(member)
        case .raw(let json):
            tag(.raw)
            string(json)
        case .complex(let complex):
            tag(.complex)
            optional(complex.type) { $0.string($1) }
            properties(complex.properties)
        case .collection(let items):
            tag(.collection)
            list(items) { $0.value($1) }
        }
    }

    /// Appends a value that was read in place. A text must be valid for its kind.
    package mutating func value(_ packed: PackedValue) {
        switch packed {
        case .decimal(let text): self.text(text, .decimal)
        case .string(let text): self.text(text, .string)
        case .enumeration(let text): self.text(text, .enumeration)
        case .raw(let text): self.text(text, .raw)
        default: value(Value(packed))
        }
    }

    private mutating func text(_ text: UnsafeRawBufferPointer, _ tag: ValueTag) {
        self.tag(tag)
        blob(text)
    }

    private mutating func date(_ date: LocalDate) {
        signed(Int64(date.year))
        byte(UInt8(date.month))
        byte(UInt8(date.day))
    }

    private mutating func time(_ time: LocalTime) {
        signed(time.picoseconds)
        byte(time.fractionDigits)
    }
}

extension ByteReader {
    package mutating func value() throws(CodecError) -> Value {
        guard let tag = ValueTag(rawValue: try byte()) else { throw fail(.invalid("value")) }
        switch tag {
        case .null: return .null
        case .false: return .boolean(false)
        case .true: return .boolean(true)
        case .integer: return .integer(try signed())
        case .single:
            guard let bits = UInt32(exactly: try unsigned()) else { throw fail(.overflow) }
            return .single(Float(bitPattern: bits))
        case .double: return .double(Double(bitPattern: try fixed64()))
        case .decimal:
            guard let number = DecimalValue(try string()) else { throw fail(.invalid("decimal")) }
            return .decimal(number)
        case .string: return .string(try string())
        case .binary: return .binary(try blob())
        case .guid: return .guid(GuidValue(high: try fixed64(), low: try fixed64()))
        case .date: return .date(try date())
        case .timeOfDay: return .timeOfDay(try time())
        case .duration:
            guard
                let duration = DayTimeDuration(
                    isNegative: try bool(), seconds: try signed(), picoseconds: try signed())
            else { throw fail(.invalid("duration")) }
            return .duration(duration)
        case .dateTime: return .dateTime(LocalDateTime(date: try date(), time: try time()))
        case .dateTimeOffset:
            let local = LocalDateTime(date: try date(), time: try time())
            guard let dateTime = GlobalDateTime(local: local, offsetMinutes: try integer()) else {
                throw fail(.invalid("offset"))
            }
            return .dateTimeOffset(dateTime)
        case .enumeration: return .enumeration(try string())
        case .raw: return .raw(try string())
        case .complex:
            return try nested { reader throws(CodecError) in
                .complex(
                    ComplexValue(
                        type: try reader.optional { r throws(CodecError) in try r.string() },
                        properties: try reader.properties()))
            }
        case .collection:
            return try nested { reader throws(CodecError) in
                .collection(try reader.list { r throws(CodecError) in try r.value() })
            }
        }
    }

    private mutating func date() throws(CodecError) -> LocalDate {
        let year = try integer()
        guard let date = LocalDate(year: year, month: Int(try byte()), day: Int(try byte())) else {
            throw fail(.invalid("date"))
        }
        return date
    }

    private mutating func time() throws(CodecError) -> LocalTime {
        guard let time = LocalTime(picoseconds: try signed(), fractionDigits: try byte()) else {
            throw fail(.invalid("time of day"))
        }
        return time
    }
}
