/// Names that were read before. The same few come again with each record, so a decoder that keeps them makes each string
/// and each list of strings once.
///
/// Places are overwritten, so its size is bounded whatever it is given.
package final class NameTable {
    /// The names of an entity's properties in the order in which they were written.
    final class List {
        let names: [String]
        /// Each name with its length in front, one behind the other.
        let encoded: [UInt8]
        /// Where each one ends in ``encoded``.
        let ends: [Int]

        init(names: [String], encoded: [UInt8], ends: [Int]) {
            self.names = names
            self.encoded = encoded
            self.ends = ends
        }
    }

    private struct Name {
        let bytes: [UInt8]
        let text: String
    }

    private var strings = [Name?](repeating: nil, count: 256)
    private var lists = [List?](repeating: nil, count: 64)

    package init() {}

    /// Nil where the bytes are not UTF-8.
    func string(_ bytes: UnsafeRawBufferPointer) -> String? {
        // Up to 15 bytes lie in the string itself and are made more quickly than found.
        guard (16...64).contains(bytes.count), let first = bytes.first, let last = bytes.last else {
            return UTF8Text.string(bytes)
        }
        let place = (Int(first) &* 31 &+ Int(last) &* 7 &+ bytes.count) & 255
        if let known = strings[place], known.bytes.withUnsafeBytes({ Self.isEqual($0, bytes) }) { return known.text }
        guard let text = UTF8Text.string(bytes) else { return nil }
        strings[place] = Name(bytes: Array(bytes), text: text)
        return text
    }

    /// Where a list belongs that begins with the bytes at the offset.
    static func place(count: Int, first bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        var hash = count
        for index in offset..<min(offset + 8, bytes.count) { hash = hash &* 31 &+ Int(bytes[index]) }
        return hash & 63
    }

    func list(_ place: Int) -> List? { lists[place] }

    func remember(_ names: [String], at place: Int) {
        var writer = ByteWriter()
        var ends: [Int] = []
        for name in names {
            writer.string(name)
            ends.append(writer.bytes.count)
        }
        // A list that is longer comes rarely, and is not to fill the memory.
        guard writer.bytes.count <= 4_096 else { return }
        lists[place] = List(names: names, encoded: writer.bytes, ends: ends)
    }

    /// Eight bytes at a time: names are short, and this is quicker than a call.
    @inline(__always)
    static func isEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count else { return false }
        var at = 0
        while a.count - at >= 8 {
            guard
                a.loadUnaligned(fromByteOffset: at, as: UInt64.self)
                    == b.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            else { return false }
            at += 8
        }
        while at < a.count {
            guard a[at] == b[at] else { return false }
            at += 1
        }
        return true
    }
}
