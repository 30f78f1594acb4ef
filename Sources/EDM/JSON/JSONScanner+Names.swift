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
    /// - Parameter decoded: The name if it has escapes; otherwise nil.
    /// - Returns: Whether the name is new.
    mutating func insert(_ range: Range<Int>, in bytes: [UInt8], decoded: String?) -> Bool {
        guard many.isEmpty, decoded == nil, few.count < Self.fewLimit else {
            for range in few { many.insert(Array(bytes[range])) }
            few = []
            return many.insert(decoded.map { Array($0.utf8) } ?? Array(bytes[range])).inserted
        }
        let isNew = bytes.withUnsafeBytes { bytes in
            let name = UnsafeRawBufferPointer(rebasing: bytes[range])
            return !few.contains { name.hasSameBytes(as: UnsafeRawBufferPointer(rebasing: bytes[$0])) }
        }
        if few.isEmpty { few.reserveCapacity(Self.fewLimit) }
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
        if checksNames {
            // The name ends at the first quotation mark, or has an escape before it.
            let plainEnd = bytes.withUnsafeBytes { JSONText.plainRun(in: $0, from: start + 1).end }
            try recordName(start, &names, name, isPlain: plainEnd == offset - 1)
        }
        try colon()
        return name
    }

    /// Skips the name of the next member. Returns `false` at the end of the object.
    package mutating func skipName(_ names: inout MemberNames) throws(JSONError) -> Bool {
        guard try beginName() else { return false }
        let start = offset
        let isPlain = try skipQuoted()
        try recordName(start, &names, nil, isPlain: isPlain)
        try colon()
        return true
    }

    private mutating func beginName() throws(JSONError) -> Bool {
        guard try next(closing: UInt8(ascii: "}")) else { return false }
        skipWhitespace()
        guard try byteAhead() == UInt8(ascii: "\"") else { throw unexpected("a name") }
        return true
    }

    /// - Parameters:
    ///   - start: The offset of the opening quotation mark of the name that ends at the current offset.
    ///   - known: The name, or nil if it was not decoded.
    ///   - isPlain: Whether the name has no escapes.
    private func recordName(
        _ start: Int, _ names: inout MemberNames, _ known: String?, isPlain: Bool
    ) throws(JSONError) {
        guard checksNames else { return }
        let range = start + 1..<offset - 1
        let decoded: String? = if isPlain { nil } else if let known { known } else { try name(at: start) }
        guard !names.insert(range, in: bytes, decoded: decoded) else { return }
        let name = decoded ?? known ?? String(decoding: bytes[range], as: UTF8.self)
        throw JSONError(.duplicateName, "The object has the member \(clipped(name)) twice.", at: start)
    }

    /// Decodes a name again that has been skipped.
    ///
    /// - Parameter start: The offset of its opening quotation mark.
    private func name(at start: Int) throws(JSONError) -> String {
        var scanner = self
        scanner.offset = start
        return try scanner.quoted()
    }
}
