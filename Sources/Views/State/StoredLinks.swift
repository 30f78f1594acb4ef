import Operations
import SyncCore

/// The table of links.
final class StoredLinks: StatementRunner {
    let connection: Connection
    /// The names of relationships that have, or had, links.
    let relationships: InternedNames
    static let columns = "relationship, first, second, in_base, in_local"
    private let linksOfFirst = Statement(StoredLinks.query + "first = ?")
    /// Names the index, because SQLite would otherwise use the primary key and read the whole relationship.
    private let linksOfSecond = Statement(
        "SELECT \(StoredLinks.columns) FROM links INDEXED BY links_by_second "
            + "WHERE relationship = ? AND second = ? ORDER BY first")
    private let link = Statement(StoredLinks.query + "first = ? AND second = ?")
    private let putLink = Statement("INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?, ?)")
    private let insertLinks = BlockInsertion(into: "links", columns: 5)
    private let removeLink = Statement("DELETE FROM links WHERE relationship = ? AND first = ? AND second = ?")
    private let linksOfEnd = Statement(
        """
        SELECT \(StoredLinks.columns), name FROM relationships CROSS JOIN links ON relationship = id AND first = ?1
        UNION SELECT \(StoredLinks.columns), name FROM relationships
        CROSS JOIN links INDEXED BY links_by_second ON relationship = id AND second = ?1
        ORDER BY name, first, second
        """)
    /// Whether no link is only in the base state or only in the current state; false if unknown.
    private var knowsNoChanges = false
    private static let query = "SELECT \(StoredLinks.columns) FROM links WHERE relationship = ? AND "
    init(_ connection: Connection) {
        self.connection = connection
        relationships = InternedNames("relationships", connection)
    }

    func link(_ row: Row) throws(StateError) -> LinkRow {
        let name = try mapped { () throws(SQLiteError) in try relationships.name(row.integer(0)) }
        return LinkRow(
            relationship: name ?? "", first: row.entity(1),
            second: row.entity(2), inBase: row.integer(3) != 0,
            inLocal: row.integer(4) != 0)
    }

    /// Returns the number of a relationship, or nil if it has no links yet.
    private func number(of relationship: String) throws(StateError) -> Int64? {
        try mapped { () throws(SQLiteError) in try relationships.number(of: relationship) }
    }

    /// The number of a relationship by its name, for cached statements: the number may be assigned after they are
    /// prepared.
    static let numberOfRelationship = "(SELECT id FROM relationships WHERE name = ?)"

    func links(_ relationship: String, first: EntityID) throws(StateError) -> [LinkRow] {
        guard let number = try number(of: relationship) else { return [] }
        return try list(linksOfFirst, { $0.relationship(number, first) }, link)
    }

    func links(_ relationship: String, second: EntityID) throws(StateError) -> [LinkRow] {
        guard let number = try number(of: relationship) else { return [] }
        return try list(linksOfSecond, { $0.relationship(number, second) }, link)
    }

    func link(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) -> LinkRow? {
        guard let number = try number(of: relationship) else { return nil }
        return try one(
            link,
            { binding in
                binding.relationship(number, first)
                binding.id(second)
            }, link)
    }

    /// Searches each relationship, because there are few of them. Indexes over only the ends would be as large as the
    /// links.
    func links(of id: EntityID) throws(StateError) -> [LinkRow] {
        try list(linksOfEnd, { $0.id(id) }, link)
    }

    /// Uses the index of changed links. In the order of the relationships' names SQLite would read all links.
    func changedLinks() throws(StateError) -> [LinkRow] {
        if knowsNoChanges { return [] }
        let changed = try list(
            """
            SELECT \(Self.columns) FROM links INDEXED BY links_changed CROSS JOIN relationships ON id = relationship
            WHERE in_base <> in_local ORDER BY name, first, second
            """, [], link)
        knowsNoChanges = changed.isEmpty
        return changed
    }

    /// Discards cached results after a rollback.
    func invalidate() {
        relationships.invalidate()
        knowsNoChanges = false
    }

    func putLink(_ link: LinkRow) throws(StateError) {
        let number = try numbered(link.relationship)
        if link.inBase != link.inLocal { knowsNoChanges = false }
        try run(putLink) { $0.link(link, number) }
    }

    /// Stores links, each once, most of which are new.
    func putLinks(_ links: [LinkRow]) throws(StateError) {
        var numbered: [(link: LinkRow, number: Int64)] = []
        numbered.reserveCapacity(links.count)
        for link in links {
            numbered.append((link, try self.numbered(link.relationship)))
            if link.inBase != link.inLocal { knowsNoChanges = false }
        }
        try insert(numbered, by: insertLinks) {
            $1.link($0.link, $0.number)
        } orWriteEach: { item throws(StateError) in
            try run(putLink) { $0.link(item.link, item.number) }
        }
    }

    private func numbered(_ relationship: String) throws(StateError) -> Int64 {
        try mapped { () throws(SQLiteError) in try relationships.numbered(relationship) }
    }

    func removeLink(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) {
        guard let number = try number(of: relationship) else { return }
        try run(removeLink) { binding in
            binding.relationship(number, first)
            binding.id(second)
        }
    }
}

extension Binding {
    /// Binds all columns of a link, and the number of its relationship.
    fileprivate mutating func link(_ link: LinkRow, _ number: Int64) {
        relationship(number, link.first)
        id(link.second)
        integer(link.inBase ? 1 : 0)
        integer(link.inLocal ? 1 : 0)
    }

    fileprivate mutating func relationship(_ number: Int64, _ end: EntityID) {
        integer(number)
        id(end)
    }
}
