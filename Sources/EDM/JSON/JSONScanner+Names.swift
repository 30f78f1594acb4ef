/// The names of one object's members so far, for detecting duplicates.
///
/// Readers differ in which of two members with the same name they use (RFC 8259, section 4), so such an object is
/// ambiguous. Names are compared by code units after resolving escapes.
package struct MemberNames {
    /// Names without escapes, as ranges of the document. With more than ``fewLimit`` names, or with an escape, all
    /// names are in ``many`` instead.
    private var few: [Range<Int>] = []
    private var many: Set<[UInt8]> = []

    package init() {}

    /// Up to this count, comparing all names is faster than hashing.
    private static let fewLimit = 24

    /// Adds the name between the quotation marks.
    ///
    /// - Returns: Whether the name is new.
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
    /// Returns the name of the next member, or `nil` at the end of the object. Throws if the name is a duplicate.
    package mutating func nextName(_ names: inout MemberNames) throws(JSONError) -> String? {
        guard try beginName() else { return nil }
        let start = offset
        let name = try quoted()
        try recordName(start, &names) { () throws(JSONError) in name }
        try colon()
        return name
    }

    /// Skips the name of the next member. Returns `false` at the end of the object.
    package mutating func skipName(_ names: inout MemberNames) throws(JSONError) -> Bool {
        guard try beginName() else { return false }
        let start = offset
        try skipQuoted()
        try recordName(start, &names) { () throws(JSONError) in
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

    /// - Parameter start: the offset of the opening quotation mark of the name that ends at the current offset.
    private func recordName(
        _ start: Int, _ names: inout MemberNames, _ decoded: () throws(JSONError) -> String
    ) throws(JSONError) {
        guard checksNames, try !names.insert(start + 1..<offset - 1, in: bytes, decoded: decoded) else { return }
        let name = clipped(try decoded())
        throw JSONError(.duplicateName, "The object has the member \(name) twice.", at: start)
    }
}
