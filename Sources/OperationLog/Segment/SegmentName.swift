/// The names of the log's files: a sequence number in twenty decimal digits, so that names sort like numbers, and a
/// suffix that tells what the file is.
enum SegmentName {
    enum Form: CaseIterable {
        /// Records from the number on.
        case segment
        /// The state in front of the record with the number.
        case snapshot

        var suffix: String {
            switch self {
            case .segment: ".segment"
            case .snapshot: ".snapshot"
            }
        }
    }

    static let digits = 20

    /// Behind the name of a file that is not yet whole and durable. Nobody reads it; the next writer removes it.
    static let unfinishedSuffix = ".new"

    static func name(_ form: Form = .segment, firstSequence: UInt64) -> String {
        let number = String(firstSequence)
        return String(repeating: "0", count: digits - number.count) + number + form.suffix
    }

    /// Nil for a name that is of another form, or none of the log's.
    static func firstSequence(of name: String, _ form: Form = .segment) -> UInt64? {
        guard name.hasSuffix(form.suffix), name.utf8.count == digits + form.suffix.utf8.count else { return nil }
        let number = name.utf8.prefix(digits)
        guard number.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt64(String(decoding: number, as: UTF8.self))
    }

    static func isUnfinished(_ name: String) -> Bool {
        Form.allCases.contains { name.hasSuffix($0.suffix + unfinishedSuffix) }
    }

    /// The numbers of the files of this form among these names, ascending.
    static func sorted(_ names: [String], _ form: Form = .segment) -> [UInt64] {
        names.compactMap { firstSequence(of: $0, form) }.sorted()
    }
}
