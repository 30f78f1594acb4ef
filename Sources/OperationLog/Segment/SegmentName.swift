/// A segment's file name: its first sequence number in twenty decimal digits, so that names sort like numbers.
enum SegmentName {
    static let suffix = ".segment"
    /// A segment whose header is not yet durable. Nobody reads it; the next writer removes it.
    static let unfinishedSuffix = ".segment.new"
    static let digits = 20

    static func name(firstSequence: UInt64) -> String {
        let number = String(firstSequence)
        return String(repeating: "0", count: digits - number.count) + number + suffix
    }

    /// Nil for a name that is no segment's.
    static func firstSequence(of name: String) -> UInt64? {
        guard name.hasSuffix(suffix), name.utf8.count == digits + suffix.utf8.count else { return nil }
        let number = name.utf8.prefix(digits)
        guard number.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt64(String(decoding: number, as: UTF8.self))
    }

    /// The first sequence numbers of the segments among these names, ascending.
    static func sorted(_ names: [String]) -> [UInt64] {
        names.compactMap(firstSequence).sorted()
    }
}
