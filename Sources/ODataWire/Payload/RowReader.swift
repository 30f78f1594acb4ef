internal import EDM
internal import ODataQuery

/// Reads entities with the same members as the preceding one: the same properties in the same order with plain values,
/// as in the rows of a page.
///
/// The values are decoded directly from the bytes without an intermediate JSON tree, which otherwise takes most of the
/// time. Any deviation (an escape in a name, an expansion, a value of a different kind, an error) is left to the
/// general parser, which alone decides about validity and reports errors.
struct RowReader: Sendable {
    /// The common structure of the rows.
    fileprivate final class Shape: Sendable {
        /// The members' names as services write them, concatenated: `"ID":,"Name":,"City":`.
        let text: [UInt8]
        let members: [Member]
        /// The names of the properties.
        let names: [String]
        /// The names for encoded values, or nil if values are not encoded.
        let encodedNames: PropertyNames?

        struct Member: Sendable {
            /// The end of the name in the text.
            var end: Int
            var kind: ValueKind
        }

        enum ValueKind: Sendable {
            case integer(ClosedRange<Int64>)
            case decimal, double, boolean, string, guid, dateTimeOffset, enumeration
            /// Any other type whose values are JSON strings.
            case text(PrimitiveType)
            case etag
        }

        init(text: [UInt8], members: [Member], names: [String], encodes: Bool) {
            self.text = text
            self.members = members
            self.names = names
            encodedNames = encodes ? PropertyNames(names) : nil
        }
    }

    /// Whether the values of the rows are encoded; see ``PayloadReader/encodesRows``.
    var encodes = false
    private var shape: Shape?
    /// The memory in which the values of a row are encoded.
    private var encoded = ByteWriter()
    /// The number of consecutive rows that differed from the preceding one.
    private var misses = 0

    /// The number of misses after which the reader gives up.
    private static let missLimit = 16

    // MARK: Columns

