import Operations

/// The links of a working set: all links of a state, or those that differ from the backing.
///
/// A link is an entry of one array. Four linked lists run through the entries: the links with the same first end, those
/// with the same second end, those that differ between the base state and the current state, and those with the same
/// hash. Adding and removing a link takes amortized constant time, however many links an entity has.
///
/// Not copyable, so that a read does not retain the arrays; see ``copy()``.
struct LinkTable: ~Copyable {
    typealias Key = DirtyItems.LinkEnds

    private struct Entry {
        let relationship: Int32
        let first: UInt64
        let second: UInt64
        var content: LinkPresence
        var byFirst = ListLinks()
        var bySecond = ListLinks()
        var byChange = ListLinks()
        /// The next entry with the same hash, or -1.
        var nextOfHash: Int32 = -1

        /// Whether the state has the link.
        var isPresent: Bool { content != .removed && content != .free }
        var isChanged: Bool { content == .inBaseOnly || content == .inLocalOnly }
    }

    private enum LinkPresence: UInt8 {
        case inBaseOnly, inLocalOnly, inBoth
        /// The backing has the link, and the state does not.
        case removed
        /// The entry is not in use.
        case free
    }

    /// The neighbors of an entry in a list; -1 for none.
    private struct ListLinks {
        var next: Int32 = -1
        var previous: Int32 = -1
    }

    /// The first entries of an entity's lists, as the first end and as the second end; -1 for none.
    private struct Heads {
        var first: Int32 = -1
        var second: Int32 = -1
    }

    private var entries: [Entry] = []
    /// Indexes of the entries that are not in use.
    private var free: [Int32] = []
    private var heads = IDTable<Heads>()
    private var firstChanged: Int32 = -1
    /// The first entry of each hash of a key.
    private var byHash = IDTable<Int32>()
    private var names = RelationshipNumbers()

    init() {}

    /// Returns an independent copy, which shares the arrays until one of both changes.
    func copy() -> LinkTable {
        var copy = LinkTable()
        copy.entries = entries
        copy.free = free
        copy.heads = heads
        copy.firstChanged = firstChanged
        copy.byHash = byHash
        copy.names = names
        return copy
    }

    var isEmpty: Bool { count == 0 }
    /// The number of links, including those of the backing that are removed.
    var count: Int { entries.count - free.count }

    subscript(key: Key) -> LinkRow? {
        guard let place = place(of: key) else { return nil }
        return row(place)
    }

    /// Whether the table decides about the link: it contains the link or its removal.
    func contains(_ key: Key) -> Bool { place(of: key) != nil }

    /// The links that are only in the base state or only in the current state, in no particular order.
    var changed: [LinkRow] {
        var found: [LinkRow] = []
        var place = firstChanged
        while place >= 0 {
            if let row = row(Int(place)) { found.append(row) }
            place = entries[Int(place)].byChange.next
        }
        return found
    }

    /// All links, in no particular order.
    var links: [LinkRow] { entries.indices.compactMap { row($0) } }

    /// The highest entity at an end of a link; nil if the table is empty.
    var lastEntity: EntityID? {
        entries.lazy.filter { $0.content != .free }.map { max($0.first, $0.second) }.max().map(EntityID.init(rawValue:))
    }

    // MARK: Links of an entity

    /// The links of an entity in the table.
    struct EntityLinks {
        fileprivate(set) var links: [LinkRow] = []
        /// Whether the table decides about any link of the entity: it contains one, or the removal of one.
        fileprivate(set) var decides = false

        /// The links by relationship, first and second end.
        var sorted: [LinkRow] { links.count > 1 ? links.sorted(by: LinkRow.inOrder) : links }
    }

    /// Returns the links of a relationship that have the entity at the given end.
    func links(_ relationship: String, of id: EntityID, isFirst: Bool) -> EntityLinks {
        var found = EntityLinks()
        guard let number = names[relationship] else { return found }
        append(of: id, isFirst: isFirst, to: &found) { $0.relationship == number }
        return found
    }

    /// Returns all links of the entity, each once.
    func links(of id: EntityID) -> EntityLinks {
        var found = EntityLinks()
        append(of: id, isFirst: true, to: &found) { _ in true }
        append(of: id, isFirst: false, to: &found) { $0.first != id.rawValue }
        return found
    }

    /// Returns links of the backing, overridden by those of the table, in their order.
    func merged(_ own: EntityLinks, with stored: [LinkRow]) -> [LinkRow] {
        guard own.decides else { return stored }
        var merged = own
        for link in stored where !contains(Key(link)) { merged.links.append(link) }
        return merged.sorted
    }

