import EDM

extension RecordCodec {
    /// Returns the time of a record without decoding the rest. `nil` for a record without time, or of a kind that
    /// this version does not support.
    package static func time(kind: UInt8, payload: [UInt8]) -> Timestamp? {
        guard Kind(rawValue: kind) != nil else { return nil }
        return try? ByteReader.read(payload, toEnd: false) { reader throws(CodecError) in try reader.signed() }
    }
}
