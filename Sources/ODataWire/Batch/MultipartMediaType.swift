import ODataQuery

/// A Content-Type value, such as `multipart/mixed; boundary="a b"`. Type and parameter names are in lower case.
struct MultipartMediaType {
    var type: String
    var parameters: [(name: String, value: String)] = []

    /// Parses a value. Malformed text results in an empty type or missing parameters.
    init(_ text: String) {
        // Nearly all parts have exactly this value.
        if text == Self.http {
            type = text
            return
        }
        let bytes = Array(text.utf8)
        var position = bytes.firstIndex(of: UInt8(ascii: ";")) ?? bytes.count
        type = Self.trimmedLowercase(bytes[..<position])
        while position < bytes.count {
            position += 1
            let nameStart = position
            while position < bytes.count, bytes[position] != UInt8(ascii: "="), bytes[position] != UInt8(ascii: ";") {
                position += 1
            }
            let name = Self.trimmedLowercase(bytes[nameStart..<position])
            guard position < bytes.count, bytes[position] == UInt8(ascii: "=") else { continue }
            position += 1
            parameters.append((name, Self.value(in: bytes, at: &position)))
        }
    }

    static let http = "application/http"

    var boundary: String? { parameters.first { $0.name == "boundary" && !$0.value.isEmpty }?.value }

    var isMultipart: Bool { type.hasPrefix("multipart/") || type == "multipart" }

    /// Reads a token or a quoted string. Afterwards `position` is at the next `;` or at the end.
    private static func value(in bytes: [UInt8], at position: inout Int) -> String {
        while position < bytes.count, bytes[position].isBlank { position += 1 }
        var value: [UInt8] = []
        if position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
            position += 1
            while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
                if bytes[position] == UInt8(ascii: "\\"), position + 1 < bytes.count { position += 1 }
                value.append(bytes[position])
                position += 1
            }
            while position < bytes.count, bytes[position] != UInt8(ascii: ";") { position += 1 }
            return String(decoding: value, as: UTF8.self)
        }
        while position < bytes.count, bytes[position] != UInt8(ascii: ";") {
            value.append(bytes[position])
            position += 1
        }
        while let last = value.last, last.isBlank { value.removeLast() }
        return String(decoding: value, as: UTF8.self)
    }

    private static func trimmedLowercase(_ bytes: ArraySlice<UInt8>) -> String {
        var slice = bytes
        while let first = slice.first, first.isBlank { slice.removeFirst() }
        while let last = slice.last, last.isBlank { slice.removeLast() }
        return String(decoding: slice.map(\.asciiLowercased), as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether the byte is a space or tab, which HTTP and MIME allow around values.
    var isBlank: Bool { self == 0x20 || self == 0x09 }
    var isLineBreak: Bool { self == 0x0D || self == 0x0A }
}