    private func append(
        of id: EntityID, isFirst: Bool, to found: inout EntityLinks, where isWanted: (Entry) -> Bool
    ) {
        guard let heads = heads[id] else { return }
        var place = isFirst ? heads.first : heads.second
        while place >= 0 {
            let entry = entries[Int(place)]
            if isWanted(entry) {
                found.decides = true
                if let row = row(Int(place)) { found.links.append(row) }
            }
            place = isFirst ? entry.byFirst.next : entry.bySecond.next
        }
    }

    // MARK: Changes

    /// Stores a link, or removes it if it is in neither state. Returns the former one.
    @discardableResult
    mutating func put(_ link: LinkRow) -> LinkRow? {
        guard link.inBase || link.inLocal else { return remove(Key(link), hidesBelow: false) }
        return set(Key(link), link.inBase ? (link.inLocal ? .inBoth : .inBaseOnly) : .inLocalOnly)
    }

    /// Removes a link. Returns the former one.
    ///
    /// - Parameter hidesBelow: Whether the backing may contain the link.
    @discardableResult
    mutating func remove(_ key: Key, hidesBelow: Bool) -> LinkRow? {
        if hidesBelow { return set(key, .removed) }
        guard let place = place(of: key) else { return nil }
        let former = row(place)
        release(place)
        return former
    }

    enum Found {
        case link(LinkRow)
        case removed
        /// The storage below decides.
        case below
    }

    func find(_ key: Key) -> Found {
        guard let place = place(of: key) else { return .below }
        guard let row = row(place) else { return .removed }
        return .link(row)
    }

    /// Restores the place of a link to the former result of ``find(_:)``.
    mutating func restore(_ key: Key, to former: Found) {
        switch former {
        case .link(let link): put(link)
        case .removed: remove(key, hidesBelow: true)
        case .below: remove(key, hidesBelow: false)
        }
    }

    mutating func removeAll() {
        let keeps = entries.count < 1 << 13
        entries.removeAll(keepingCapacity: keeps)
        free.removeAll(keepingCapacity: keeps)
        heads.removeAll()
        byHash.removeAll()
        firstChanged = -1
    }

    // MARK: Entries

    private func row(_ place: Int) -> LinkRow? {
        let entry = entries[place]
        guard entry.isPresent else { return nil }
        return LinkRow(
            relationship: names[entry.relationship], first: EntityID(rawValue: entry.first),
            second: EntityID(rawValue: entry.second), inBase: entry.content != .inLocalOnly,
            inLocal: entry.content != .inBaseOnly)
    }

    private func key(_ entry: Entry) -> Key {
        Key(
            relationship: names[entry.relationship], first: EntityID(rawValue: entry.first),
            second: EntityID(rawValue: entry.second))
    }

    static func hash(_ relationship: Int32, _ first: UInt64, _ second: UInt64) -> UInt64 {
        let mixed = (first &+ UInt64(bitPattern: Int64(relationship)) &<< 48) &* 0xD6E8_FEB8_6659_FD93
        return (mixed ^ mixed &>> 32) &+ second &* 0xA076_1D64_78BD_642F
    }

    private func place(of key: Key) -> Int? {
        guard !entries.isEmpty, let number = names[key.relationship] else { return nil }
        let hash = Self.hash(number, key.first.rawValue, key.second.rawValue)
        guard let head = byHash.place(of: hash) else { return nil }
        return place(of: key, number, from: byHash[at: head])
    }

    /// Returns the place of a link among the entries with its hash.
    private func place(of key: Key, _ number: Int32, from head: Int32) -> Int? {
        var place = head
        while place >= 0 {
            let entry = entries[Int(place)]
            if entry.relationship == number, entry.first == key.first.rawValue, entry.second == key.second.rawValue {
                return Int(place)
            }
            place = entry.nextOfHash
        }
        return nil
    }

    @discardableResult
    private mutating func set(_ key: Key, _ content: LinkPresence) -> LinkRow? {
        let number = names.number(of: key.relationship)
        let hash = byHash.place(of: Self.hash(number, key.first.rawValue, key.second.rawValue), inserting: -1)
        guard let place = place(of: key, number, from: byHash[at: hash]) else {
            insert(key, number, content, hash)
            return nil
        }
        let former = row(place)
        let wasChanged = entries[place].isChanged
        entries[place].content = content
        if wasChanged != entries[place].isChanged {
            if wasChanged { removeFromChanged(place) } else { insertIntoChanged(place) }
        }
        return former
    }

