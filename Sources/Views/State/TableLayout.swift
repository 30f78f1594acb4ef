package import EDM
import SyncCore

/// The table of an entity set: the column of each property, and its type in SQLite.
package struct TableLayout: Sendable {
    /// The name of the table, quoted for SQL.
    package let table: String
    /// The name of the table as SQLite reports it.
    package let unquotedTable: String
    package let columns: [Column]

    package struct Column: Sendable {
        /// The path from the entity: `Name`, or `Address/City` for a property of a complex property.
        package let path: [String]
        /// The name of the column, quoted for SQL.
        package let name: String
        package let type: PrimitiveType
        let affinity: String
        /// The enumeration type of the property, if any. Its members are stored as the service sent them.
        var enumeration: String?
    }

    /// The paths of the key properties; empty if the set has no key.
    private let keys: [String]
    /// The groups of properties by which the fold searches. Each has an index.
    private let searched: [[String]]
    private let byPath: [[String]: Int]

    /// Creates the layout of a set.
    ///
    /// - Parameters:
    ///   - ordinal: The number among the sets whose names differ only in case, because SQLite would treat them as one
    ///     table.
    ///   - compared: The groups of properties that constraints compare with those of other entities.
    init(_ set: EntitySet, ordinal: Int, model: EntityDataModel, compared: [[String]] = []) {
        var searched = [set.entityType.keyParts.map(\.path)]
        for properties in compared where !searched.contains(properties) { searched.append(properties) }
        self.searched = searched
        keys = set.isSingleton || set.isContainedSingle ? [] : set.entityType.keyParts.map(\.path)
        unquotedTable = ordinal == 0 ? "set_\(set.name)" : "set_\(set.name)~\(ordinal)"
        table = Self.quoted(unquotedTable)
        var columns: [Column] = []
        var used: Set<String> = Set(Self.ownColumns)
        // The set may contain entities of derived types; their properties are columns too.
        var seen: Set<[String]> = []
        for type in model.entityTypes(derivedFrom: set.entityType) {
            Self.add(type.properties, [], to: &columns, &used, &seen, model)
        }
        self.columns = columns
        byPath = Dictionary(columns.enumerated().map { ($0.element.path, $0.offset) }, uniquingKeysWith: { a, _ in a })
    }

    /// Returns the column of a property, or of a path such as `Address/Street`.
    func column(at path: String) -> Column? {
        path.utf8.contains(UInt8(ascii: "/")) ? column(path.split(separator: "/").map(String.init)) : column([path])
    }

    package func column(_ path: [String]) -> Column? { byPath[path].map { columns[$0] } }

    /// The maximum number of columns. SQLite's limit is 2,000; further properties are only in the row's values.
    private static let columnLimit = 1_500

    private static func add(
        _ properties: [Property], _ prefix: [String], to columns: inout [Column], _ used: inout Set<String>,
        _ seen: inout Set<[String]>, _ model: EntityDataModel
    ) {
        for property in properties where !property.isCollection && columns.count < columnLimit {
            let path = prefix + [property.name]
            guard seen.insert(path).inserted else { continue }
            switch property.type.kind {
            case .primitive(let type), .typeDefinition(_, let type):
                guard let affinity = affinity(type) else { continue }
                columns.append(Column(path: path, name: name(path, &used), type: type, affinity: affinity))
            case .enumeration(let type):
                columns.append(
                    Column(path: path, name: name(path, &used), type: .string, affinity: "TEXT", enumeration: type))
            case .complex(let name):
                guard prefix.count < 3, let complex = model.findComplexType(name) else { continue }
                add(complex.properties, path, to: &columns, &used, &seen, model)
            case .entity, .unresolved: continue
            }
        }
    }

    private static func affinity(_ type: PrimitiveType) -> String? {
        switch type {
        case .boolean, .byte, .sbyte, .int16, .int32, .int64: "INTEGER"
        case .single, .double: "REAL"
        case .binary: "BLOB"
        case .decimal: "TEXT COLLATE DECIMAL"
        case .string, .guid, .date, .dateTime, .dateTimeOffset, .duration, .time, .timeOfDay: "TEXT"
        default: nil
        }
    }

    private static func name(_ path: [String], _ used: inout Set<String>) -> String {
        let base = path.joined(separator: "/")
        var candidate = base
        var number = 2
        while !used.insert(candidate.lowercased()).inserted {
            candidate = "\(base)~\(number)"
            number += 1
        }
        return quoted(candidate)
    }

    static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    // MARK: SQL

    /// The columns of each row before those of its properties. A read of a whole row needs only these.
    package static let ownColumns = [
        "entity", "origin", "downloaded", "shape", "type", "etag", "edit_link", "property_values",
    ]

    /// The statements that create the table and its indexes.
    var createStatements: [String] {
        let declared = columns.map { ", \($0.name) \($0.affinity)" }.joined()
        let keyless = keyless.map {
            "CREATE INDEX \(Self.quoted("keyless_of_" + bareName)) ON \(table) (entity) WHERE \($0)"
        }
        return [
            """
            CREATE TABLE \(table) (entity INTEGER PRIMARY KEY, origin INTEGER NOT NULL, downloaded INTEGER NOT NULL, \
            shape INTEGER NOT NULL, type TEXT NOT NULL, etag TEXT, edit_link TEXT, property_values BLOB NOT NULL\(declared))
            """
        ] + (keyless.map { [$0] } ?? [])
            + searched.enumerated().compactMap { createIndex(over: $0.element, number: $0.offset + 1) }
    }

    /// The condition for rows that the service has and whose keys are unknown; nil if no columns contain the key.
    var keyless: String? {
        let columns = keys.compactMap { column(at: $0)?.name }
        guard !keys.isEmpty, columns.count == keys.count else { return nil }
        return "origin <> 0 AND (\(columns.map { "\($0) IS NULL" }.joined(separator: " OR ")))"
    }

    private var bareName: Substring { table.dropFirst().dropLast() }

    /// Returns the statement for an index over columns, for keys and dependent properties; nil if one has no column.
    func createIndex(over properties: [String], number: Int) -> String? {
        let names = properties.compactMap { column(at: $0)?.name }
        guard names.count == properties.count, !names.isEmpty else { return nil }
        let index = Self.quoted("index_\(number)_of_" + bareName)
        return "CREATE INDEX \(index) ON \(table) (\(names.joined(separator: ", ")))"
    }

    private var allColumns: [String] { Self.ownColumns + columns.map(\.name) }

    /// The table with the columns that an insertion sets.
    private var target: String { "\(table) (\(allColumns.joined(separator: ", ")))" }

    private var insertion: String {
        "INTO \(target) VALUES (\(allColumns.map { _ in "?" }.joined(separator: ", ")))"
    }

    /// The insertion of many new rows; nil if too few rows fit a statement.
    package var blockInsertion: BlockInsertion? {
        let insertion = BlockInsertion(into: target, columns: allColumns.count)
        return insertion.size < Self.smallestBlock ? nil : insertion
    }

    /// The number of rows from which a block takes less time than a statement for each row.
    static let smallestBlock = 4

    /// The statement that inserts a row or updates the stored one. It changes no row if the stored one has other values
    /// in the columns of the fold's indexes.
    ///
    /// SQLite writes the index entries of all columns that a statement sets, also if their values are the same. Most
    /// updates change none of these columns, whose index entries are spread over the file.
    package var upsert: String {
        var indexed = Set(searched.joined().compactMap { column(at: $0)?.name })
        if indexed.count > Self.comparedLimit { indexed = [] }
        let assigned = allColumns.filter { $0 != "entity" && !indexed.contains($0) }
        // Bytes are compared, because equal decimals may have different texts.
        let same = indexed.sorted().map { "\($0) IS excluded.\($0) COLLATE BINARY" }
        return "INSERT \(insertion) ON CONFLICT (entity) DO UPDATE SET "
            + assigned.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
            + (same.isEmpty ? "" : " WHERE " + same.joined(separator: " AND "))
    }

    /// The number of columns that a row is compared by. SQLite's limit for conditions is about 1,000.
    private static let comparedLimit = 100

    /// The statement that replaces a row, with all its index entries.
    package var replace: String { "INSERT OR REPLACE \(insertion)" }

    /// Returns the row's values for the columns, in their order.
    func columnValues(_ values: PropertyValues) -> [SQLValue] {
        columns.map { column in column.value(of: values[column.path[0]]) }
    }
}

