/// Returns the order of UTF-8 bytes, as in SQLite. The order of `String` differs for composed and decomposed accents.
func precedesInBytes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

extension LinkRow {
    /// Returns whether the first link is before the second, by relationship, first and second entity.
    static func inOrder(_ a: LinkRow, _ b: LinkRow) -> Bool {
        a.relationship == b.relationship
            ? (a.first, a.second) < (b.first, b.second) : precedesInBytes(a.relationship, b.relationship)
    }
}
