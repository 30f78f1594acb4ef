import EDM
package import Operations

/// Dangling links of deltas: links with an end that is not in the store, in the order of the deltas.
///
/// Each link is looked up again only when the missing end arrives, because a delta may report a hundred thousand links
/// before the first of their ends.
package struct DanglingLinks: Sendable, Hashable {
    /// The identity of an entity that may be unknown: its name or its key.
    struct End: Sendable, Hashable {
        var set: String
        var key: String

        static func == (a: End, b: End) -> Bool { a.set == b.set && a.key.isExactly(b.key) }
    }

    /// A link, and its ends as far as its text identifies them.
    struct Link: Sendable, Hashable {
        var open: OpenLink
        var source: End?
        var target: End?
        /// Whether the link is stored, so that it survives the download.
        var isKept = false
        var awaited: End?

        var ends: Set<End> { Set([source, target].compactMap { $0 }) }
    }

    private var links: [Int: Link] = [:]
    private var nextNumber = 0
    private var byEnd: [End: Set<Int>] = [:]
    private var byAwaited: [End: Set<Int>] = [:]
    private var byText: [OpenLink: Int] = [:]
    /// The stored links that were not looked up yet.
    private var unread: [OpenLink]
    private var unkept = 0
    /// A Boolean value that indicates whether a stored link was resolved or discarded, so that the stored links are
    /// outdated.
    package private(set) var hasLostKept = false

    /// Creates the collection.
    ///
    /// - Parameter kept: The stored links of earlier downloads.
    package init(kept: [OpenLink] = []) { unread = kept }

    package var isEmpty: Bool { links.isEmpty && unread.isEmpty }
    package var count: Int { links.count + unread.count }
    /// A Boolean value that indicates whether any link would be lost after the download.
    package var hasUnkept: Bool { unkept > 0 }

    /// All links in the order of the deltas, the stored ones first.
    package var open: [OpenLink] { unread + links.sorted { $0.key < $1.key }.map(\.value.open) }

    mutating func drainUnread() -> [OpenLink] {
        defer { unread = [] }
        return unread
    }

    subscript(number: Int) -> Link? { links[number] }

    /// Adds a link. Returns its number, which is the existing one if the link was already reported.
    mutating func add(_ link: Link) -> Int {
        if let known = byText[link.open] { return known }
        defer { nextNumber += 1 }
        links[nextNumber] = link
        byText[link.open] = nextNumber
        for end in link.ends { byEnd[end, default: []].insert(nextNumber) }
        if !link.isKept { unkept += 1 }
        return nextNumber
    }

    mutating func remove(_ number: Int) {
        guard let link = links.removeValue(forKey: number) else { return }
        byText[link.open] = nil
        for end in link.ends { Self.remove(number, from: &byEnd, at: end) }
        if let awaited = link.awaited { Self.remove(number, from: &byAwaited, at: awaited) }
        if link.isKept { hasLostKept = true } else { unkept -= 1 }
    }

    /// Marks all links as stored.
    package mutating func markKept() {
        if unkept > 0 { for number in links.keys { links[number]?.isKept = true } }
        (unkept, hasLostKept) = (0, false)
    }

    /// Registers the end for which the link waits.
    mutating func wait(_ number: Int, for end: End) {
        guard let former = links[number] else { return }
        if let awaited = former.awaited { Self.remove(number, from: &byAwaited, at: awaited) }
        links[number]?.awaited = end
        byAwaited[end, default: []].insert(number)
    }

    /// Whether any link waits for an end.
    var isAwaiting: Bool { !byAwaited.isEmpty }

    /// Returns the links that waited for one of the ends, in order. The cost depends on the smaller number of the two.
    func arrived(among ends: [End], contains: (End) -> Bool) -> [Int] {
        let found =
            byAwaited.count < ends.count ? byAwaited.keys.filter(contains) : ends.filter { byAwaited[$0] != nil }
        return found.flatMap { byAwaited[$0] ?? [] }.sorted()
    }

    /// Discards all links of an entity that the service has deleted.
    mutating func removeLinks(_ end: End) {
        for number in byEnd[end] ?? [] { remove(number) }
    }

    /// Discards a link that the service has removed.
    ///
    /// - Parameters:
    ///   - target: The target, or nil for any.
    ///   - kept: A link that is not discarded.
    mutating func removeLinks(_ source: End, _ navigation: String, _ target: End?, but kept: OpenLink? = nil) {
        let (one, other) = (byEnd[source] ?? [], target.map { byEnd[$0] ?? [] })
        let numbers = other.map { $0.count < one.count ? $0 : one } ?? one
        for number in numbers {
            guard let link = links[number], link.source == source, link.open.navigation == navigation,
                target == nil || link.target == target, link.open != kept
            else { continue }
            remove(number)
        }
    }

    private static func remove(_ number: Int, from numbers: inout [End: Set<Int>], at end: End) {
        numbers[end]?.remove(number)
        if numbers[end]?.isEmpty == true { numbers[end] = nil }
    }
}
