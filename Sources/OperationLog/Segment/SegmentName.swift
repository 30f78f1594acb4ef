/// The names of the log's files: a sequence number in twenty decimal digits, so that names sort like numbers, and a
/// suffix for the kind of file.
enum SegmentName {
    enum LogFileKind: CaseIterable {
        /// Records, beginning with this number.
        case segment
        /// The state before the record with this number.
        case snapshot

        var suffix: String {
            switch self {
            case .segment: ".segment"
            case .snapshot: ".snapshot"
            }
        }
    }

    static let digits = 20

    /// The suffix of a file that is not yet complete and durable. Readers ignore it; the next writer removes it.
    static let unfinishedSuffix = ".new"

    static func name(_ form: LogFileKind = .segment, firstSequence: UInt64) -> String {
        let number = String(firstSequence)
        return String(repeating: "0", count: digits - number.count) + number + form.suffix
    }

    /// Returns the sequence number in a name, or nil if the name has another form.
    static func firstSequence(of name: String, _ form: LogFileKind = .segment) -> UInt64? {
        guard name.hasSuffix(form.suffix), name.utf8.count == digits + form.suffix.utf8.count else { return nil }
        let number = name.utf8.prefix(digits)
        guard number.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt64(String(decoding: number, as: UTF8.self))
    }

    static func isUnfinished(_ name: String) -> Bool {
        LogFileKind.allCases.contains { name.hasSuffix($0.suffix + unfinishedSuffix) }
    }

    /// Returns the numbers of the files of this form, ascending.
    static func sorted(_ names: [String], _ form: LogFileKind = .segment) -> [UInt64] {
        names.compactMap { firstSequence(of: $0, form) }.sorted()
    }
}
