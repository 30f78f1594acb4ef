package import EDM

/// Decodes many records faster than ``RecordCodec`` decodes single ones, because repeated names are created once. Not
/// thread-safe.
package struct RecordDecoder {
    private let names = NameTable()

    package init() {}

    /// Decodes a record, like ``RecordCodec/decode(kind:payload:)``.
    package func decode(kind: UInt8, payload: [UInt8]) throws(CodecError) -> Record {
        try RecordCodec.decode(kind: kind, payload: payload[...], names: names)
    }

    /// Decodes a record from a slice of bytes.
    package func decode(kind: UInt8, payload: ArraySlice<UInt8>) throws(CodecError) -> Record {
        try RecordCodec.decode(kind: kind, payload: payload, names: names)
    }
}
