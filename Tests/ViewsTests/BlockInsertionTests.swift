import EDM
import Operations
import SyncCore
import Testing

@testable import Views

/// Rows, links and keys that are written in blocks equal those that are written one after the other.
struct BlockInsertionTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <EntityType Name="A" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        <Property Name="Day" Type="Edm.Date"/><Property Name="Key" Type="Edm.Guid"/></EntityType>
        <EntityType Name="Wide"><Key><PropertyRef Name="P0"/></Key>
        \((0..<300).map { "<Property Name=\"P\($0)\" Type=\"Edm.Int32\"/>" }.joined())</EntityType>
        <EntityContainer Name="C"><EntitySet Name="As" EntityType="S.A"/><EntitySet Name="Bs" EntityType="S.A"/>
        <EntitySet Name="Wides" EntityType="S.Wide"/></EntityContainer></Schema>
        </edmx:DataServices></edmx:Edmx>
        """

    private func views() throws -> SQLiteState {
        let state = try SQLiteState(path: nil, store: "test")
        try state.install(CSDLReader.read(Array(Self.metadata.utf8)))
        return state
    }

    private func row(_ id: UInt64, _ values: PropertyValues, in set: String = "As") -> EntityRow {
        EntityRow(
            id: EntityID(rawValue: id), set: set, type: set == "Wides" ? "S.Wide" : "S.A", values: values,
            etag: id % 3 == 0 ? nil : "W/\"\(id)\"", editLink: id % 2 == 0 ? nil : "As(\(id))", origin: .service,
            downloaded: id)
    }

    /// Values whose names, types and sizes differ from row to row.
    private func values(_ id: UInt64) -> PropertyValues {
        let key = Value.integer(Int64(id))
        switch id % 7 {
        case 0: return ["ID": key]
        case 1: return ["ID": key, "Name": .string(String(repeating: "x", count: Int(id % 13) * 40)), "Day": .null]
        case 2: return ["ID": key, "Undeclared": .collection([.string("a"), key])]
        case 3: return ["Day": .date(LocalDate("1999-12-31")!), "ID": .null]
        case 4: return [:]
        default:
            return [
                "ID": key, "Name": .string("n\(id)"), "Day": .date(LocalDate("2024-02-29")!),
                "Key": .guid(GuidValue(high: id, low: .max)),
            ]
        }
    }

    private func register(_ rows: [EntityRow], in state: SQLiteState) throws {
        try state.transaction { for row in rows { try state.register(row.id, set: row.set) } }
    }

    private func expectSame(_ rows: [EntityRow], after before: [EntityRow] = [], _ name: String) throws {
        let (blocks, each) = (try views(), try views())
        for state in [blocks, each] {
            try register(before + rows, in: state)
            try state.transaction { for row in before { try state.putRow(row) } }
        }
        try blocks.transaction { try blocks.putRows(rows) }
        try each.transaction { for row in rows { try each.putRow(row) } }
        #expect(try StateDigest(of: blocks) == StateDigest(of: each), "\(name)")
        try ViewsVerification(blocks).verify()
        for row in rows {
            let found = try #require(try blocks.row(row.id), "\(name)")
            #expect(found == row, "\(name), \(row.id)")
            #expect(ValueCodec.encode(found.values) == ValueCodec.encode(row.values), "\(name), \(row.id)")
        }
    }

    // MARK: Rows

    @Test(arguments: [0, 1, 31, 32, 33, 64, 65, 200])
    func `rows in blocks have the values and the columns of rows written one after the other`(_ count: Int) throws {
        try expectSame((0..<count).map { row(UInt64($0 + 1), values(UInt64($0 + 1))) }, "\(count) rows")
    }

    @Test func `rows of several sets are written to their tables`() throws {
        var rows: [EntityRow] = []
        for (set, ids) in [("As", 1...70), ("Bs", 71...75), ("Wides", 76...150)] as [(String, ClosedRange<UInt64>)] {
            rows += ids.map { row($0, set == "Wides" ? ["P0": .integer(Int64($0))] : values($0), in: set) }
        }
        try expectSame(rows, "several sets")
    }

    @Test func `stored rows among the new ones are replaced`() throws {
        let before = stride(from: 2, through: 100, by: 3).map { row(UInt64($0), ["ID": .integer(-Int64($0))]) }
        try expectSame((1...260).map { row(UInt64($0), values(UInt64($0))) }, after: before, "stored rows")
        // All IDs are lower than a stored one.
        try expectSame((1...90).map { row(UInt64($0), values(UInt64($0))) }, after: [row(500, [:])], "a later row")
    }

    @Test func `a block with values that exceed its memory is written row by row`() throws {
        let rows = (1...70 as ClosedRange<UInt64>).map { id in
            let name = String(repeating: "é", count: id == 40 ? 200_000 : 9)
            return row(id, ["ID": .integer(Int64(id)), "Name": .string(name)])
        }
        try expectSame(rows, "large values")
        let texts = (1...64 as ClosedRange<UInt64>).map { id in
            var row = row(id, values(id))
            row.etag = String(repeating: "e", count: 5_000)
            return row
        }
        try expectSame(texts, "large ETags")
    }

    @Test func `only tables with few columns are written in blocks`() throws {
        let layouts = try views().rowTables.layouts
        #expect(layouts["As"]?.blockInsertion?.size == 32)
        #expect(try #require(layouts["Wides"]).blockInsertion == nil)
    }

    @Test func `searches find rows that were inserted in blocks after an earlier search`() throws {
        let state = try views()
        let rows = (1...64 as ClosedRange<UInt64>).map { row($0, ["ID": .integer(Int64($0 % 8))]) }
        try register(rows, in: state)
        try state.transaction {
            #expect(try state.findRows(set: "As", where: [("ID", .integer(3))]) == [])
            try state.putRows(Array(rows[..<32]))
            #expect(try state.findRows(set: "As", where: [("ID", .integer(3))]).map(\.rawValue) == [3, 11, 19, 27])
            try state.putRows(Array(rows[32...]))
            #expect(try state.findRows(set: "As", where: [("ID", .integer(3))]).count == 8)
        }
    }

    @Test func `a rollback removes the rows, links and keys of blocks`() throws {
        struct Stop: Error {}
        let state = try views()
        let rows = (1...64 as ClosedRange<UInt64>).map { row($0, values($0)) }
        try register(rows, in: state)
        let before = try StateDigest(of: state)
        #expect(throws: Stop.self) {
            try state.transaction {
                try state.putRows(rows)
                try state.putLinks(rows.map { link("R", $0.id.rawValue, 1) })
                try state.assignKeys(rows.map { (set: "As", key: "ID=\($0.id)", entity: $0.id) })
                throw Stop()
            }
        }
        #expect(try StateDigest(of: state) == before)
        try state.transaction { try state.putRows(rows) }
        #expect(try state.rows(set: "As").count == 64)
    }

    // MARK: Links and keys

    private func link(_ name: String, _ first: UInt64, _ second: UInt64, inLocal: Bool = true) -> LinkRow {
        LinkRow(
            relationship: name, first: EntityID(rawValue: first), second: EntityID(rawValue: second), inBase: true,
            inLocal: inLocal)
    }

    @Test(arguments: [0, 1, 17, 40, 100])
    func `links in blocks replace stored links`(_ stored: Int) throws {
        let state = try views()
        try state.transaction {
            for first in 0..<UInt64(stored) { try state.putLink(link("R", first + 1, 9)) }
            try state.putLinks((1...100).map { link("R", $0, 9, inLocal: false) } + (1...50).map { link("Q", $0, $0) })
        }
        var found: [LinkRow] = []
        try state.forEachLink { found.append($0) }
        #expect(
            found == (1...50).map { link("Q", $0, $0) } + (1...100).map { link("R", $0, 9, inLocal: false) })
        #expect(try state.links("R", second: EntityID(rawValue: 9)).count == 100)
        #expect(try state.changedLinks().count == 100)
        try ViewsVerification(state).verify()
    }

    @Test(arguments: [0, 1, 17, 40, 100])
    func `keys in blocks replace stored keys`(_ stored: Int) throws {
        let state = try views()
        func key(_ number: Int, of id: Int) -> (set: String, key: String, entity: EntityID) {
            (set: number % 2 == 0 ? "As" : "", key: "ID=\(number)", entity: EntityID(rawValue: UInt64(id)))
        }
        try state.transaction {
            for number in 0..<stored {
                let key = key(number, of: 7)
                try state.assignKey(set: key.set, key: key.key, to: key.entity)
            }
            try state.assignKeys((0..<100).map { key($0, of: $0 + 200) })
        }
        for number in 0..<100 {
            let key = key(number, of: number + 200)
            #expect(try state.entity(set: key.set, key: key.key) == key.entity)
        }
        #expect(try state.keyMap().count == 100)
    }
}
