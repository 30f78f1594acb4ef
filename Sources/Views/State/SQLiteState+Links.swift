public import Operations
public import SyncCore

extension SQLiteState {
    static let linkColumns = "relationship, first, second, in_base, in_local"

    private func links(where condition: String, _ values: [SQLValue]) throws(StateError) -> [LinkRow] {
        try list(
            "SELECT \(Self.linkColumns) FROM links WHERE \(condition) ORDER BY relationship, first, second", values,
            link)
    }

    func link(_ row: Row) -> LinkRow {
        LinkRow(
            relationship: row.text(0) ?? "", first: EntityID(rawValue: UInt64(bitPattern: row.integer(1))),
            second: EntityID(rawValue: UInt64(bitPattern: row.integer(2))), inBase: row.integer(3) != 0,
            inLocal: row.integer(4) != 0)
    }

    public func links(_ relationship: String, first: EntityID) throws(StateError) -> [LinkRow] {
        try list(statements.linksOfFirst, { $0.relationship(relationship, first) }, link)
    }

    public func links(_ relationship: String, second: EntityID) throws(StateError) -> [LinkRow] {
        try list(statements.linksOfSecond, { $0.relationship(relationship, second) }, link)
    }

    public func link(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) -> LinkRow? {
        try one(
            statements.link,
            { binding in
                binding.relationship(relationship, first)
                binding.id(second)
            }, link)
    }

    /// Relationship by relationship, since few are the relationships: indexes over the ends alone would be as large as what
    /// they find.
    public func links(of id: EntityID) throws(StateError) -> [LinkRow] {
        try list(
            """
            SELECT \(Self.linkColumns) FROM relationships CROSS JOIN links ON relationship = name AND first = ?1
            UNION SELECT \(Self.linkColumns) FROM relationships
            CROSS JOIN links INDEXED BY links_by_second ON relationship = name AND second = ?1
            ORDER BY relationship, first, second
            """, [integer(id)], link)
    }

    public func changedLinks() throws(StateError) -> [LinkRow] { try links(where: "in_base <> in_local", []) }

    public func putLink(_ link: LinkRow) throws(StateError) {
        if relationships.insert(link.relationship).inserted {
            try run("INSERT OR IGNORE INTO relationships VALUES (?)", [.text(link.relationship)])
        }
        try run(statements.putLink) { binding in
            binding.relationship(link.relationship, link.first)
            binding.id(link.second)
            binding.integer(link.inBase ? 1 : 0)
            binding.integer(link.inLocal ? 1 : 0)
        }
    }

    public func removeLink(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) {
        try run(
            "DELETE FROM links WHERE relationship = ? AND first = ? AND second = ?",
            [.text(relationship), integer(first), integer(second)])
    }
}

extension Binding {
    fileprivate mutating func relationship(_ name: String, _ end: EntityID) {
        text(name)
        id(end)
    }
}
