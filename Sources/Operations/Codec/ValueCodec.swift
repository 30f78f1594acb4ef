package import EDM

/// The binary form of property values without a record, as stored in the views next to their typed columns.
package enum ValueCodec {
    package static func encode(_ values: PropertyValues) -> [UInt8] {
        var writer = ByteWriter(minimumCapacity: 32 * values.count)
        writer.properties(values)
        return writer.bytes
    }

    package static func decode(_ bytes: [UInt8]) throws(CodecError) -> PropertyValues {
        try ByteReader.read(bytes) { reader throws(CodecError) in try reader.properties() }
    }

    /// - Parameter names: the cache of names.
    package static func decode(
        _ bytes: UnsafeRawBufferPointer, names: NameTable
    ) throws(CodecError) -> PropertyValues {
        try ByteReader.read(bytes, names: names) { reader throws(CodecError) in try reader.properties() }
    }

    /// Decodes values whose names are known.
    package static func decode(
        _ bytes: UnsafeRawBufferPointer, of names: PropertyNames
    ) throws(CodecError) -> PropertyValues {
        try ByteReader.read(bytes) { reader throws(CodecError) in
            var values: [Value] = []
            for _ in names.names { values.append(try reader.value()) }
            return PropertyValues(distinctNames: names.names, values: values)
        }
    }

    package static func encode(_ operation: Operation) -> [UInt8] {
        var writer = ByteWriter(minimumCapacity: 256)
        writer.operation(operation)
        return writer.bytes
    }

    package static func decodeOperation(_ bytes: [UInt8]) throws(CodecError) -> Operation {
        try ByteReader.read(bytes) { reader throws(CodecError) in try reader.operation() }
    }

    /// - Parameter names: the cache of names.
    package static func decodeOperation(
        _ bytes: UnsafeRawBufferPointer, names: NameTable
    ) throws(CodecError) -> Operation {
        try ByteReader.read(bytes, names: names) { reader throws(CodecError) in try reader.operation() }
    }
}