    /// - Parameters:
    ///   - number: The number of the relationship.
    ///   - hash: The place of the hash of the link in ``byHash``.
    private mutating func insert(_ key: Key, _ number: Int32, _ content: LinkPresence, _ hash: Int) {
        var entry = Entry(
            relationship: number, first: key.first.rawValue, second: key.second.rawValue, content: content)
        let place = free.popLast().map(Int.init) ?? entries.count
        let index = Int32(place)
        entry.nextOfHash = byHash[at: hash]
        byHash[at: hash] = index
        let first = heads.place(of: key.first, inserting: Heads())
        entry.byFirst.next = heads[at: first].first
        heads[at: first].first = index
        let second = heads.place(of: key.second, inserting: Heads())
        entry.bySecond.next = heads[at: second].second
        heads[at: second].second = index
        if entry.byFirst.next >= 0 { entries[Int(entry.byFirst.next)].byFirst.previous = index }
        if entry.bySecond.next >= 0 { entries[Int(entry.bySecond.next)].bySecond.previous = index }
        if place == entries.count { entries.append(entry) } else { entries[place] = entry }
        if entry.isChanged { insertIntoChanged(place) }
    }

    private mutating func release(_ place: Int) {
        let entry = entries[place]
        if entry.isChanged { removeFromChanged(place) }
        removeFromHash(place)
        if unlink(entry.byFirst, .byFirst), let head = heads.place(of: entry.first) {
            heads[at: head].first = entry.byFirst.next
        }
        if unlink(entry.bySecond, .bySecond), let head = heads.place(of: entry.second) {
            heads[at: head].second = entry.bySecond.next
        }
        removeEmptyHead(of: entry.first)
        removeEmptyHead(of: entry.second)
        entries[place].content = .free
        free.append(Int32(place))
    }

    private mutating func removeEmptyHead(of id: UInt64) {
        guard let head = heads.place(of: id), heads[at: head].first < 0, heads[at: head].second < 0 else { return }
        heads.removeValue(for: id)
    }

    private enum List {
        case byFirst, bySecond, byChange
    }

    /// Connects the neighbors of an entry. Returns whether the entry was the first of its list.
    private mutating func unlink(_ links: ListLinks, _ list: List) -> Bool {
        let (next, previous) = (Int(links.next), Int(links.previous))
        switch list {
        case .byFirst:
            if next >= 0 { entries[next].byFirst.previous = links.previous }
            if previous >= 0 { entries[previous].byFirst.next = links.next }
        case .bySecond:
            if next >= 0 { entries[next].bySecond.previous = links.previous }
            if previous >= 0 { entries[previous].bySecond.next = links.next }
        case .byChange:
            if next >= 0 { entries[next].byChange.previous = links.previous }
            if previous >= 0 { entries[previous].byChange.next = links.next }
        }
        return previous < 0
    }

    private mutating func insertIntoChanged(_ place: Int) {
        entries[place].byChange = ListLinks(next: firstChanged)
        if firstChanged >= 0 { entries[Int(firstChanged)].byChange.previous = Int32(place) }
        firstChanged = Int32(place)
    }

    private mutating func removeFromChanged(_ place: Int) {
        let links = entries[place].byChange
        if unlink(links, .byChange) { firstChanged = links.next }
    }

    private mutating func removeFromHash(_ place: Int) {
        let entry = entries[place]
        let hash = Self.hash(entry.relationship, entry.first, entry.second)
        guard let head = byHash.place(of: hash) else { return }
        if byHash[at: head] == Int32(place) {
            if entry.nextOfHash < 0 { byHash.removeValue(for: hash) } else { byHash[at: head] = entry.nextOfHash }
            return
        }
        var before = Int(byHash[at: head])
        while entries[before].nextOfHash != Int32(place) { before = Int(entries[before].nextOfHash) }
        entries[before].nextOfHash = entry.nextOfHash
    }
}

extension DirtyItems.LinkEnds {
    init(_ link: LinkRow) { self.init(relationship: link.relationship, first: link.first, second: link.second) }
}

extension LinkTable {
    /// Writes the links ordered by relationship and ends, so that each page of the backing is written once.
    func write(to backing: any StateBacking) throws(StateError) {
        for entry in entries where entry.content == .removed {
            let key = key(entry)
            try backing.removeLink(key.relationship, first: key.first, second: key.second)
        }
        let entries = entries
        let places = entries.indices.filter { entries[$0].isPresent }.sorted {
            let (a, b) = (entries[$0], entries[$1])
            if a.relationship != b.relationship { return a.relationship < b.relationship }
            return a.first == b.first ? a.second < b.second : a.first < b.first
        }
        if !places.isEmpty { try backing.putLinks(places.compactMap { row($0) }) }
    }
}
