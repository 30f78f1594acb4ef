/// Returns the order of UTF-8 bytes, as in SQLite. The order of `String` differs for composed and decomposed accents.
func precedesInBytes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

/// Returns the first eight bytes of a text as a number. Texts with different numbers have the order of these, which
/// costs much less than a comparison of the texts.
func leadingBytes(of text: String) -> UInt64 {
    var (number, count): (UInt64, UInt64) = (0, 0)
    for byte in text.utf8.prefix(8) {
        number = number << 8 | UInt64(byte)
        count += 1
    }
    return number << (8 * (8 - count))
}

extension LinkRow {
    /// Returns whether the first link is before the second, by relationship, first and second entity.
    static func inOrder(_ a: LinkRow, _ b: LinkRow) -> Bool {
        a.relationship == b.relationship
            ? (a.first, a.second) < (b.first, b.second) : precedesInBytes(a.relationship, b.relationship)
    }
}
