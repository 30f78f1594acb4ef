import EDM

/// The ranges of the fields in an encoded record, with which the log stores the values of one field together. This
/// compresses much better than interleaved fields.
///
/// Only a hint: a record that is not described is stored unchanged. So only the frequent record kinds are described.
package struct RecordFields {
    package enum FieldEncoding: Sendable {
        /// A LEB128 number.
        case number
        /// A length and that many bytes.
        case text
        /// A constant number of bytes.
        case fixed
    }

    package struct Field: Sendable, Equatable {
        package let form: FieldEncoding
        package let range: Range<Int>
    }

    private let bytes: UnsafeRawBufferPointer
    private var at = 0
    private var fields: [Field] = []
    private var depth = 0

    private struct Unreadable: Error {}

    /// Returns the fields of a record's payload, in order; the bytes between them are names, tags and counts. Empty
    /// for a kind that is not described, and for invalid bytes.
    package static func of(kind: UInt8, payload: UnsafeRawBufferPointer) -> [Field] {
        var scan = RecordFields(bytes: payload)
        do throws(Unreadable) {
            try scan.number()
            switch RecordCodec.RecordKind(rawValue: kind) {
            case .operation: try scan.operation()
            case .downloadPage: try scan.page()
            case .comparedPage: try scan.page(isCompared: true)
            case .entitiesRead:
                try scan.list { scan throws(Unreadable) in try scan.image() }
                try scan.end()
            case .batchAnswered:
                try scan.answered()
                try scan.end()
            default: return []
            }
        } catch {
            return []
        }
        return scan.at == payload.count ? scan.fields : []
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    // MARK: Elements

    private mutating func byte() throws(Unreadable) -> UInt8 {
        guard at < bytes.count else { throw Unreadable() }
        defer { at += 1 }
        return bytes[at]
    }

    private mutating func unsigned() throws(Unreadable) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            let byte = try byte()
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw Unreadable()
    }

    private mutating func skip(_ count: UInt64) throws(Unreadable) {
        guard count <= UInt64(bytes.count - at) else { throw Unreadable() }
        at += Int(count)
    }

    private mutating func number() throws(Unreadable) {
        let start = at
        _ = try unsigned()
        fields.append(Field(form: .number, range: start..<at))
    }

    /// Skips a string that is similar in many records.
    private mutating func name() throws(Unreadable) { try skip(try unsigned()) }

    private mutating func text() throws(Unreadable) {
        let start = at
        try name()
        fields.append(Field(form: .text, range: start..<at))
    }

    private mutating func fixed(_ count: Int) throws(Unreadable) {
        let start = at
        try skip(UInt64(count))
        fields.append(Field(form: .fixed, range: start..<at))
    }

    private mutating func optional(
        _ read: (inout RecordFields) throws(Unreadable) -> Void
    ) throws(Unreadable) {
        switch try byte() {
        case 0: return
        case 1: try read(&self)
        default: throw Unreadable()
        }
    }

    private mutating func list(_ read: (inout RecordFields) throws(Unreadable) -> Void) throws(Unreadable) {
        for _ in 0..<(try unsigned()) { try read(&self) }
    }

    /// Scans optional fields: texts and numbers, and those that a closure scans.
    ///
    /// - Parameter read: Returns whether it scanned the field. If the field can contain identifiers that are not
    ///   separate numbers, it throws.
    private mutating func fields(
        _ read: (inout RecordFields, _ tag: UInt8) throws(Unreadable) -> Bool
    ) throws(Unreadable) {
        while true {
            let tag = try byte()
            if tag == 0 { return }
            if try read(&self, tag) { continue }
            if FieldTag.hasLength(tag) { try text() } else { try number() }
        }
    }

    private mutating func end() throws(Unreadable) {
        guard try byte() == 0 else { throw Unreadable() }
    }

    private mutating func nested(_ read: (inout RecordFields) throws(Unreadable) -> Void) throws(Unreadable) {
        guard depth < ByteReader.depthLimit else { throw Unreadable() }
        depth += 1
        defer { depth -= 1 }
        try read(&self)
    }
}

// MARK: Operations and facts

