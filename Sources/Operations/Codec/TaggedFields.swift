package import EDM

/// The optional fields at the end of a structure: for each present one a tag and its value, in ascending order of the
/// tags, then a zero.
///
/// A tag is a byte. Its upper six bits are the number of the field in the structure, from 1. The next bit is set if the
/// value is preceded by its length in bytes; otherwise the value is one number. The last bit is set if a version that
/// does not support the field may ignore it. A field with its default value is absent, so equal structures have equal
/// bytes.
extension ByteWriter {
    package mutating func field(_ tag: some RawRepresentable<UInt8>, _ number: UInt64?) {
        guard let number else { return }
        begin(tag.rawValue, hasLength: false)
        unsigned(number)
    }

    package mutating func field(_ tag: some RawRepresentable<UInt8>, signed number: Int64?) {
        guard let number else { return }
        begin(tag.rawValue, hasLength: false)
        signed(number)
    }

    package mutating func field(_ tag: some RawRepresentable<UInt8>, _ text: String?) {
        guard let text else { return }
        begin(tag.rawValue, hasLength: true)
        string(text)
    }

    /// Writes the field if it is true.
    package mutating func field(_ tag: some RawRepresentable<UInt8>, _ flag: Bool) {
        if flag { field(tag, 1) }
    }

    /// Writes a value of several elements.
    package mutating func field<T>(
        _ tag: some RawRepresentable<UInt8>, _ value: T?, _ write: (inout ByteWriter, T) -> Void
    ) {
        guard let value else { return }
        begin(tag.rawValue, hasLength: true)
        var content = ByteWriter()
        write(&content, value)
        blob(content.bytes)
    }

    /// Writes a list if it is not empty.
    package mutating func field<T>(
        _ tag: some RawRepresentable<UInt8>, list: [T], _ write: (inout ByteWriter, T) -> Void
    ) {
        field(tag, list.isEmpty ? nil : list) { $0.list($1, write) }
    }

    /// Writes the end of the fields.
    package mutating func end() { byte(0) }

    private mutating func begin(_ tag: UInt8, hasLength: Bool) {
        assert(tag > FieldTag.reserved && FieldTag.hasLength(tag) == hasLength, "no tag of such a field: \(tag)")
        byte(tag)
    }
}

extension ByteReader {
    /// Reads the fields of a structure with their end.
    ///
    /// - Parameter read: Reads the value of the field with the tag. Returns false without reading anything if this
    ///   version does not support the field.
    package mutating func fields(
        _ read: (inout ByteReader, _ tag: UInt8) throws(CodecError) -> Bool
    ) throws(CodecError) {
        var last = FieldTag.reserved
        while true {
            let tag = try byte()
            if tag == 0 { return }
            // A field has one tag, whatever its lower bits are.
            guard tag >> 2 > last >> 2 else { throw fail(.invalid("order of the fields")) }
            last = tag
            if try read(&self, tag) { continue }
            guard FieldTag.mayBeIgnored(tag) else { throw fail(.unknownField) }
            if FieldTag.hasLength(tag) {
                let length = try count()
                pass(to: offset + length)
            } else {
                _ = try unsigned()
            }
        }
    }

    /// Reads the end of a structure without optional fields.
    package mutating func end() throws(CodecError) { try fields { _, _ in false } }

    /// Reads a field that is present only if it is true.
    package mutating func flag() throws(CodecError) -> Bool {
        guard try unsigned() == 1 else { throw fail(.invalid("flag")) }
        return true
    }

    /// Reads a field of several elements.
    package mutating func content<T>(
        _ read: (inout ByteReader) throws(CodecError) -> T
    ) throws(CodecError) -> T {
        let length = try count()
        let end = offset + length
        let value = try read(&self)
        guard offset == end else { throw fail(.invalid("length of a field")) }
        return value
    }

    /// Reads a list that is present only if it is not empty.
    package mutating func items<T>(
        _ read: (inout ByteReader) throws(CodecError) -> T
    ) throws(CodecError) -> [T] {
        let items = try content { r throws(CodecError) in try r.list(read) }
        guard !items.isEmpty else { throw fail(.invalid("optional list")) }
        return items
    }
}

/// The bits of a tag.
package enum FieldTag {
    /// Tags up to this one are not used, because the numbers of fields begin with 1.
    package static let reserved: UInt8 = 3

    package static func hasLength(_ tag: UInt8) -> Bool { tag & 2 != 0 }
    package static func mayBeIgnored(_ tag: UInt8) -> Bool { tag & 1 != 0 }
}
