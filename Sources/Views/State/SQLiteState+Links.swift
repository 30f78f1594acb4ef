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
        try links(where: "relationship = ? AND first = ?", [.text(relationship), integer(first)])
    }

    public func links(_ relationship: String, second: EntityID) throws(StateError) -> [LinkRow] {
        try links(where: "relationship = ? AND second = ?", [.text(relationship), integer(second)])
    }

    public func link(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) -> LinkRow? {
        try links(
            where: "relationship = ? AND first = ? AND second = ?",
            [.text(relationship), integer(first), integer(second)]
        ).first
    }

    public func links(of id: EntityID) throws(StateError) -> [LinkRow] {
        try links(where: "first = ?1 OR second = ?1", [integer(id)])
    }

    public func changedLinks() throws(StateError) -> [LinkRow] { try links(where: "in_base <> in_local", []) }

    public func putLink(_ link: LinkRow) throws(StateError) {
        try run(
            "INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?, ?)",
            [
                .text(link.relationship), integer(link.first), integer(link.second), .integer(link.inBase ? 1 : 0),
                .integer(link.inLocal ? 1 : 0),
            ])
    }

    public func removeLink(_ relationship: String, first: EntityID, second: EntityID) throws(StateError) {
        try run(
            "DELETE FROM links WHERE relationship = ? AND first = ? AND second = ?",
            [.text(relationship), integer(first), integer(second)])
    }
}
