/// A value of a parameter, in the binary format of PostgreSQL.
enum PostgresValue: Sendable, Hashable {
    case integer(Int64?)
    case text(String?)
    case bytes([UInt8]?)
    case flag(Bool)
    case integers([Int64?])
    case texts([String?])
    case byteStrings([[UInt8]?])

    /// The number of the type in the catalog of every server.
    var type: UInt32 {
        switch self {
        case .integer: 20
        case .text: 25
        case .bytes: 17
        case .flag: 16
        case .integers: 1016
        case .texts: 1009
        case .byteStrings: 1001
        }
    }

    /// The bytes of the value, or `nil` for null.
    var encoded: [UInt8]? {
        switch self {
        case .integer(let value): value.map(Self.bigEndian)
        case .text(let value): value.map(Self.utf8)
        case .bytes(let value): value
        case .flag(let value): [value ? 1 : 0]
        case .integers(let values): Self.array(values.map { $0.map(Self.bigEndian) }, of: 20)
        case .texts(let values): Self.array(values.map { $0.map(Self.utf8) }, of: 25)
        case .byteStrings(let values): Self.array(values, of: 17)
        }
    }

    /// A text of PostgreSQL cannot contain U+0000.
    private static func utf8(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return bytes.contains(0) ? Array(text.replacing("\u{0}", with: "\u{FFFD}").utf8) : bytes
    }

    private static func bigEndian(_ value: Int64) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    private static func append(_ value: Int, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: Int32(truncatingIfNeeded: value).bigEndian) { bytes += $0 }
    }

    /// Returns an array with one dimension: dimensions, flags, type of the elements, count, first index, elements with
    /// their lengths.
    private static func array(_ elements: [[UInt8]?], of type: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + elements.reduce(0) { $0 + 4 + ($1?.count ?? 0) })
        append(elements.isEmpty ? 0 : 1, to: &bytes)
        append(elements.contains { $0 == nil } ? 1 : 0, to: &bytes)
        append(type, to: &bytes)
        if elements.isEmpty { return bytes }
        append(elements.count, to: &bytes)
        append(1, to: &bytes)
        for element in elements {
            append(element?.count ?? -1, to: &bytes)
            if let element { bytes += element }
        }
        return bytes
    }
}
