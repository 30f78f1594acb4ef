import CSQLite
package import EDM
import ODataQuery

/// The SQL functions of a connection for expressions that plain SQL cannot evaluate. They use the evaluator that also
/// answers queries in memory, so that a compiled filter has the same meaning.
///
/// - `tl_test(id, …)`: the value of a registered expression for its operands, in conditions
/// - `tl_key(id, …)`: the same value as text, for sorting with the collation `TIDELOG_VALUE`
/// - `tl_member(id, x)`: the number of an enumeration's member, for sorting; an unknown member is returned unchanged
/// - `tl_search(id, …)`: whether a registered search matches the texts
/// - `tl_sortkey(kind, x)`: a date, time or duration as bytes in their order
///
/// Belongs to one connection, one call at a time. All functions are pure.
package final class SQLFunctions {
    struct Entry: Hashable {
        let expression: Expression
        /// The operands, with the aliases `0`, `1` and so on.
        let operands: [Operand]
    }

    /// The key of an expression includes its text, because equal expressions may differ: 1.50 and 1.5 are equal, and so
    /// are texts with differently composed characters, but functions distinguish them.
    private struct Key: Hashable {
        let entry: Entry
        let text: [UInt8]

        init(_ entry: Entry) {
            self.entry = entry
            text = (try? entry.expression.print(version: .v401)).map { Array($0.utf8) } ?? []
        }
    }

    struct Operand: Hashable {
        let kind: StoredKind
        /// The enumeration of a member.
        let enumeration: String?

        func expression(_ stored: SQLValue) -> Expression {
            let value = kind.value(stored)
            if let enumeration, case .string(let text) = value { return .enumeration(type: enumeration, value: text) }
            return .literal(value, nil)
        }
    }

    private var entries: [Int64: Entry] = [:]
    private var numbers: [Key: Int64] = [:]
    private var nextNumber: Int64 = 1
    private let evaluator: ExpressionEvaluator

    /// The maximum number of registered expressions. Filters of an app can differ without limit; those of finished
    /// statements are discarded.
    private static let limit: Int64 = 4096

    private var searches: [Int64: SearchExpression] = [:]
    private var searchNumbers: [SearchExpression: Int64] = [:]

    /// The registered enumerations. They are few, and never discarded.
    private var enumerations: [EnumerationType] = []
    private var enumerationNumbers: [String: Int] = [:]

    /// The error of the last call, because SQLite returns only a text.
    private var failure: EvaluationError?

    init(model: EntityDataModel?) { evaluator = ExpressionEvaluator(model: model) }

    var model: EntityDataModel? { evaluator.model }

    /// Returns the error of the evaluator, if it caused the last statement to fail.
    func takeFailure() -> EvaluationError? {
        defer { failure = nil }
        return failure
    }

    fileprivate func fail(_ error: EvaluationError) { failure = error }

    /// Registers the functions on a connection, which retains them while it is open. `tl_sortkey` is not one of them; see
    /// ``Connection/registerSortKey()``.
    ///
    /// - Parameter model: The model, for the numbers of flags and for derived types. Register again after the metadata
    ///   has changed.
    package static func register(on connection: Connection, model: EntityDataModel?) throws(SQLiteError) -> SQLFunctions
    {
        let functions = SQLFunctions(model: model)
        connection.registrations.append(functions)
        let context = Unmanaged.passUnretained(functions).toOpaque()
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
        var code = sqlite3_create_function_v2(
            connection.rawHandle, "tl_test", -1, flags, context, { functionCall($0, $1, $2, asKey: false) }, nil, nil,
            nil)
        if code == SQLITE_OK {
            code = sqlite3_create_function_v2(
                connection.rawHandle, "tl_key", -1, flags, context, { functionCall($0, $1, $2, asKey: true) }, nil, nil,
                nil)
        }
        if code == SQLITE_OK {
            code = sqlite3_create_function_v2(
                connection.rawHandle, "tl_search", -1, flags, context, { searchCall($0, $1, $2) }, nil, nil, nil)
        }
        if code == SQLITE_OK {
            code = sqlite3_create_function_v2(
                connection.rawHandle, "tl_member", 2, flags, context, { memberCall($0, $1, $2) }, nil, nil, nil)
        }
        if code == SQLITE_OK {
            code = sqlite3_create_collation_v2(
                connection.rawHandle, "TIDELOG_VALUE", SQLITE_UTF8, nil,
                { _, leftCount, left, rightCount, right in
                    let (a, b) = (SortableText.value(left, leftCount), SortableText.value(right, rightCount))
                    switch a.sortOrder(to: b) {
                    case .ascending: return -1
                    case .same: return 0
                    case .descending: return 1
                    }
                }, nil)
        }
        guard code == SQLITE_OK else {
            throw SQLiteError(code: code & 0xFF, message: "cannot register the query functions", sql: nil)
        }
        return functions
    }

    func number(of entry: Entry) -> Int64 {
        let key = Key(entry)
        if let number = numbers[key] { return number }
        let number = nextNumber
        nextNumber += 1
        entries[number] = entry
        // An expression with NaN is not equal to itself, so it could be neither found nor removed.
        if key == key { numbers[key] = number }
        if number > Self.limit, let old = entries.removeValue(forKey: number - Self.limit) { numbers[Key(old)] = nil }
        return number
    }

    func number(of search: SearchExpression) -> Int64 {
        if let number = searchNumbers[search] { return number }
        let number = Int64(searches.count + 1)
        guard number <= Self.limit else {
            searches = [:]
            searchNumbers = [:]
            return self.number(of: search)
        }
        searches[number] = search
        searchNumbers[search] = number
        return number
    }

    /// Returns the number of an enumeration, or nil if the model does not have it.
    func number(ofEnumeration name: String) -> Int? {
        if let number = enumerationNumbers[name] { return number }
        guard let type = model?.enumerationType(named: name) else { return nil }
        enumerations.append(type)
        enumerationNumbers[name] = enumerations.count - 1
        return enumerations.count - 1
    }

    fileprivate func member(_ enumeration: Int64, _ stored: SQLValue) -> SQLValue {
        guard let place = Int(exactly: enumeration), enumerations.indices.contains(place), let text = stored.text else {
            return stored
        }
        return enumerations[place].number(of: .enumeration(text)).map { .integer($0) } ?? stored
    }

    fileprivate func find(_ number: Int64, _ stored: [SQLValue]) -> Bool {
        searches[number]?.matches(stored.compactMap(\.text)) ?? false
    }

    fileprivate func evaluate(_ number: Int64, _ stored: [SQLValue]) throws(EvaluationError) -> Value {
        guard let entry = entries[number], entry.operands.count == stored.count else {
            throw EvaluationError(.unsupported, "The compiled expression no longer exists.")
        }
        var run = evaluator
        run.aliases = zip(entry.operands, stored).enumerated().map { index, operand in
            QueryOptions.ParameterAlias(name: "\(index)", value: operand.0.expression(operand.1))
        }
        return try run.evaluate(entry.expression, for: EvaluationScope(property: { _ in nil }))
    }
}

