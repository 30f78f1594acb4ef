import EDM

extension EntityImage {
    /// An upper bound of the image's size in a record in bytes, computed without encoding it.
    package var encodedSizeBound: Int {
        var size = 64 + set.utf8.count + type.utf8.count + (etag?.utf8.count ?? 0) + (editLink?.utf8.count ?? 0)
        size += values.encodedSizeBound
        for links in links { size += 24 + links.navigation.utf8.count + 10 * links.targets.count }
        return size
    }
}

extension PropertyValues {
    fileprivate var encodedSizeBound: Int {
        if let packed { return 10 + packed.names.encoded.count + packed.byteCount }
        var size = 10
        for name in names { size += 10 + name.utf8.count }
        for value in values { size += value.encodedSizeBound }
        return size
    }
}

extension Value {
    fileprivate var encodedSizeBound: Int {
        switch self {
        case .decimal(let number): 11 + number.text.utf8.count
        case .string(let text), .enumeration(let text), .raw(let text): 11 + text.utf8.count
        case .binary(let bytes): 11 + bytes.count
        case .complex(let complex): 22 + (complex.type?.utf8.count ?? 0) + complex.properties.encodedSizeBound
        case .collection(let items): items.reduce(11) { $0 + $1.encodedSizeBound }
        case .null, .boolean, .integer, .single, .double, .guid, .date, .timeOfDay, .duration, .dateTime,
            .dateTimeOffset:
            40
        }
    }
}
