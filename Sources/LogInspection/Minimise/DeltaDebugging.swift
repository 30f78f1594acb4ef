/// The search for a small part of a list that still fails, by leaving out ever smaller pieces: delta debugging, in the order
/// that makes it deterministic. What remains cannot lose any single element and still fail, where the failure is a pure
/// function of the part.
///
/// A value that says which part to try next, so that whoever tries it may take its time.
struct DeltaDebugging<Element> {
    /// What is known to fail.
    private(set) var kept: [Element]
    /// Into how many pieces it is cut at the moment.
    private var pieces: Int
    /// The piece that is left out next.
    private var piece = 0
    private(set) var trials = 0

    init(_ elements: [Element]) {
        kept = elements
        pieces = elements.count > 1 ? 2 : 1
    }

    private func range(_ piece: Int) -> Range<Int> {
        let (size, rest) = kept.count.quotientAndRemainder(dividingBy: pieces)
        let start = piece * size + min(piece, rest)
        return start..<(start + size + (piece < rest ? 1 : 0))
    }

    /// The part to try next; nil at the end.
    func next() -> [Element]? {
        guard !kept.isEmpty, piece < pieces else { return nil }
        let out = range(piece)
        return Array(kept[..<out.lowerBound] + kept[out.upperBound...])
    }

    /// Takes in whether the part that ``next()`` gave fails.
    mutating func note(fails: Bool) {
        trials += 1
        if fails {
            kept.removeSubrange(range(piece))
            // What stood behind it comes next, in pieces of the same size.
            pieces = max(1, min(pieces - 1, kept.count))
        } else {
            piece += 1
        }
        guard piece >= pieces, pieces < kept.count else { return }
        pieces = min(pieces * 2, kept.count)
        piece = 0
    }
}
