import CSQLite
import EDM
import SyncCore

/// The current row of a query.
package struct Row {
    let statement: OpaquePointer

    package var count: Int { Int(sqlite3_column_count(statement)) }

    package subscript(_ column: Int) -> SQLValue {
        let index = Int32(column)
        switch sqlite3_column_type(statement, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, index))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, index))
        case SQLITE_TEXT: return .text(text(column) ?? "")
        case SQLITE_BLOB: return .blob(blob(column))
        default: return .null
        }
    }

    package func isNull(_ column: Int) -> Bool { sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL }

    package func integer(_ column: Int) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }

    package func text(_ column: Int) -> String? {
        guard let pointer = sqlite3_column_text(statement, Int32(column)) else { return nil }
        let length = Int(sqlite3_column_bytes(statement, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: pointer, count: length), as: UTF8.self)
    }

    /// Returns whether a text has these bytes; nil if the column is null.
    func hasText(_ column: Int, _ text: String) -> Bool? {
        guard let bytes = textBytes(column) else { return nil }
        let isSame = text.utf8.withContiguousStorageIfAvailable {
            UnsafeRawBufferPointer($0).hasSameBytes(as: bytes)
        }
        return isSame ?? false
    }

    /// Returns a text that many rows repeat, as a shared string; empty if the column is null.
    func text(_ column: Int, _ names: NameTable) -> String {
        textBytes(column).flatMap(names.string) ?? text(column) ?? ""
    }

    private func textBytes(_ column: Int) -> UnsafeRawBufferPointer? {
        guard let pointer = sqlite3_column_text(statement, Int32(column)) else { return nil }
        return UnsafeRawBufferPointer(start: pointer, count: Int(sqlite3_column_bytes(statement, Int32(column))))
    }

    /// Calls `body` with the bytes in SQLite's memory, which are valid only during the call.
    func withBlob<T>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws(StateError) -> T) throws(StateError) -> T {
        let pointer = sqlite3_column_blob(statement, Int32(column))
        let length = pointer == nil ? 0 : Int(sqlite3_column_bytes(statement, Int32(column)))
        return try body(UnsafeRawBufferPointer(start: pointer, count: length))
    }

    package func blob(_ column: Int) -> [UInt8] {
        guard let pointer = sqlite3_column_blob(statement, Int32(column)) else { return [] }
        let length = Int(sqlite3_column_bytes(statement, Int32(column)))
        return Array(UnsafeRawBufferPointer(start: pointer, count: length))
    }
}
