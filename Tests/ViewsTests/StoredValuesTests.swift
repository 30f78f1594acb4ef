import EDM
import ODataQuery
import Operations
import SyncCore
import Testing

@testable import Views

/// Values of rows, in columns and in the encoded rest.
struct StoredValuesTests {
    private static let metadata = """
        <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
        <Schema Namespace="S" xmlns="http://docs.oasis-open.org/odata/ns/edm">
        <ComplexType Name="Place"><Property Name="City" Type="Edm.String"/><Property Name="Since" Type="Edm.Date"/>
        </ComplexType>
        <EntityType Name="A" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
        <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
        <Property Name="Flag" Type="Edm.Boolean"/><Property Name="Amount" Type="Edm.Decimal"/>
        <Property Name="Small" Type="Edm.Single"/><Property Name="Large" Type="Edm.Double"/>
        <Property Name="Key" Type="Edm.Guid"/><Property Name="Day" Type="Edm.Date"/>
        <Property Name="Time" Type="Edm.TimeOfDay"/><Property Name="Span" Type="Edm.Duration"/>
        <Property Name="At" Type="Edm.DateTimeOffset"/><Property Name="Bytes" Type="Edm.Binary"/>
        <Property Name="Place" Type="S.Place"/><Property Name="Tags" Type="Collection(Edm.String)"/></EntityType>
        <EntityContainer Name="C"><EntitySet Name="As" EntityType="S.A"/></EntityContainer></Schema>
        </edmx:DataServices></edmx:Edmx>
        """

    private static let full: PropertyValues = [
        "Name": .string("Straße"), "Flag": .boolean(true), "Amount": .decimal(DecimalValue("1.50")!),
        "Small": .single(0.1),
        "Large": .double(1e300), "Key": .guid(GuidValue(high: 1, low: .max)), "ID": .integer(-7),
        "Day": .date(LocalDate("-0044-03-15")!), "Time": .timeOfDay(LocalTime("23:59:59.120")!),
        "Span": .duration(DayTimeDuration("-P1DT2H0.5S")!),
        "At": .dateTimeOffset(GlobalDateTime("2024-02-29T12:00:00-05:30")!),
        "Bytes": .binary([0, 255]), "Undeclared": .integer(4), "Tags": .collection([.string("a")]),
        "Place": .complex(
            ComplexValue(type: nil, properties: ["Since": .date(LocalDate("1999-12-31")!), "City": .string("Ulm")])),
    ]

    private func state(_ path: String? = nil) throws -> SQLiteState {
        let state = try SQLiteState(path: path, store: "test")
        try state.install(CSDLReader.read(Array(Self.metadata.utf8)))
        return state
    }

    private func row(_ id: UInt64, _ values: PropertyValues) -> EntityRow {
        EntityRow(
            id: EntityID(rawValue: id), set: "As", type: "S.A", values: values, etag: "W/\"1\"", editLink: "As(1)",
            origin: .service, downloaded: 3)
    }

    private func put(_ row: EntityRow, in state: SQLiteState) throws {
        try state.register(row.id, set: row.set)
        try state.putRow(row)
    }

