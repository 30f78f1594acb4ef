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
        writer.operationWithAttributes(operation)
        writer.optional(operation.stream) { $0.write($1) }
        // Absent from all other operations, whose bytes predate it.
        if let call = operation.call { writer.write(call) }
        return writer.bytes
    }

    package static func encode(_ prepared: BatchPrepared) -> [UInt8] {
        var writer = ByteWriter()
        writer.prepared(prepared)
        writer.effects(prepared)
        return writer.bytes
    }

    package static func decodeBatchPrepared(_ bytes: [UInt8]) throws(CodecError) -> BatchPrepared {
        try ByteReader.read(bytes) { reader throws(CodecError) in
            var prepared = try reader.prepared()
            try reader.effects(&prepared)
            return prepared
        }
    }

    /// Encodes a batch in the form without effects, which snapshots of earlier versions contain.
    package static func encodeWithoutEffects(_ prepared: BatchPrepared) -> [UInt8] {
        var writer = ByteWriter()
        writer.prepared(prepared)
        writer.sent(prepared.sent)
        return writer.bytes
    }

    /// Decodes a batch in the form without effects.
    package static func decodeBatchWithoutEffects(_ bytes: [UInt8]) throws(CodecError) -> BatchPrepared {
        try ByteReader.read(bytes) { reader throws(CodecError) in
            var prepared = try reader.prepared()
            prepared.sent = try reader.sent()
            return prepared
        }
    }

    package static func decodeOperation(_ bytes: [UInt8]) throws(CodecError) -> Operation {
        try ByteReader.read(bytes) { reader throws(CodecError) in try operation(&reader) }
    }

    /// - Parameter names: the cache of names.
    package static func decodeOperation(
        _ bytes: UnsafeRawBufferPointer, names: NameTable
    ) throws(CodecError) -> Operation {
        try ByteReader.read(bytes, names: names) { reader throws(CodecError) in try operation(&reader) }
    }

    private static func operation(_ reader: inout ByteReader) throws(CodecError) -> Operation {
        var operation = try reader.operationWithAttributes()
        operation.stream = try reader.optional { r throws(CodecError) in try r.streamWrite() }
        if reader.offset < reader.bytes.count { operation.call = try reader.actionCall() }
        return operation
    }
}
