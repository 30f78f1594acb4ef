public import EDM

/// The binary form of property values by itself, as the views keep it beside their typed columns.
public enum ValueCodec {
    public static func encode(_ values: PropertyValues) -> [UInt8] {
        var writer = ByteWriter()
        writer.properties(values)
        return writer.bytes
    }

    public static func decode(_ bytes: [UInt8]) throws(CodecError) -> PropertyValues {
        var reader = ByteReader(bytes)
        let values = try reader.properties()
        try reader.expectEnd()
        return values
    }

    public static func encode(_ operation: Operation) -> [UInt8] {
        var writer = ByteWriter()
        writer.operation(operation)
        return writer.bytes
    }

    public static func decodeOperation(_ bytes: [UInt8]) throws(CodecError) -> Operation {
        var reader = ByteReader(bytes)
        let operation = try reader.operation()
        try reader.expectEnd()
        return operation
    }
}
