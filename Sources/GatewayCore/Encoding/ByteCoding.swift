internal import ODataWire

/// Writes counts and byte strings with their lengths.
struct ByteWriter {
    var bytes: [UInt8] = []

    mutating func number(_ value: Int) {
        let value = UInt32(clamping: value)
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: value >> UInt32(shift))) }
    }

    mutating func wide(_ value: Int64) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func string(_ value: some Collection<UInt8>) {
        number(value.count)
        bytes.append(contentsOf: value)
    }

    mutating func response(_ response: WireResponse) {
        number(response.status)
        number(response.headers.fields.count)
        for field in response.headers.fields {
            string(Array(field.name.utf8))
            string(Array(field.value.utf8))
        }
        string(response.body)
    }
}

/// Reads the bytes of a ``ByteWriter``. Every function returns `nil` for bytes that it has not written.
struct ByteReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func number() -> Int? {
        guard bytes.count - offset >= 4 else { return nil }
        defer { offset += 4 }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    mutating func wide() -> Int64? {
        guard bytes.count - offset >= 8 else { return nil }
        defer { offset += 8 }
        return bytes[offset..<offset + 8].reduce(0) { $0 << 8 | Int64($1) }
    }

    mutating func text() -> String? { string().flatMap { String(validating: $0, as: UTF8.self) } }

    mutating func string() -> ArraySlice<UInt8>? {
        guard let count = number(), bytes.count - offset >= count else { return nil }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    mutating func response() -> WireResponse? {
        guard let status = number(), (100...999).contains(status), let count = number() else { return nil }
        var headers = HTTPHeaders()
        for _ in 0..<count {
            guard let name = string(), let value = string() else { return nil }
            headers.add(name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
        }
        guard let body = string() else { return nil }
        return WireResponse(status: status, headers: headers, body: Array(body))
    }
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit, or nil for another byte.
    var hexadecimalValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }
}