    private func columns(of id: Int64, in state: SQLiteState) throws -> [SQLValue] {
        let layout = try #require(state.rowTables.layouts["As"])
        let names = layout.columns.map(\.name).joined(separator: ", ")
        return try #require(
            try state.connection.first("SELECT \(names) FROM \(layout.table) WHERE entity = ?", [.integer(id)]))
    }

    @Test func `columns contain the values of their row, and none of the previous row`() throws {
        let state = try state()
        let layout = try #require(state.rowTables.layouts["As"])
        let partial: PropertyValues = ["ID": .integer(8), "Place": .null, "Day": .null, "Name": .string("")]
        let odd: PropertyValues = ["ID": .string("no number"), "Place": .string("Ulm")]
        let none: PropertyValues = ["Small": .single(.nan), "Large": .double(.nan)]
        for (index, values) in [Self.full, partial, odd, none, Self.full, ["ID": .null], [:]].enumerated() {
            try put(row(UInt64(index + 1), values), in: state)
            #expect(try columns(of: Int64(index + 1), in: state) == layout.columnValues(values))
        }
    }

    @Test func `a row that is written again has the columns and the index entries of its new values`() throws {
        let decimal = Self.metadata.replacing("\"ID\" Type=\"Edm.Int32\"", with: "\"ID\" Type=\"Edm.Decimal\"")
        let (short, long) = (Value.decimal(DecimalValue("1.5")!), Value.decimal(DecimalValue("1.50")!))
        let versions: [String: [PropertyValues]] = [
            Self.metadata: [
                Self.full, ["ID": .integer(-7)], ["ID": .integer(-7), "Name": .string("b")],
                ["ID": .integer(8), "Name": .string("b")], ["ID": .null, "Name": .string("c")], [:],
                ["ID": .string("no number")], Self.full,
            ],
            decimal: [["ID": short], ["ID": long], ["ID": long, "Name": .string("b")], ["ID": short]],
        ]
        for (metadata, versions) in versions {
            let state = try SQLiteState(path: nil, store: "test")
            try state.install(CSDLReader.read(Array(metadata.utf8)))
            let layout = try #require(state.rowTables.layouts["As"])
            for values in versions {
                try put(row(1, values), in: state)
                #expect(try columns(of: 1, in: state) == layout.columnValues(values))
                #expect(try state.row(EntityID(rawValue: 1))?.values == values)
                try ViewsVerification(state).verify()
                guard let key = values["ID"], key != .null, key != .string("no number") else { continue }
                #expect(try state.findRows(set: "As", where: [("ID", key)]) == [EntityID(rawValue: 1)])
            }
        }
    }

    @Test func `a range of keys is in the order of their bytes`() throws {
        let state = try state()
        #expect(try !state.mayHaveKeys(set: "As", from: "ID=0", through: "ID=9"))
        for key in ["ID=12", "ID=7"] { try state.assignKey(set: "As", key: key, to: EntityID(rawValue: 1)) }
        for (first, last, isFound) in [
            ("ID=2", "ID=6", false), ("ID=1", "ID=6", true), ("ID=7", "ID=7", true), ("ID=13", "ID=69", false),
            ("ID=12", "ID=12", true), ("ID=8", "ID=9", false), ("ID=9", "ID=1", false),
        ] {
            #expect(try state.mayHaveKeys(set: "As", from: first, through: last) == isFound, "\(first) \(last)")
            #expect(try !state.mayHaveKeys(set: "Others", from: first, through: last))
        }
    }

    @Test func `many keys have the same owners as each of them`() throws {
        let state = try state()
        #expect(try state.entities(set: "As", ascendingKeys: []).isEmpty)
        for number in stride(from: 100, to: 400, by: 3) {
            try state.assignKey(set: "As", key: "ID=\(number)", to: EntityID(rawValue: UInt64(number)))
            try state.assignKey(set: "As", key: "ID=\(number)0", to: EntityID(rawValue: 1))
        }
        for key in ["ID=é", "ID=e\u{301}", "ID=a", "ID=a\0", "ID=a\0b"] {
            try state.assignKey(set: "As", key: key, to: EntityID(rawValue: 2))
        }
        let numbers = [
            [100], [100, 101], Array(100..<110), Array(100..<400), [100, 100, 103, 103, 103], [300, 500, 700],
            [100, 250, 397], [101, 102], Array(stride(from: 100, to: 400, by: 50)), [397, 398, 399],
        ]
        let others = [
            ["ID=", "ID=a", "ID=e\u{301}", "ID=z", "ID=é"], ["ID=e\u{301}"], ["ID=é", "ID=é"],
            ["ID=a", "ID=a\0", "ID=a\0a", "ID=a\0b", "ID=aa"], ["ID=a\0b"],
        ]
        for keys in numbers.map({ $0.map { "ID=\($0)" } }) + others {
            for set in ["As", "Others"] {
                let expected = try keys.map { try state.entity(set: set, key: $0) }
                #expect(try state.entities(set: set, ascendingKeys: keys) == expected, "\(keys)")
            }
        }
    }

    @Test func `a row is returned as it was stored`() throws {
        let state = try state()
        for (index, values) in [Self.full, ["ID": .integer(8), "Name": .null], [:], Self.full].enumerated() {
            let row = row(UInt64(index + 1), values)
            try put(row, in: state)
            let found = try #require(try state.row(row.id))
            #expect(found == row)
            #expect(ValueCodec.encode(found.values) == ValueCodec.encode(values))
        }
    }

    @Test func `rows of one set whose types alternate are returned with their own types`() throws {
        let state = try state()
        // The metadata need not have the type of a row.
        let types = ["S.A", "S.B", "S.A", "S.Longer", "S.\u{E9}", "S.e\u{301}", "S.A", "S.B"]
        for (index, type) in types.enumerated() {
            var row = row(UInt64(index + 1), ["ID": .integer(Int64(index))])
            row.type = type
            try put(row, in: state)
        }
        for _ in 1...2 {
            let found = try state.rowTables.allRows(set: "As").map(\.type)
            #expect(found.map { Array($0.utf8) } == types.map { Array($0.utf8) })
            for (index, type) in types.enumerated() {
                let found = try #require(try state.row(EntityID(rawValue: UInt64(index + 1))))
                #expect(found.type.isExactly(type))
            }
        }
    }

    @Test func `rows with the same property names share one list of names`() throws {
        let state = try state()
        for id in 1...3 { try put(row(UInt64(id), ["ID": .integer(Int64(id)), "Name": .string("a")]), in: state) }
        #expect(try state.connection.first("SELECT count(*) FROM shapes") == [.integer(1)])
        let rows = try state.rowTables.allRows(set: "As")
        #expect(rows.count == 3 && rows.allSatisfy { $0.values.packed?.names === rows[0].values.packed?.names })
    }

    @Test func `names with equal characters and different bytes are distinguished`() throws {
        let state = try state()
        let rows = ["é", "e\u{301}", "K", "\u{212A}"].enumerated().map { index, name in
            row(UInt64(index + 1), ["ID": .integer(1), name: .integer(2)])
        }
        for row in rows { try put(row, in: state) }
        for row in rows {
            #expect(try state.row(row.id).map { ValueCodec.encode($0.values) } == ValueCodec.encode(row.values))
        }
    }

    @Test func `rows with property names that are not interned store the names themselves`() throws {
        let state = try state()
        try state.connection.run("INSERT INTO shapes VALUES (?, x'01')", [.integer(RowSchemas.limit)])
        let row = row(1, Self.full)
        try put(row, in: state)
        #expect(try state.connection.first("SELECT shape FROM set_As") == [.integer(0)])
        #expect(try state.row(row.id) == row)
        #expect(try columns(of: 1, in: state) == #require(state.rowTables.layouts["As"]).columnValues(Self.full))
    }

    @Test func `names whose transaction was rolled back are interned again`() throws {
        struct Stop: Error {}
        let state = try state()
        _ = try? state.transaction {
            try put(row(1, ["ID": .integer(1)]), in: state)
            throw Stop()
        }
        try put(row(2, ["Name": .string("a")]), in: state)
        try put(row(3, ["ID": .integer(3)]), in: state)
        #expect(try state.row(EntityID(rawValue: 2))?.values == ["Name": .string("a")])
        #expect(try state.row(EntityID(rawValue: 3))?.values == ["ID": .integer(3)])
    }

    @Test func `rows of one result have their own types, names and values`() throws {
        let state = try state()
        var rows = [Self.full, ["ID": .integer(1)], Self.full, [:], ["ID": .integer(2)], ["Name": .string("a")]]
            .enumerated().map { row(UInt64($0.offset + 1), $0.element) }
        rows[2].type = "S.B"
        (rows[4].etag, rows[4].editLink) = (nil, nil)
        for row in rows { try put(row, in: state) }
        // The next row has a new list of names, which is not interned.
        try state.connection.run("INSERT INTO shapes VALUES (?, x'01')", [.integer(RowSchemas.limit)])
        rows.append(row(7, ["Flag": .boolean(true)]))
        rows.append(row(8, ["ID": .integer(3)]))
        for row in rows.suffix(2) { try put(row, in: state) }
        #expect(try state.connection.first("SELECT shape FROM set_As WHERE entity = 7") == [.integer(0)])
        let set = try #require(state.rowTables.model?.findEntitySet("As"))
        #expect(try state.entityQueries.rows(in: set, QueryOptions()) == rows)
        for row in rows { #expect(try state.row(row.id) == row) }
    }

    @Test(arguments: [nil, "Name"], ["property_values || x'00'", "x'07FF'", "x''"])
    func `a damaged row among others of a result is reported`(only name: String?, damage: String) throws {
        let state = try state()
        for id in 1...3 as ClosedRange<UInt64> { try put(row(id, Self.full), in: state) }
        let set = try #require(state.rowTables.model?.findEntitySet("As"))
        let subset = name.map { name in PropertySubset { $0 == name } }
        #expect(try state.entityQueries.rows(in: set, QueryOptions(), only: subset).count == 3)
        try state.connection.run("UPDATE set_As SET property_values = \(damage) WHERE entity = 2")
        let error = #expect(throws: StateError.self) {
            try state.entityQueries.rows(in: set, QueryOptions(), only: subset)
        }
        #expect(error?.code == .damaged)
    }

    @Test func `a base contains the values of its row`() throws {
        let state = try state()
        let row = row(1, Self.full)
        try state.saveBase(row.id, .row(row))
        try state.saveBase(EntityID(rawValue: 2), .absent)
        #expect(try state.base(row.id) == .row(row))
        #expect(try state.base(EntityID(rawValue: 2)) == .absent)
    }

    @Test(arguments: [
        "DELETE FROM shapes", "UPDATE shapes SET names = x'0141'", "UPDATE shapes SET names = x'05'",
        "UPDATE set_As SET property_values = x''", "UPDATE set_As SET property_values = property_values || x'00'",
        "UPDATE set_As SET property_values = x'07FF'", "UPDATE set_As SET shape = 77", "UPDATE set_As SET shape = 0",
        "UPDATE set_As SET origin = 9",
    ]) func `rows with invalid content are reported as damage`(damage: String) throws {
        let file = ViewsFile()
        do {
            let state = try state(file.path)
            try state.connection.run("UPDATE header SET applied = 1")
            try put(row(1, Self.full), in: state)
            try state.connection.run(damage)
            state.close()
        }
        let state = try file.open()
        state.adopt(try CSDLReader.read(Array(Self.metadata.utf8)))
        let error = #expect(throws: StateError.self) { try state.row(EntityID(rawValue: 1)) }
        #expect(error?.code == .damaged)
    }
}
