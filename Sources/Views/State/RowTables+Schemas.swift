import EDM
import Operations
import SyncCore

/// The lists of property names that rows have, interned with numbers. A row contains only its values and the number of
/// its list, so that the names neither take space in each row nor are read with it.
///
/// Not `Sendable`: it belongs to the state's connection.
final class RowSchemas {
    /// The maximum number of lists, so that a service whose rows all have different names does not fill the memory.
    /// Further rows contain their names, marked by the number zero.
    static let limit: Int64 = 4_096

    /// The numbers by encoded names, because equal strings may have different bytes.
    fileprivate var numbers: [[UInt8]: Int64] = [:]
    fileprivate var lists: [Int64: PropertyNames] = [:]
    /// The sets and types of rows that were read lately.
    private var kinds: [EntityKind] = []
    private static let kindLimit = 32
    var last = RowForm()

    /// Discards the cached lists after a rollback, which may have removed numbers.
    func removeAll() { (numbers, lists, last) = ([:], [:], RowForm()) }

    /// Returns the shared object for a set and a type, or for a type with which the set was read before.
    fileprivate func kind(_ set: String, _ type: String?) -> EntityKind {
        let known = kinds.first { known in
            known.set.isExactly(set) && (type.map { known.type.isExactly($0) } ?? true)
        }
        if let known { return known }
        if kinds.count >= Self.kindLimit { kinds = [] }
        let kind = EntityKind(set: set, type: type ?? "")
        kinds.append(kind)
        return kind
    }
}

/// The set, the type and the names of the last read row. Most rows have those of the previous one.
struct RowForm {
    private var kind = EntityKind(set: "", type: "")
    /// The number of the names; zero if the row contains them.
    private var number: Int64 = 0
    private var names: PropertyNames?

    /// Prepares for the rows of a set.
    mutating func use(_ set: String, _ tables: RowTables) {
        if !kind.set.isExactly(set) { kind = tables.shapes.kind(set, nil) }
    }

    /// Returns the entity in a row of the set with ``RowTables/columns``. Its values are copied to the page.
    mutating func entity(
        _ row: Row, only subset: PropertySubset?, _ tables: RowTables, _ page: inout PackedPage
    ) throws(StateError) -> EntityRow {
        guard let origin = EntityRow.Origin(rawValue: UInt8(truncatingIfNeeded: row.integer(1))),
            let isSameType = row.hasText(4, kind.type)
        else { throw StateError(.damaged, "The views contain an invalid row of \(kind.set).") }
        if !isSameType { kind = tables.shapes.kind(kind.set, row.text(4, tables.names)) }
        let number = row.integer(3)
        if number != self.number {
            names = number == 0 ? nil : try tables.shape(number)
            self.number = number
        }
        let names = names
        return EntityRow(
            id: row.entity(0), kind,
            values: try row.withBlob(7) { bytes throws(StateError) in
                try Self.values(bytes, names, subset, tables.names, &page)
            },
            etag: row.text(5), editLink: row.text(6), origin: origin, downloaded: row.unsigned(2))
    }

    private static func values(
        _ bytes: UnsafeRawBufferPointer, _ names: PropertyNames?, _ subset: PropertySubset?, _ cache: NameTable,
        _ page: inout PackedPage
    ) throws(StateError) -> PropertyValues {
        do throws(CodecError) {
            guard let names else { return try ValueCodec.decode(bytes, names: cache) }
            if let subset, let packed = subset.copy(of: bytes, named: names, to: &page) {
                return PropertyValues(packed)
            }
            if let packed = page.copy(bytes, named: names) { return PropertyValues(packed) }
            return try ValueCodec.decode(bytes, of: names)
        } catch {
            throw StateError(.damaged, "The views contain values that cannot be decoded. \(error)")
        }
    }
}

extension RowTables {
    /// Returns the number of a list of names. Assigns one if it has none. Returns zero above the limit.
    func number(of list: PropertyNames) throws(StateError) -> Int64 {
        if let known = shapes.numbers[list.encoded] { return known }
        let names = SQLValue.blob(list.encoded)
        var number = try first("SELECT id FROM shapes WHERE names = ?", [names])?.first?.integer
        if number == nil {
            let next = (try first("SELECT max(id) FROM shapes")?.first?.integer ?? 0) + 1
            if next <= RowSchemas.limit {
                try run("INSERT INTO shapes VALUES (?, ?)", [.integer(next), names])
                number = next
            }
        }
        if shapes.numbers.count >= RowSchemas.limit { shapes.numbers = [:] }
        shapes.numbers[list.encoded] = number ?? 0
        return number ?? 0
    }

    fileprivate func shape(_ number: Int64) throws(StateError) -> PropertyNames {
        if let known = shapes.lists[number] { return known }
        let list = try storedShape(number)
        shapes.lists[number] = list
        return list
    }

    private func storedShape(_ number: Int64) throws(StateError) -> PropertyNames {
        let encoded = try connection.untraced { () throws(StateError) in
            try first("SELECT names FROM shapes WHERE id = ?", [.integer(number)])?.first?.blob
        }
        guard let list = encoded.flatMap({ $0.withUnsafeBytes(PropertyNames.init(encoded:)) }) else {
            throw StateError(.damaged, "The views contain a row without the names of its values.")
        }
        return list
    }

    // MARK: Values of rows

    /// Returns the stored form of a row's values: the number of their names and the values alone, or zero and both.
    func stored(_ values: PropertyValues) throws(StateError) -> (shape: Int64, bytes: [UInt8]) {
        if let packed = values.packed(with: names) {
            let shape = try number(of: packed.names)
            if shape != 0 { return (shape, packed.bytes) }
        }
        return (0, ValueCodec.encode(values))
    }
}
