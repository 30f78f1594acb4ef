package import EDM
import Operations

/// The binary form of snapshot items, built from the elements of the record codec.
///
/// An item consists of its kind, which the log stores as the record kind, and a payload: the required fields of the
/// kind, and its optional fields with tags; see `Docs/RecordFormat.md`. Unlike a record, an item of an unknown kind or
/// with an unknown field cannot be skipped, because the state would be incomplete without it.
///
/// An item may exceed the size of a log record, for example a row that grew by several updates. All of it except the
/// end is then written before, in records of the kind *piece*.
package enum SnapshotCodec {
    /// The number of an item's kind. It is part of the format and is never reused. Kinds ascend in a snapshot.
    package enum ItemKind: UInt8, Sendable, CaseIterable {
        case header = 1
        case service = 2
        case query = 3
        case entity = 4
        case key = 5
        case row = 6
        case base = 7
        case link = 8
        case coverage = 9
        /// A pending operation, or an undone one.
        case operation = 10
        case openBatch = 11
        case ancestor = 12
        case streams = 13
        /// A list that is stored as one item: the events, the dangling links, or the quarantine.
        case list = 14
        case end = 15
    }

    /// The kind of a record that contains a part of the next item.
    package static let pieceKind: UInt8 = 64
    /// The largest part of an item in one record, in bytes.
    static let pieceLength = 4 << 20
    /// The largest size of an item in bytes. It bounds the memory that a malicious snapshot can consume.
    static let maximumLength = 64 << 20

    /// Encodes an item. Equal items always give equal bytes.
    package static func encode(_ item: SnapshotItem) -> (kind: ItemKind, payload: [UInt8]) {
        var writer = ByteWriter()
        let kind = ItemKind(item)
        writer.item(item)
        if !kind.endsWithFields { writer.end() }
        return (kind, writer.bytes)
    }

    /// Decodes an item.
    ///
    /// - Throws: An error if the payload does not match the kind. It never traps, whatever the bytes.
    package static func decode(_ kind: ItemKind, payload: [UInt8]) throws(CodecError) -> SnapshotItem {
        try decode(kind, payload: payload[...], names: nil)
    }

    /// Decodes an item, with interned names.
    ///
    /// - Parameter names: A table of interned names, or nil. If it is not nil, the values of entities stay encoded.
    static func decode(
        _ kind: ItemKind, payload: ArraySlice<UInt8>, names: NameTable?
    ) throws(CodecError) -> SnapshotItem {
        let outcome = payload.withUnsafeBytes { bytes in
            do throws(CodecError) {
                let item = try ByteReader.read(bytes, names: names) { reader throws(CodecError) in
                    let item = try reader.item(kind)
                    if !kind.endsWithFields { try reader.end() }
                    return item
                }
                return Result<SnapshotItem, CodecError>.success(item)
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }
}

extension SnapshotCodec.ItemKind {
    /// Whether the content of the item is one structure, whose optional fields are those of the item.
    fileprivate var endsWithFields: Bool {
        switch self {
        case .header, .query, .row, .operation, .openBatch: true
        default: false
        }
    }

    fileprivate init(_ item: SnapshotItem) {
        self =
            switch item {
            case .header: .header
            case .service: .service
            case .query: .query
            case .entity: .entity
            case .key: .key
            case .row: .row
            case .base: .base
            case .link: .link
            case .coverage: .coverage
            case .pending, .undone: .operation
            case .openBatch: .openBatch
            case .ancestor: .ancestor
            case .streams: .streams
            case .events, .openLinks, .quarantine: .list
            case .end: .end
            }
    }
}

/// The number of a status. It is part of the format and is never reused.
enum StatusTag: UInt8 {
    case pending = 0
    case inFlight = 1
    case inDoubt = 2
    case rejected = 3
    case deferred = 4
}

/// The number of a list. It is part of the format and is never reused.
enum ListTag: UInt8 {
    case events = 1
    case openLinks = 2
    case quarantine = 3
}
