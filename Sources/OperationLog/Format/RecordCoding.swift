/// The encoding of records in a block's raw bytes: kind, payload length (LEB128), payload.
///
/// The sequence number follows from the position.
enum RecordCoding {
    /// The maximum number of bytes of an LEB128 length, given the maximum length of a block.
    static let maximumLengthBytes = 4

    static func encodedSize(payload: Int) -> Int {
        var size = 2 + payload
        var rest = payload >> 7
        while rest > 0 {
            size += 1
            rest >>= 7
        }
        return size
    }

    static func encode(kind: UInt8, payload: UnsafeRawBufferPointer, into raw: inout [UInt8]) {
        raw.append(kind)
        var rest = payload.count
        while rest >= 0x80 {
            raw.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        raw.append(UInt8(rest))
        raw.append(contentsOf: payload)
    }

    static func encode(kind: UInt8, payload: [UInt8], into raw: inout [UInt8]) {
        payload.withUnsafeBytes { encode(kind: kind, payload: $0, into: &raw) }
    }

    /// Decodes the record at `offset` and moves `offset` after it.
    ///
    /// Returns nil if there is no complete record or if its length is encoded in more bytes than necessary: each record
    /// has exactly one encoding.
    static func decode(_ raw: [UInt8], at offset: inout Int) -> (kind: UInt8, payload: Range<Int>)? {
        var at = offset
        guard at < raw.count else { return nil }
        let kind = raw[at]
        at += 1
        var length = 0
        for index in 0..<maximumLengthBytes {
            guard at < raw.count else { return nil }
            let byte = raw[at]
            at += 1
            length |= Int(byte & 0x7F) << (7 * index)
            if byte & 0x80 == 0 {
                if byte == 0, index > 0 { return nil }
                guard length <= raw.count - at else { return nil }
                offset = at + length
                return (kind, at..<at + length)
            }
        }
        return nil
    }
}
