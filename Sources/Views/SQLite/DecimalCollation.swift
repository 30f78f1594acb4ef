import CSQLite
import EDM

extension Connection {
    /// Registers the collation `DECIMAL`, which orders decimal texts by their number: `9` before `10`, `1.5` equal to `1.50`.
    package func registerDecimalCollation() throws(SQLiteError) {
        let code = sqlite3_create_collation_v2(
            rawHandle, "DECIMAL", SQLITE_UTF8, nil,
            { _, leftCount, left, rightCount, right in
                let a = decimalText(left, leftCount)
                let b = decimalText(right, rightCount)
                guard let x = DecimalValue(a), let y = DecimalValue(b) else { return a == b ? 0 : (a < b ? -1 : 1) }
                return x == y ? 0 : (x < y ? -1 : 1)
            }, nil)
        if code != SQLITE_OK { throw SQLiteError(code: code & 0xFF, message: "cannot register a collation", sql: nil) }
    }
}

private func decimalText(_ bytes: UnsafeRawPointer?, _ count: Int32) -> String {
    guard let bytes else { return "" }
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
}
