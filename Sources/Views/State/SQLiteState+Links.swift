public import Operations
public import SyncCore

extension SQLiteState {
    static let linkColumns = "relationship, first, second, in_base, in_local"

    func link(_ row: Row) throws(StateError) -> LinkRow {
        let name = try mapped { () throws(SQLiteError) in try relationships.name(row.integer(0)) }
        return LinkRow(
            relationship: name ?? "", first: EntityID(rawValue: UInt64(bitPattern: row.integer(1))),
            second: EntityID(rawValue: UInt64(bitPattern: row.integer(2))), inBase: row.integer(3) != 0,
            inLocal: row.integer(4) != 0)
    }

    /// Nil where the relationship has no links yet.
    private func number(of relationship: String) throws(StateError) -> Int64? {
        try mapped { () throws(SQLiteError) in try relationships.number(of: relationship) }
    }

    /// For the name of a relationship, in statements that are kept: it may get its number after they were made.
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

    /// Relationship by relationship, since few are the relationships: indexes over the ends alone would be as large as what
    /// they find.
    public func links(of id: EntityID) throws(StateError) -> [LinkRow] {
        try list(statements.linksOfEnd, { $0.id(id) }, link)
    }

    /// From the index of those that differ: in the order of the relationships' names SQLite would read all links.
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
