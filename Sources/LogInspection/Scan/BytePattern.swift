import EDM

/// A property with a value as records have it, to be looked for in bytes that are not decoded.
struct BytePattern: Sendable, Hashable {
    private let bytes: [UInt8]

    init(property: String, value: Value) {
        var writer = ByteWriter()
        writer.string(property)
        writer.value(value)
        bytes = writer.bytes
    }

    /// Whether the bytes are anywhere in the range. A find may be by chance; none is none.
    func isFound(in all: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
        guard range.count >= bytes.count else { return false }
        let last = range.upperBound - bytes.count
        // A property's name is the longest and rarest part, but its second byte sets most places apart already.
        let (first, second) = (bytes[0], bytes[1])
        var at = range.lowerBound
        while at <= last {
            if all[at] == first, all[at + 1] == second, isEqual(all, at) { return true }
            at += 1
        }
        return false
    }

    private func isEqual(_ all: UnsafeRawBufferPointer, _ start: Int) -> Bool {
        for place in bytes.indices where all[start + place] != bytes[place] { return false }
        return true
    }
}
