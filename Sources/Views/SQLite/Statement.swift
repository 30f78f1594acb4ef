import CSQLite
import EDM

/// A prepared statement that is used repeatedly, without a lookup of its text.
///
/// It belongs to one connection, the first that runs it.
final class Statement {
    let sql: String
    /// Nil before the first run, and after ``Connection/forgetStatements()``.
    var prepared: OpaquePointer?
    /// The tables of the statement, as SQLite reported them when it was prepared.
    var tables = TableAccess()
    /// The value of the connection's counter when these tables were last added.
    var taking = 0

    init(_ sql: String) { self.sql = sql }
}

/// A binding of values to the parameters of a statement, in order. Every parameter has to be bound for each run,
/// because bindings persist.
struct Binding {
    private let statement: OpaquePointer
    /// Memory for texts and bytes of a statement that ends before the next one binds values. SQLite copies values that
    /// do not fit, and all values if there is no buffer.
    private let buffer: BindingBuffer?
    private var used = 0
    /// The index of the last bound parameter.
    var index: Int32 = 0
    /// The code with which SQLite refused a value, such as a text that is too long.
    private(set) var failure = SQLITE_OK

    init(_ statement: OpaquePointer, _ buffer: BindingBuffer? = nil) {
        self.statement = statement
        self.buffer = buffer
    }

    private mutating func check(_ code: Int32) { if code != SQLITE_OK { failure = code } }

    private mutating func next() -> Int32 {
        index += 1
        return index
    }

    mutating func null() { check(sqlite3_bind_null(statement, next())) }

    mutating func integer(_ value: Int64) { check(sqlite3_bind_int64(statement, next(), value)) }

    mutating func real(_ value: Double) { check(sqlite3_bind_double(statement, next(), value)) }

    /// Copies the bytes to the buffer, where they stay until the statement has run. Returns nil if SQLite has to copy
    /// them.
    private mutating func laid(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer? {
        guard let buffer, let source = bytes.baseAddress, bytes.count <= BindingBuffer.capacity - used else {
            return nil
        }
        let place = buffer.bytes + used
        place.copyMemory(from: source, byteCount: bytes.count)
        used += bytes.count
        return place
    }

    mutating func text(_ text: String) {
        let index = next()
        // Without a destructor SQLite reads the bytes in place.
        let place = text.utf8.withContiguousStorageIfAvailable { laid(UnsafeRawBufferPointer($0)) }
        if let place, let place {
            return check(
                sqlite3_bind_text64(
                    statement, index, place.assumingMemoryBound(to: CChar.self), UInt64(text.utf8.count), nil,
                    UInt8(SQLITE_UTF8)))
        }
        let code = text.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text64(
                    statement, index, $0.baseAddress ?? Self.emptyText, UInt64($0.count), sqliteTransient,
                    UInt8(SQLITE_UTF8))
            }
        }
        check(code ?? sqlite3_bind_text(statement, index, text, Int32(clamping: text.utf8.count), sqliteTransient))
    }

    mutating func text(_ text: String?) { if let text { self.text(text) } else { null() } }

    mutating func blob(_ bytes: [UInt8]) { blob(bytes[...]) }

    mutating func blob(_ bytes: ArraySlice<UInt8>) {
        let index = next()
        if let place = bytes.withUnsafeBytes({ laid($0) }) {
            return check(sqlite3_bind_blob64(statement, index, place, UInt64(bytes.count), nil))
        }
        check(
            bytes.isEmpty
                ? sqlite3_bind_zeroblob(statement, index, 0)
                : bytes.withUnsafeBytes {
                    sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), sqliteTransient)
                })
    }

    /// Binds a text that SQLite reads in place while the statement runs.
    mutating func text(inPlace text: UnsafeRawBufferPointer) {
        let bytes = text.bindMemory(to: CChar.self)
        check(
            sqlite3_bind_text64(
                statement, next(), bytes.baseAddress ?? Self.emptyText, UInt64(bytes.count), nil, UInt8(SQLITE_UTF8)))
    }

    /// Binds bytes that SQLite reads in place while the statement runs.
    mutating func blob(inPlace bytes: UnsafeRawBufferPointer) {
        let index = next()
        check(
            bytes.isEmpty
                ? sqlite3_bind_zeroblob(statement, index, 0)
                : sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), nil))
    }

    mutating func value(_ value: SQLValue) {
        switch value {
        case .null: null()
        case .integer(let number): integer(number)
        case .real(let number): real(number)
        case .text(let text): self.text(text)
        case .blob(let bytes): blob(bytes)
        }
    }

    nonisolated(unsafe) private static let emptyText: UnsafePointer<CChar> = {
        let pointer = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        pointer.pointee = 0
        return UnsafePointer(pointer)
    }()
}

/// Memory for the values of one statement, so that SQLite need not allocate memory for each of them.
final class BindingBuffer {
    static let capacity = 32_768
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)

    deinit { bytes.deallocate() }
}

/// `SQLITE_TRANSIENT`, a cast in C that Swift does not import: SQLite copies the bytes.
let sqliteTransient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