private func functionCall(
    _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?, asKey: Bool
) {
    guard let pointer = sqlite3_user_data(context), let arguments, count > 0 else { return }
    let functions = Unmanaged<SQLFunctions>.fromOpaque(pointer).takeUnretainedValue()
    let stored = (1..<max(1, Int(count))).map { SQLValue(raw: arguments[$0]) }
    do throws(EvaluationError) {
        let value = try functions.evaluate(sqlite3_value_int64(arguments[0]), stored)
        switch value {
        case _ where asKey: SortableText.text(value).setResult(context)
        case .boolean, .null: SQLValue(value).setResult(context)
        // SQLite has its own rules for texts and numbers in conditions.
        default: throw EvaluationError(.wrongOperand, "Expected a condition, not \(value.kindName).")
        }
    } catch {
        functions.fail(error)
        sqlite3_result_error(context, error.message, -1)
    }
}

extension Connection {
    /// Registers `tl_sortkey`, which does not depend on a model. Tables with an index over it cannot be written without
    /// it. Once for each connection: SQLite prepares every statement again when a function is replaced.
    func registerSortKey() throws(SQLiteError) {
        let code = sqlite3_create_function_v2(
            rawHandle, "tl_sortkey", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil,
            { sortKeyCall($0, $1, $2) }, nil, nil, nil)
        if code != SQLITE_OK { throw SQLiteError(code: code & 0xFF, message: "cannot register a function", sql: nil) }
    }
}

