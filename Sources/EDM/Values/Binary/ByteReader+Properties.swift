extension ByteReader {
    /// Reads names and values. If the names equal a list that was read before, the values stay encoded.
    ///
    /// Otherwise the values are decoded, so that one reader reports all errors.
    package mutating func properties() throws(CodecError) -> PropertyValues {
        if let packed = names?.packedProperties(in: bytes, at: &offset, depth: depth) { return packed }
        let length = try count()
        guard length > 0 else { return PropertyValues() }
        let place = NameTable.place(count: length, encoded: bytes, at: offset)
        var known: [String] = []
        var values: [Value] = []
        values.reserveCapacity(min(length, 256))
        for _ in 0..<length {
            known.append(try name())
            values.append(try value())
        }
        guard known.areDistinct else { return PropertyValues(Array(zip(known, values))) }
        names?.remember(known, at: place)
        return PropertyValues(distinctNames: known, values: values)
    }
}

extension NameTable {
    /// Reads names and values that stay encoded, and advances the offset. Returns `nil` without advancing if the
    /// names are not a known list, or if a value is not encoded canonically.
    ///
    /// - Parameter depth: the nesting depth of the values.
    package func packedProperties(
        in bytes: UnsafeRawBufferPointer, at offset: inout Int, depth: Int
    ) -> PropertyValues? {
        var head = PackedCursor(bytes, at: offset)
        guard let number = head.unsigned(), number <= UInt64(bytes.count - head.offset) else { return nil }
        let count = Int(number)
        var end = head.offset
        guard count > 0 else {
            offset = end
            return PropertyValues()
        }
        if let lastList, lastList.count == count,
            let packed = PackedProperties(of: lastList, in: bytes, at: &end, depth: depth)
        {
            offset = end
            return PropertyValues(packed)
        }
        guard let list = list(Self.place(count: count, encoded: bytes, at: end)), list.count == count,
            let packed = PackedProperties(of: list, in: bytes, at: &end, depth: depth)
        else { return nil }
        offset = end
        return PropertyValues(packed)
    }
}

extension PackedProperties {
    /// Reads the values between these names.
    fileprivate init?(of list: PropertyNames, in bytes: UnsafeRawBufferPointer, at offset: inout Int, depth: Int) {
        var cursor = PackedCursor(bytes, at: offset, depth: depth)
        let found = withUnsafeTemporaryAllocation(of: Range<Int>.self, capacity: list.count) {
            ranges -> PackedProperties? in
            guard Self.find(list, &cursor, ranges) else { return nil }
            let length = cursor.offset - offset - list.encoded.count
            return PackedProperties(names: list, capacity: length) { Self.gather(ranges, of: bytes, to: $0) }
        }
        guard let found else { return nil }
        offset = cursor.offset
        self = found
    }

    /// Concatenates the ranges. Returns the number of bytes.
    @inline(__always)
    private static func gather(
        _ ranges: UnsafeMutableBufferPointer<Range<Int>>, of bytes: UnsafeRawBufferPointer,
        to target: UnsafeMutableRawBufferPointer
    ) -> Int {
        guard let start = target.baseAddress, let source = bytes.baseAddress else { return 0 }
        var filled = 0
        for range in ranges {
            copy(source + range.lowerBound, to: start + filled, range.count)
            filled += range.count
        }
        return filled
    }

    /// Finds the range of each value. Returns `false` if a name differs or a value is invalid.
    private static func find(
        _ list: PropertyNames, _ cursor: inout PackedCursor, _ ranges: UnsafeMutableBufferPointer<Range<Int>>
    ) -> Bool {
        list.encoded.withUnsafeBytes { encoded in
            list.ends.withUnsafeBufferPointer { ends in
                var next = 0
                for index in ends.indices {
                    guard cursor.pass(UnsafeRawBufferPointer(rebasing: encoded[next..<ends[index]])) else {
                        return false
                    }
                    next = ends[index]
                    let start = cursor.offset
                    guard cursor.check() else { return false }
                    ranges.initializeElement(at: index, to: start..<cursor.offset)
                }
                return true
            }
        }
    }

    /// Copies bytes to the first unused place of a buffer. The buffer must have room for them.
    @inline(__always)
    fileprivate static func append(
        _ bytes: UnsafeRawBufferPointer, to target: UnsafeMutableBufferPointer<UInt8>, at count: inout Int
    ) {
        guard let source = bytes.baseAddress, let start = target.baseAddress, bytes.count <= target.count - count else {
            return
        }
        copy(source, to: UnsafeMutableRawPointer(start + count), bytes.count)
        count += bytes.count
    }

    /// Copies a value. Most values are short, and a call would cost more than the copy.
    @inline(__always)
    private static func copy(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ count: Int) {
        switch count {
        case 8...16:
            // Two overlapping words.
            let last = source.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
            target.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
            target.storeBytes(of: last, toByteOffset: count - 8, as: UInt64.self)
        case 4..<8:
            let last = source.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
            target.storeBytes(of: source.loadUnaligned(as: UInt32.self), as: UInt32.self)
            target.storeBytes(of: last, toByteOffset: count - 4, as: UInt32.self)
        case 1..<4:
            for place in 0..<count {
                target.storeBytes(
                    of: source.load(fromByteOffset: place, as: UInt8.self), toByteOffset: place, as: UInt8.self)
            }
        default: target.copyMemory(from: source, byteCount: count)
        }
    }
}

extension ByteWriter {
    package mutating func properties(_ values: PropertyValues) {
        count(values.count)
        values.write(to: &self)
    }

    /// Appends each name with its value. The array grows once, by the length of all names and values.
    mutating func packed(_ packed: PackedProperties) {
        bytes.append(addingCapacity: packed.names.encoded.count + packed.byteCount) { output in
            output.withUnsafeMutableBufferPointer { target, count in
                packed.forEach { name, value in
                    PackedProperties.append(name, to: target, at: &count)
                    PackedProperties.append(value, to: target, at: &count)
                }
            }
        }
    }
}