extension RecordFields {
    private mutating func operation() throws(Unreadable) {
        switch ActionTag(rawValue: try byte()) {
        case .create: try creation()
        case .update:
            try number()
            try properties()
            try list { scan throws(Unreadable) in try scan.links() }
        case .delete: try number()
        case .createLink, .updateLink, .deleteLink:
            try number()
            try name()
            try number()
        case nil: throw Unreadable()
        }
        try fields { scan, tag throws(Unreadable) in
            switch OperationField(rawValue: tag) {
            case .parentNavigation, .transactionID, .namedCategory:
                try scan.name()
                return true
            // A call contains entities.
            case .call, nil: throw Unreadable()
            default: return false
            }
        }
    }

    private mutating func creation() throws(Unreadable) {
        try nested { scan throws(Unreadable) in
            try scan.number()
            try scan.name()
            try scan.name()
            try scan.properties()
            try scan.list { scan throws(Unreadable) in try scan.links() }
            try scan.fields { scan, tag throws(Unreadable) in
                guard CreationField(rawValue: tag) == .inline else { throw Unreadable() }
                _ = try scan.unsigned()
                try scan.list { scan throws(Unreadable) in
                    try scan.name()
                    try scan.list { scan throws(Unreadable) in try scan.creation() }
                }
                return true
            }
        }
    }

    /// Scans a navigation property and its target entities.
    private mutating func links() throws(Unreadable) {
        try name()
        try list { scan throws(Unreadable) in try scan.number() }
    }

    private mutating func image() throws(Unreadable) {
        try number()
        try name()
        try name()
        try properties()
        try list { scan throws(Unreadable) in
            try scan.links()
            _ = try scan.byte()
        }
        try fields { _, tag throws(Unreadable) in
            guard ImageField(rawValue: tag) != nil else { throw Unreadable() }
            return false
        }
    }

    private mutating func page(isCompared: Bool = false) throws(Unreadable) {
        try name()
        if isCompared { try list { scan throws(Unreadable) in for _ in 0..<2 { _ = try scan.unsigned() } } }
        try list { scan throws(Unreadable) in try scan.image() }
        try fields { scan, tag throws(Unreadable) in
            guard let field = PageField(rawValue: tag) else { throw Unreadable() }
            guard field != .next else { return false }
            _ = try scan.unsigned()
            try scan.list { scan throws(Unreadable) in
                try scan.number()
                guard field == .links else { return }
                try scan.name()
                try scan.optional { scan throws(Unreadable) in try scan.number() }
                _ = try scan.byte()
            }
            return true
        }
    }

    private mutating func answered() throws(Unreadable) {
        try number()
        try list { scan throws(Unreadable) in
            try scan.number()
            switch OutcomeTag(rawValue: try scan.byte()) {
            case .confirmed: try scan.list { scan throws(Unreadable) in try scan.image() }
            case .rejected: try scan.refusal()
            case .deferred:
                try scan.refusal()
                try scan.number()
            case .notProcessed: return
            case .inDoubt: try scan.text()
            case nil: throw Unreadable()
            }
        }
    }

    private mutating func refusal() throws(Unreadable) {
        _ = try unsigned()
        for _ in 0..<2 { try text() }
        try name()
        try text()
        try fields { _, tag throws(Unreadable) in
            guard RefusalField(rawValue: tag) != nil else { throw Unreadable() }
            return false
        }
    }

    private mutating func properties() throws(Unreadable) {
        try list { scan throws(Unreadable) in
            try scan.name()
            try scan.value()
        }
    }

    private mutating func value() throws(Unreadable) {
        let tagAt = at
        switch ValueTag(rawValue: try byte()) {
        case .null: return
        case .false, .true: fields.append(Field(form: .fixed, range: tagAt..<at))
        case .integer, .single: try number()
        case .double: try fixed(8)
        case .guid: try fixed(16)
        case .decimal, .string, .binary, .enumeration, .raw: try text()
        case .date: try date()
        case .timeOfDay: try time()
        case .duration:
            _ = try byte()
            try number()
            try number()
        case .dateTime:
            try date()
            try time()
        case .dateTimeOffset:
            try date()
            try time()
            _ = try unsigned()
        case .complex:
            try nested { scan throws(Unreadable) in
                try scan.optional { scan throws(Unreadable) in try scan.name() }
                try scan.properties()
            }
        case .collection:
            try nested { scan throws(Unreadable) in
                try scan.list { scan throws(Unreadable) in try scan.value() }
            }
        case nil: throw Unreadable()
        }
    }

    private mutating func date() throws(Unreadable) {
        try number()
        try fixed(2)
    }

    private mutating func time() throws(Unreadable) {
        try number()
        _ = try byte()
    }
}
