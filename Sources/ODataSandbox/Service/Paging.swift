internal import ODataWire

/// Where a page begins and how long it is. The token carries what the next page needs to know, so that nothing has to be
/// remembered and rows added or removed in between do not shift the rest.
struct Paging {
    /// Entities handed out on earlier pages.
    var consumed = 0
    /// The number of the last row handed out.
    var last: Int?
    var size: Int?
    /// Which moment the first page was of, where changes since are told.
    var moment: Int?

    /// The page that the token leads to; nil where it is none of ours.
    init?(token: String) {
        let numbers = token.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 3 || numbers.count == 4, let consumed = numbers[0], let last = numbers[1],
            let size = numbers[2], consumed >= 0, size > 0
        else { return nil }
        self.consumed = consumed
        self.last = last
        self.size = size
        guard numbers.count == 4 else { return }
        guard let moment = numbers[3] else { return nil }
        self.moment = moment
    }

    init(size: Int?) { self.size = size }

    /// - Parameters:
    ///   - rows: all that match, in order.
    ///   - skip: `$skip` of the query; counts for the first page.
    ///   - top: `$top` of the query, over all pages.
    /// - Returns: the page's rows and, where more follow, the token of the next page.
    func page(_ rows: [Row], skip: Int, top: Int) -> (rows: ArraySlice<Row>, next: String?) {
        var start = min(rows.count, skip) + min(consumed, rows.count)
        if let last, let index = rows.firstIndex(where: { $0.id.number == last }) { start = index + 1 }
        let rest = rows.dropFirst(start).prefix(max(0, top - consumed))
        guard let size, rest.count > size, let final = rest.prefix(size).last else { return (rest, nil) }
        let suffix = moment.map { "-\($0)" } ?? ""
        return (rest.prefix(size), "\(consumed + size)-\(final.id.number)-\(size)\(suffix)")
    }
}
