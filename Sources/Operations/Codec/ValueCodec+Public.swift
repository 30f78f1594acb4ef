public import EDM

/// The binary form of property values by itself, as the views keep it beside their typed columns.
public enum ValueCodec {
    public static func encode(_ values: PropertyValues) -> [UInt8] {
        var writer = ByteWriter()
        writer.bytes.reserveCapacity(32 * values.count)
        writer.properties(values)
        return writer.bytes
    }

    public static func decode(_ bytes: [UInt8]) throws(CodecError) -> PropertyValues {
        try ByteReader.read(bytes) { reader throws(CodecError) in try reader.properties() }
    }

    /// - Parameter names: where names that were read before are found again.
    package static func decode(
        _ bytes: UnsafeRawBufferPointer, names: NameTable
    ) throws(CodecError) -> PropertyValues {
        try ByteReader.read(bytes, names: names) { reader throws(CodecError) in try reader.properties() }
    }

    public static func encode(_ operation: Operation) -> [UInt8] {
        var writer = ByteWriter()
        writer.operationWithAttributes(operation)
        return writer.bytes
    }

    public static func encode(_ prepared: BatchPrepared) -> [UInt8] {
        var writer = ByteWriter()
        writer.prepared(prepared)
        writer.sent(prepared.sent)
        return writer.bytes
    }

    public static func decodeBatchPrepared(_ bytes: [UInt8]) throws(CodecError) -> BatchPrepared {
        try ByteReader.read(bytes) { reader throws(CodecError) in
            var prepared = try reader.prepared()
            prepared.sent = try reader.sent()
            return prepared
        }
    }

    public static func decodeOperation(_ bytes: [UInt8]) throws(CodecError) -> Operation {
        try ByteReader.read(bytes) { reader throws(CodecError) in try reader.operationWithAttributes() }
    }

    /// - Parameter names: where names that were read before are found again.
    package static func decodeOperation(
        _ bytes: UnsafeRawBufferPointer, names: NameTable
    ) throws(CodecError) -> Operation {
        try ByteReader.read(bytes, names: names) { reader throws(CodecError) in try reader.operationWithAttributes() }
    }
}