    /// Takes over the structure of an entity that the general parser has read.
    ///
    /// - Parameter type: The entity's own type. It must be the declared type, because rows do not contain their type.
    mutating func adoptSchema(_ object: JSONObject, type: EntityType, version: ODataVersion) {
        guard misses < Self.missLimit else { return }
        misses += 1
        shape = nil
        guard !version.isLegacy else { return }
        var text: [UInt8] = []
        var members: [Shape.Member] = []
        var names: [String] = []
        var seen: Set<String> = []
        for member in object.members {
            guard let kind = Self.kind(member.name, type), seen.insert(member.name).inserted,
                member.name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C })
            else { return }
            text += Array("\(members.isEmpty ? "" : ",")\"\(member.name)\":".utf8)
            members.append(Shape.Member(end: text.count, kind: kind))
            if case .etag = kind { continue }
            names.append(member.name)
        }
        guard !names.isEmpty else { return }
        shape = Shape(text: text, members: members, names: names, encodes: encodes)
    }

    private static func kind(_ name: String, _ type: EntityType) -> Shape.ValueKind? {
        guard MemberName.isPlain(name) else { return name == "@odata.etag" || name == "@etag" ? .etag : nil }
        guard let property = type.findProperty(name), !property.isNavigation, !property.type.isCollection else {
            return nil
        }
        switch property.type.kind {
        case .primitive(let type), .typeDefinition(_, let type):
            switch type {
            case .decimal: return .decimal
            case .double: return .double
            case .boolean: return .boolean
            case .string: return .string
            case .guid: return .guid
            case .dateTimeOffset: return .dateTimeOffset
            case .binary, .date, .timeOfDay, .duration: return .text(type)
            default: return type.integerRange.map(Shape.ValueKind.integer)
            }
        case .enumeration: return .enumeration
        case .complex, .entity, .unresolved: return nil
        }
    }

    // MARK: Rows

    /// Reads the next value if it is a row with the same structure. Otherwise returns nil and consumes nothing.
    mutating func read(_ scanner: inout JSONScanner) -> EntityPayload? {
        guard let shape, scanner.hasRoomForObject else { return nil }
        let found = scanner.bytes.withUnsafeBytes { bytes in
            shape.text.withUnsafeBytes { Self.row(shape, $0, RowCursor(bytes, at: scanner.offset), &encoded) }
        }
        guard let (row, end) = found else { return nil }
        scanner.offset = end
        misses = 0
        return row
    }

    /// Returns the row and its end.
    private static func row(
        _ shape: Shape, _ text: UnsafeRawBufferPointer, _ start: RowCursor, _ encoded: inout ByteWriter
    ) -> (row: EntityPayload, end: Int)? {
        var cursor = start
        var etag: String?
        var values: [Value] = []
        if shape.encodedNames == nil { values.reserveCapacity(shape.names.count) }
        encoded.removeAll()
        cursor.skipWhitespace()
        guard cursor.consume(UInt8(ascii: "{")) else { return nil }
        var nameStart = 0
        for member in shape.members {
            guard cursor.takeName(text, nameStart..<member.end) else { return nil }
            nameStart = member.end
            if case .etag = member.kind {
                guard let tag = cursor.string() else { return nil }
                etag = tag.text
                continue
            }
            guard let value = value(member.kind, &cursor) else { return nil }
            switch value {
            case .inPlace(let packed) where shape.encodedNames != nil: encoded.value(packed)
            case .decoded(let value) where shape.encodedNames != nil: encoded.value(value)
            case .inPlace(let packed): values.append(Value(packed))
            case .decoded(let value): values.append(value)
            }
        }
        cursor.skipWhitespace()
        guard cursor.consume(UInt8(ascii: "}")) else { return nil }
        let properties =
            if let names = shape.encodedNames {
                PropertyValues(encoded, named: names)
            } else {
                PropertyValues(distinctNames: shape.names, values: values)
            }
        return (EntityPayload(etag: etag, values: properties), cursor.offset)
    }

    private enum RowValue {
        /// A text is a reference to the bytes of the row, so that no string is created.
        case inPlace(PackedValue)
        case decoded(Value)

        init(_ string: RowString, _ inPlace: (UnsafeRawBufferPointer) -> PackedValue, _ decoded: (String) -> Value) {
            self =
                switch string {
                case .inPlace(let bytes): .inPlace(inPlace(bytes))
                case .unescaped(let text): .decoded(decoded(text))
                }
        }
    }

    private static func value(_ kind: Shape.ValueKind, _ cursor: inout RowCursor) -> RowValue? {
        if cursor.next == UInt8(ascii: "n") { return cursor.consume("null") ? .inPlace(.null) : nil }
        switch kind {
        case .integer(let range):
            guard let number = cursor.wholeNumber(), range.contains(number) else { return nil }
            return .inPlace(.integer(number))
        case .decimal:
            return cursor.decimal().map {
                RowValue($0, PackedValue.decimal) { .decimal(DecimalValue(canonical: $0)) }
            }
        case .double: return cursor.exactDouble().map { .inPlace(.double($0)) }
        case .boolean:
            if cursor.consume("true") { return .inPlace(.boolean(true)) }
            return cursor.consume("false") ? .inPlace(.boolean(false)) : nil
        case .string: return cursor.string().map { RowValue($0, PackedValue.string, Value.string) }
        case .enumeration: return cursor.string().map { RowValue($0, PackedValue.enumeration, Value.enumeration) }
        case .guid: return cursor.plainText().flatMap { GuidValue(utf8: $0) }.map { .inPlace(.guid($0)) }
        case .dateTimeOffset:
            guard let text = cursor.plainText() else { return nil }
            if let plain = GlobalDateTime(plain: text) { return .inPlace(.dateTimeOffset(plain)) }
            return GlobalDateTime(String(decoding: text, as: UTF8.self)).map { .inPlace(.dateTimeOffset($0)) }
        case .text(let type):
            guard let text = cursor.string()?.text else { return nil }
            return (try? PrimitiveLiteral.parse(text, as: type, version: .v4, form: .json)).map(RowValue.decoded)
        case .etag: return nil
        }
    }
}

extension JSONScanner {
    /// Whether an object may begin here within the depth limit.
    fileprivate var hasRoomForObject: Bool { openIsEmpty.count < limits.depth }
}
