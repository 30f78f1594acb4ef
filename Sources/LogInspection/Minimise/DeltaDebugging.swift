/// A deterministic delta-debugging search: it finds a small part of a list that still fails, by leaving out smaller and
/// smaller pieces.
///
/// If the failure is a pure function of the part, no single element of the result can be removed without losing the
/// failure. The search is a value that returns the next part to try, so the caller may test it asynchronously.
struct DeltaDebugging<Element> {
    /// The smallest part that is known to fail.
    private(set) var kept: [Element]
    /// The current number of pieces.
    private var pieces: Int
    /// The next piece to leave out.
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

    /// Returns the next part to try, or nil at the end.
    func next() -> [Element]? {
        guard !kept.isEmpty, piece < pieces else { return nil }
        let out = range(piece)
        return Array(kept[..<out.lowerBound] + kept[out.upperBound...])
    }

    /// Records whether the part from ``next()`` fails.
    mutating func record(fails: Bool) {
        trials += 1
        if fails {
            kept.removeSubrange(range(piece))
            // The next piece has the same size.
            pieces = max(1, min(pieces - 1, kept.count))
        } else {
            piece += 1
        }
        guard piece >= pieces, pieces < kept.count else { return }
        pieces = min(pieces * 2, kept.count)
        piece = 0
    }
}
