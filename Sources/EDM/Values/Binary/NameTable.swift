/// A cache of names. Records repeat a few names, so each string and each list of strings is created once.
///
/// Entries are overwritten, so the size is bounded for any input. Not thread-safe.
@usableFromInline
package final class NameTable {
    private struct Name {
        let bytes: [UInt8]
        let text: String
    }

    private var strings = [Name?](repeating: nil, count: 256)
    private var lists = [PropertyNames?](repeating: nil, count: 64)
    /// The last used list. Most rows have the same names as the previous row.
    private(set) var lastList: PropertyNames?
    /// The last list to which a name was added.
    private var longer: LongerList?
    private var pairs = [Pair?](repeating: nil, count: 16)
    /// The memory in which values are encoded.
    private var scratch = ByteWriter()

    /// In bytes. The memory of larger values is released.
    private static let scratchLimit = 65_536

    /// A list with a further name.
    private struct LongerList {
        let names: PropertyNames
        let added: String
        let list: PropertyNames
    }

    /// Two adjacent names.
    private struct Pair {
        let bytes: [UInt8]
        let first: String
        let second: String
    }

    package init() {}

    /// Returns the string, or `nil` if the bytes are not UTF-8.
    package func string(_ bytes: UnsafeRawBufferPointer) -> String? {
        // Strings of up to 15 bytes are stored inline and created faster than looked up.
        guard (16...64).contains(bytes.count), let first = bytes.first, let last = bytes.last else {
            return UTF8Text.string(bytes)
        }
        let place = (Int(first) &* 31 &+ Int(last) &* 7 &+ bytes.count) & 255
        if let known = strings[place], known.bytes.withUnsafeBytes({ $0.hasSameBytes(as: bytes) }) { return known.text }
        guard let text = UTF8Text.string(bytes) else { return nil }
        strings[place] = Name(bytes: Array(bytes), text: text)
        return text
    }

    /// Reads two length-prefixed names, for example of a set and a type, and advances the offset. Returns `nil`
    /// without advancing if they are not valid names or too long.
    package func pair(in bytes: UnsafeRawBufferPointer, at offset: inout Int) -> (String, String)? {
        func byte(_ place: Int) -> Int { Int(bytes.byte(at: place)) }
        let start = offset
        guard start < bytes.count, byte(start) < 0x80 else { return nil }
        let middle = start + 1 + byte(start)
        guard middle < bytes.count, byte(middle) < 0x80 else { return nil }
        let end = middle + 1 + byte(middle)
        guard end <= bytes.count else { return nil }
        let whole = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        let place = (whole.count &* 31 &+ byte(middle - 1) &+ byte(end - 1)) & 15
        if let known = pairs[place], known.bytes.withUnsafeBytes({ $0.hasSameBytes(as: whole) }) {
            offset = end
            return (known.first, known.second)
        }
        guard let first = string(UnsafeRawBufferPointer(rebasing: bytes[start + 1..<middle])),
            let second = string(UnsafeRawBufferPointer(rebasing: bytes[middle + 1..<end]))
        else { return nil }
        pairs[place] = Pair(bytes: Array(whole), first: first, second: second)
        offset = end
        return (first, second)
    }

    // MARK: Lists

    /// Returns the shared list of these names, or `nil` if they cannot form a list.
    package func list(of names: [String]) -> PropertyNames? {
        let place = Self.place(names)
        if let known = lists[place], known.names.hasSameBytes(as: names) { return known }
        return remember(names, at: place)
    }

    /// Returns the values encoded, or `nil` if they cannot be; see ``PropertyValues/packed(with:)``.
    func packed(_ names: [String], _ values: [Value]) -> PackedProperties? {
        guard let list = list(of: names) else { return nil }
        defer { if scratch.bytes.capacity > Self.scratchLimit { scratch = ByteWriter() } }
        return PackedProperties(names: list, values, scratch: &scratch)
    }

    /// Returns the values with a further one at the end, or `nil` if it cannot be encoded. They must not have the name.
    func appending(_ value: Value, _ name: String, to packed: PackedProperties) -> PackedProperties? {
        guard value.isFlat, let list = list(packed.names, adding: name) else { return nil }
        scratch.removeAll()
        scratch.value(value)
        defer { if scratch.bytes.capacity > Self.scratchLimit { scratch = ByteWriter() } }
        return scratch.bytes.withUnsafeBytes { packed.appending($0, named: list) }
    }

    private func list(_ names: PropertyNames, adding name: String) -> PropertyNames? {
        if let longer, longer.names === names, longer.added.isExactly(name) { return longer.list }
        guard let list = list(of: names.names + [name]) else { return nil }
        longer = LongerList(names: names, added: name, list: list)
        return list
    }

    func list(_ place: Int) -> PropertyNames? {
        guard let list = lists[place] else { return nil }
        if list !== lastList { lastList = list }
        return list
    }

    @discardableResult
    func remember(_ names: [String], at place: Int) -> PropertyNames? {
        let list = PropertyNames(names)
        if let list { lists[place] = list }
        return list
    }

    /// Returns the slot of a list whose first name, with its length, is at the offset.
    static func place(count: Int, encoded bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
        guard offset < bytes.count else { return 0 }
        let length = Int(bytes[offset])
        let start = offset + 1
        return place(count, length, bytes[start..<max(start, min(start + length, bytes.count))])
    }

    private static func place(_ names: [String]) -> Int {
        guard let first = names.first else { return 0 }
        // The first byte of the encoded length.
        let length = first.utf8.count < 0x80 ? first.utf8.count : first.utf8.count & 0x7F | 0x80
        return place(names.count, length, first.utf8)
    }

    private static func place(_ count: Int, _ length: Int, _ first: some Collection<UInt8>) -> Int {
        // The length of a long name has several bytes; such names share a slot per length byte.
        guard length < 0x80 else { return (count &* 31 &+ length) & 63 }
        return first.prefix(7).reduce(count &* 31 &+ length) { $0 &* 31 &+ Int($1) } & 63
    }
}
