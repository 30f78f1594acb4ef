public import EDM

/// Decodes one record after the other, quicker than ``RecordCodec`` does one alone: names that come again and again are
/// made once. For one thread.
public struct RecordDecoder {
    private let names = NameTable()

    public init() {}

    /// As ``RecordCodec/decode(kind:payload:)``.
    public func decode(kind: UInt8, payload: [UInt8]) throws(CodecError) -> Record {
        try RecordCodec.decode(kind: kind, payload: payload[...], names: names)
    }

    /// The same of bytes that lie among others.
    public func decode(kind: UInt8, payload: ArraySlice<UInt8>) throws(CodecError) -> Record {
        try RecordCodec.decode(kind: kind, payload: payload, names: names)
    }
}
