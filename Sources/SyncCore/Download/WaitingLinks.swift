import EDM
public import Operations

/// Links that deltas told of and of which an end is not in the store, in the order in which they were told.
///
/// Each is looked for again when the end comes that it waits for, and only then: a delta may tell of a hundred thousand
/// links before the first of their ends.
public struct WaitingLinks: Sendable, Hashable {
    /// How an entity is told from others that need not be known: its name or its key.
    struct End: Sendable, Hashable {
        var set: String
        var key: String

        static func == (a: End, b: End) -> Bool { a.set == b.set && a.key.isExactly(b.key) }
    }

    /// A link, and its ends as far as its text tells them.
    struct Link: Sendable, Hashable {
        var open: OpenLink
        var source: End?
        var target: End?
        /// Whether the store has it, so that it is not lost with the download.
        var isKept = false
        var awaited: End?

        var ends: Set<End> { Set([source, target].compactMap { $0 }) }
    }

    private var links: [Int: Link] = [:]
    private var nextNumber = 0
    private var byEnd: [End: Set<Int>] = [:]
    private var byAwaited: [End: Set<Int>] = [:]
    private var byText: [OpenLink: Int] = [:]
    /// Those that the store kept and that nobody has looked for yet.
    private var unread: [OpenLink]
    private var unkept = 0
    /// Whether one that the store keeps was found, or is not to be added any more, so that the store has others than these.
    public private(set) var hasLostKept = false

    /// - Parameter kept: those that earlier downloads left.
    public init(kept: [OpenLink] = []) { unread = kept }

    public var isEmpty: Bool { links.isEmpty && unread.isEmpty }
    public var count: Int { links.count + unread.count }
    /// Whether there are any that would be lost with the download.
    public var hasUnkept: Bool { unkept > 0 }

    /// In the order in which they were told, those that the store kept first.
    public var open: [OpenLink] { unread + links.sorted { $0.key < $1.key }.map(\.value.open) }

    mutating func takeUnread() -> [OpenLink] {
        defer { unread = [] }
        return unread
    }

    subscript(number: Int) -> Link? { links[number] }

    /// Returns the link's number, which it already has where it was told before.
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

    /// The store has just these.
    public mutating func markKept() {
        if unkept > 0 { for number in links.keys { links[number]?.isKept = true } }
        (unkept, hasLostKept) = (0, false)
    }

    /// The link is to be looked for again when this end comes.
    mutating func wait(_ number: Int, for end: End) {
        guard let former = links[number] else { return }
        if let awaited = former.awaited { Self.remove(number, from: &byAwaited, at: awaited) }
        links[number]?.awaited = end
        byAwaited[end, default: []].insert(number)
    }

    /// Whether a link waits for an end that can come.
    var isAwaiting: Bool { !byAwaited.isEmpty }

    /// The links that waited for one of the ends, in order. Cost: that of the fewer of them.
    func arrived(among ends: [End], contains: (End) -> Bool) -> [Int] {
        let found =
            byAwaited.count < ends.count ? byAwaited.keys.filter(contains) : ends.filter { byAwaited[$0] != nil }
        return found.flatMap { byAwaited[$0] ?? [] }.sorted()
    }

    /// The service has the entity no more, so it has no link to or from it.
    mutating func forget(_ end: End) {
        for number in byEnd[end] ?? [] { remove(number) }
    }

    /// The service has the link no more.
    ///
    /// - Parameters:
    ///   - target: nil for whatever the property led to.
    ///   - kept: but for this one.
    mutating func forget(_ source: End, _ navigation: String, _ target: End?, but kept: OpenLink? = nil) {
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
