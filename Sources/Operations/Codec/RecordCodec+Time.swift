import EDM

extension RecordCodec {
    /// When the record was made, without decoding the rest of it. Nil for a record that has no time, or one of a kind that
    /// this version does not know.
    public static func time(kind: UInt8, payload: [UInt8]) -> Timestamp? {
        guard Kind(rawValue: kind) != nil else { return nil }
        return try? ByteReader.read(payload, toEnd: false) { reader throws(CodecError) in try reader.signed() }
    }
}
