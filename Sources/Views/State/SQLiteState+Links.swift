public import Operations
public import SyncCore

extension SQLiteState {
    static let linkColumns = "relationship, first, second, in_base, in_local"

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

    public func links(_ relationship: String, first: EntityID) throws(StateError) -> [LinkRow] {
        guard let number = try number(of: relationship) else { return [] }
        return try list(statements.linksOfFirst, { $0.relationship(number, first) }, link)
    }

    public func links(_ relationship: String, second: EntityID) throws(StateError) -> [LinkRow] {
        guard let number = try number(of: relationship) else { return [] }
        return try list(statements.linksOfSecond, { $0.relationship(number, second) }, link)
    }

    public func link(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) -> LinkRow? {
        guard let number = try number(of: relationship) else { return nil }
        return try one(
            statements.link,
            { binding in
                binding.relationship(number, first)
                binding.id(second)
            }, link)
    }

    /// Searches each relationship, because there are few of them. Indexes over only the ends would be as large as the
    /// links.
    public func links(of id: EntityID) throws(StateError) -> [LinkRow] {
        try list(statements.linksOfEnd, { $0.id(id) }, link)
    }

    /// Uses the index of changed links. In the order of the relationships' names SQLite would read all links.
    public func changedLinks() throws(StateError) -> [LinkRow] {
        try list(
            """
            SELECT \(Self.linkColumns) FROM links INDEXED BY links_changed CROSS JOIN relationships ON id = relationship
            WHERE in_base <> in_local ORDER BY name, first, second
            """, [], link)
    }

    public func putLink(_ link: LinkRow) throws(StateError) {
        let number = try mapped { () throws(SQLiteError) in try relationships.numbered(link.relationship) }
        try run(statements.putLink) { binding in
            binding.relationship(number, link.first)
            binding.id(link.second)
            binding.integer(link.inBase ? 1 : 0)
            binding.integer(link.inLocal ? 1 : 0)
        }
    }

    public func removeLink(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) {
        guard let number = try number(of: relationship) else { return }
        try run(statements.removeLink) { binding in
            binding.relationship(number, first)
            binding.id(second)
        }
    }
}

extension Binding {
    fileprivate mutating func relationship(_ number: Int64, _ end: EntityID) {
        integer(number)
        id(end)
    }
}
