/// The start and the size of a page.
///
/// The token contains everything that the next page requires, so that the service stores nothing and rows that are
/// added or removed in between do not shift the rest.
struct Paging {
    /// The number of entities on earlier pages.
    var consumed = 0
    /// The number of the last row returned.
    var last: Int?
    var size: Int?
    /// The number of the state of the first page, if changes are tracked.
    var moment: Int?

    /// Parses a token, or returns nil if it is not from this service.
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

    /// Returns a page.
    ///
    /// - Parameters:
    ///   - rows: All matching rows in order.
    ///   - skip: The `$skip` option of the query, which applies to the first page.
    ///   - top: The `$top` option of the query, over all pages.
    /// - Returns: The page's rows and, if more rows follow, the token of the next page.
    func page(_ rows: [Row], skip: Int, top: Int) -> (rows: ArraySlice<Row>, next: String?) {
        var start = min(rows.count, skip) + min(consumed, rows.count)
        if let last, let index = rows.firstIndex(where: { $0.id.number == last }) { start = index + 1 }
        let rest = rows.dropFirst(start).prefix(max(0, top - consumed))
        guard let size, rest.count > size, let final = rest.prefix(size).last else { return (rest, nil) }
        let suffix = moment.map { "-\($0)" } ?? ""
        return (rest.prefix(size), "\(consumed + size)-\(final.id.number)-\(size)\(suffix)")
    }
}