private func searchCall(
    _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let pointer = sqlite3_user_data(context), let arguments, count > 0 else { return }
    let functions = Unmanaged<SQLFunctions>.fromOpaque(pointer).takeUnretainedValue()
    let stored = (1..<max(1, Int(count))).map { SQLValue(raw: arguments[$0]) }
    sqlite3_result_int(context, functions.find(sqlite3_value_int64(arguments[0]), stored) ? 1 : 0)
}

private func memberCall(
    _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let pointer = sqlite3_user_data(context), let arguments, count == 2 else { return }
    let functions = Unmanaged<SQLFunctions>.fromOpaque(pointer).takeUnretainedValue()
    functions.member(sqlite3_value_int64(arguments[0]), SQLValue(raw: arguments[1])).setResult(context)
}

private func sortKeyCall(
    _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let arguments, count == 2, let kind = StoredKind(rawValue: sqlite3_value_int64(arguments[0])),
        let bytes = SortKey.bytes(kind.value(SQLValue(raw: arguments[1])))
    else { return }
    SQLValue.blob(bytes).setResult(context)
}

/// A value as text that contains its type: the letter of the kind, then the value.
enum SortableText {
    static func text(_ value: Value) -> SQLValue {
        guard let kind = StoredKind(value), let letter = Unicode.Scalar(UInt32(0x61 + kind.rawValue)) else {
            return .null
        }
        let text =
            switch value {
            case .binary(let bytes): bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
            default: PrimitiveLiteral.format(value, version: .v4, form: .text)
            }
        return .text("\(letter)\(text)")
    }

    static func value(_ bytes: UnsafeRawPointer?, _ count: Int32) -> Value {
        guard let bytes, count > 0 else { return .null }
        let text = String(decoding: UnsafeRawBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
        guard let letter = text.utf8.first, let kind = StoredKind(rawValue: Int64(letter) - 0x61) else { return .null }
        // A combining character at the start would be part of the letter.
        let content = String(text.unicodeScalars.dropFirst())
        switch kind {
        case .boolean: return .boolean(content == "true")
        case .integer: return Int64(content).map { .integer($0) } ?? .null
        case .single, .double:
            return (try? PrimitiveLiteral.parse(content, as: .double, version: .v4, form: .text)) ?? .null
        case .binary: return .binary(Array(content.utf8))
        default: return kind.value(.text(content))
        }
    }
}

extension SQLValue {
    init(raw value: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
        case SQLITE_TEXT:
            let pointer = sqlite3_value_text(value)
            let bytes = UnsafeBufferPointer(start: pointer, count: Int(sqlite3_value_bytes(value)))
            self = .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let pointer = sqlite3_value_blob(value)
            self = .blob(Array(UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_value_bytes(value)))))
        default: self = .null
        }
    }

    func setResult(_ context: OpaquePointer?) {
        switch self {
        case .null: sqlite3_result_null(context)
        case .integer(let number): sqlite3_result_int64(context, number)
        case .real(let number): sqlite3_result_double(context, number)
        case .text(let text):
            var text = text
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_result_text64(
                        context, $0.baseAddress, UInt64($0.count), sqliteTransient, UInt8(SQLITE_UTF8))
                }
            }
        case .blob(let bytes):
            bytes.withUnsafeBytes {
                sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), sqliteTransient)
            }
        }
    }
}
