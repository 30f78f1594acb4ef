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
    fileprivate var last: (number: Int64, list: PropertyNames)?

    /// Discards the cached lists after a rollback, which may have removed numbers.
    func removeAll() { (numbers, lists, last) = ([:], [:], nil) }
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

    private func shape(_ number: Int64) throws(StateError) -> PropertyNames {
        if let last = shapes.last, last.number == number { return last.list }
        let known = shapes.lists[number]
        let list = if let known { known } else { try storedShape(number) }
        shapes.lists[number] = list
        shapes.last = (number, list)
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

    /// Returns the values in a column; another column contains the number of their names. The result owns its bytes.
    ///
    /// - Parameter subset: The properties that are needed, or nil for all. The result may have more.
    func values(
        _ row: Row, shape: Int, bytes column: Int, only subset: PropertySubset? = nil
    ) throws(StateError) -> PropertyValues {
        let number = row.integer(shape)
        guard number != 0 else {
            return try row.withBlob(column) { bytes throws(StateError) in
                try decode { () throws(CodecError) in try ValueCodec.decode(bytes, names: names) }
            }
        }
        let list = try self.shape(number)
        return try row.withBlob(column) { bytes throws(StateError) in
            if let subset, let values = subset.copy(of: bytes, named: list) { return values }
            if let packed = PackedProperties(names: list, copying: bytes) { return PropertyValues(packed) }
            return try decode { () throws(CodecError) in try ValueCodec.decode(bytes, of: list) }
        }
    }

    private func decode(_ body: () throws(CodecError) -> PropertyValues) throws(StateError) -> PropertyValues {
        do throws(CodecError) {
            return try body()
        } catch {
            throw StateError(.damaged, "The views contain values that cannot be decoded. \(error)")
        }
    }
}