extension TableLayout.Column {
    /// Returns the column's value, from the value of the first property of its path.
    func value(of property: Value?) -> SQLValue {
        guard var value = property else { return .null }
        for name in path.dropFirst() {
            guard let inner = value.complexValue?.properties[name] else { return .null }
            value = inner
        }
        return SQLValue(value)
    }
}

extension SQLValue {
    /// The stored form of NaN, which SQLite treats as null. Numeric columns store the text, and sort it after all
    /// numbers.
    static let notANumber = SQLValue.text("NaN")

    static func floating(_ number: Double) -> SQLValue { number.isNaN ? notANumber : .real(number) }

    /// Converts a value to its form in a column. Equal values have equal forms: times without insignificant fractional
    /// digits, and decimals by the collation of their column.
    package init(_ value: Value) {
        self =
            switch value {
            case .null, .complex, .collection: .null
            case .boolean(let flag): .integer(flag ? 1 : 0)
            case .integer(let number): .integer(number)
            case .single(let number): .floating(Double(number))
            case .double(let number): .floating(number)
            case .decimal(let number): .text(number.text)
            case .string(let text), .enumeration(let text), .raw(let text): .text(text)
            case .binary(let bytes): .blob(bytes)
            case .guid(let guid): .text(guid.description)
            case .date(let date): .text(date.description)
            case .timeOfDay(let time): .text(ShortText.string { time.write(&$0, isCanonical: true) })
            case .duration(let duration): .text(duration.description)
            case .dateTime(let dateTime): .text(ShortText.string { dateTime.write(&$0, isCanonical: true) })
            case .dateTimeOffset(let dateTime): .text(ShortText.string { dateTime.write(&$0, isCanonical: true) })
            }
    }
}
