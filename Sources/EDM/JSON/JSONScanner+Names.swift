/// The names of one object's members so far, to find one that comes twice.
///
/// Readers disagree about which of two members of one name holds (RFC 8259, section 4), so an object with such members has no
/// meaning that could be relied on. Names are the same if their code units are, after their escapes are resolved.
package struct MemberNames {
    /// Names without escapes, as places in the document; with more than ``fewLimit`` names, or with an escape, all of them
    /// are in ``many``.
    private var few: [Range<Int>] = []
    private var many: Set<[UInt8]> = []

    package init() {}

    /// Comparing each name with each other one is faster up to here.
    private static let fewLimit = 24

    /// Adds the name that stands between the quotation marks.
    ///
    /// - Returns: whether it is the first of that name.
    mutating func insert(
        _ range: Range<Int>, in bytes: [UInt8], decoded: () throws(JSONError) -> String
    ) throws(JSONError) -> Bool {
        let isPlain = bytes.withUnsafeBytes { !$0[range].contains(UInt8(ascii: "\\")) }
        guard many.isEmpty, isPlain, few.count < Self.fewLimit else {
            for range in few { many.insert(Array(bytes[range])) }
            few = []
            return many.insert(isPlain ? Array(bytes[range]) : Array(try decoded().utf8)).inserted
        }
        let isNew = bytes.withUnsafeBytes { bytes in
            let name = UnsafeRawBufferPointer(rebasing: bytes[range])
            return !few.contains { $0.count == range.count && name.elementsEqual(bytes[$0]) }
        }
        few.append(range)
        return isNew
    }
}

extension JSONScanner {
    /// The name of the next member, which must not be among those before; nil at the object's end.
    package mutating func nextName(_ names: inout MemberNames) throws(JSONError) -> String? {
        guard try beginName() else { return nil }
        let start = offset
        let name = try quoted()
        try note(start, &names) { () throws(JSONError) in name }
        try colon()
        return name
    }

    /// Passes over the name of the next member; false at the object's end.
    package mutating func skipName(_ names: inout MemberNames) throws(JSONError) -> Bool {
        guard try beginName() else { return false }
        let start = offset
        try skipQuoted()
        try note(start, &names) { () throws(JSONError) in
            var scanner = self
            scanner.offset = start
            return try scanner.quoted()
        }
        try colon()
        return true
    }

    private mutating func beginName() throws(JSONError) -> Bool {
        guard try next(closing: UInt8(ascii: "}")) else { return false }
        skipWhitespace()
        guard try byteAhead() == UInt8(ascii: "\"") else { throw unexpected("a name") }
        return true
    }

    /// - Parameter start: where the opening quotation mark of the name is that ends at the offset.
    private func note(
        _ start: Int, _ names: inout MemberNames, _ decoded: () throws(JSONError) -> String
    ) throws(JSONError) {
        guard checksNames, try !names.insert(start + 1..<offset - 1, in: bytes, decoded: decoded) else { return }
        let name = clipped(try decoded())
        throw JSONError(.duplicateName, "The object has the member \(name) twice.", at: start)
    }
}
