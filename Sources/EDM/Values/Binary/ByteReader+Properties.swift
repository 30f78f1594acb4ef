extension ByteReader {
    /// Names and values. Where the names are those of a list that was read before, the values stay the bytes that they are;
    /// otherwise they are made, so that it is one reader that says what is wrong with bytes.
    package mutating func properties() throws(CodecError) -> PropertyValues {
        let length = try count()
        guard length > 0 else { return PropertyValues() }
        let place = NameTable.place(count: length, encoded: bytes, at: offset)
        if let list = names?.list(place), list.count == length, let packed = packed(list) {
            return PropertyValues(packed)
        }
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

    /// The values as they lie here between these names; nil, and nothing read, where the names are others or a value is not
    /// as a writer would have written it.
    private mutating func packed(_ list: PropertyNames) -> PackedProperties? {
        var cursor = PackedCursor(bytes, at: offset, depth: depth)
        let found = withUnsafeTemporaryAllocation(of: Range<Int>.self, capacity: list.count) { ranges -> [UInt8]? in
            let isWhole = list.encoded.withUnsafeBytes { encoded in
                var next = 0
                for index in 0..<list.count {
                    let end = list.ends[index]
                    guard cursor.pass(UnsafeRawBufferPointer(rebasing: encoded[next..<end])) else { return false }
                    next = end
                    let start = cursor.offset
                    guard cursor.check() else { return false }
                    ranges.initializeElement(at: index, to: start..<cursor.offset)
                }
                return true
            }
            guard isWhole else { return nil }
            let length = cursor.offset - offset - list.encoded.count
            return [UInt8](unsafeUninitializedCapacity: length) { target, filled in
                let target = UnsafeMutableRawBufferPointer(target)
                for range in ranges {
                    UnsafeMutableRawBufferPointer(rebasing: target[filled..<filled + range.count])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
                    filled += range.count
                }
            }
        }
        guard let found else { return nil }
        offset = cursor.offset
        return PackedProperties(names: list, checked: found)
    }
}

extension ByteWriter {
    package mutating func properties(_ values: PropertyValues) {
        count(values.count)
        if let packed = values.packed { return self.packed(packed) }
        let (names, values) = (values.names, values.values)
        for index in names.indices {
            string(names[index])
            value(values[index])
        }
    }

    private mutating func packed(_ packed: PackedProperties) {
        packed.forEach { name, value in
            bytes.append(contentsOf: name)
            bytes.append(contentsOf: value)
        }
    }
}
