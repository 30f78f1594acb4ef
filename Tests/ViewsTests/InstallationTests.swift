import EDM
import Operations
import SyncCore
import Testing
import Views

/// Changed metadata, in views with more rows than one step of the migration writes.
struct InstallationTests {
    private static let count = 1_200

    private static func service(_ metadata: String) -> Record.Body {
        .serviceInstalled(ServiceDescription(root: "http://127.0.0.1/", metadata: Array(metadata.utf8)))
    }

    /// Records of customers, each with a pending update, and of metadata in which they have one property less.
    private static var records: [Record] {
        let images = (1...count).map { number in
            EntityImage(
                entity: EntityID(rawValue: UInt64(number)), set: "Customers", type: "S.Customer",
                values: ["ID": .integer(Int64(number)), "Name": .string("N\(number)"), "Rating": .integer(1)])
        }
        let updates = images.map {
            Record.Body.operation(Operation(.update($0.entity, changes: ["Name": .string("mine")], bindings: [])))
        }
        let changed = RandomRecords.metadata.replacing(
            "<Property Name=\"Rating\" Type=\"Edm.Decimal\" Scale=\"variable\"/>", with: "")
        let bodies = [service(RandomRecords.metadata), .entitiesRead(images)] + updates + [service(changed)]
        return bodies.enumerated().map { Record(time: Int64($0.offset), body: $0.element) }
    }

    private func folded(_ storage: WorkingSet) throws -> Fold {
        var fold = try Fold(storage: storage)
        for (index, record) in Self.records.enumerated() {
            try fold.apply(record, sequence: SequenceNumber(index + 1))
            try fold.finishRebase()
        }
        return fold
    }

    @Test func `any number of rows and bases is converted to changed metadata`() throws {
        let memory = WorkingSet()
        _ = try folded(memory)
        let file = ViewsFile()
        let state = try file.openState(flushLimit: 100)
        try state.transaction { _ = try folded(state) }
        #expect(try StateDigest(of: state) == StateDigest(of: memory))
        #expect(try state.rows(set: "Customers").count == Self.count)
        #expect(try state.row(EntityID(rawValue: 700))?.values["Rating"] == nil)
        #expect(try state.base(EntityID(rawValue: 700)) != nil)
        // The compared property has an index again.
        #expect(try state.findRows(set: "Customers", where: [("ID", .integer(700))]) == [EntityID(rawValue: 700)])
    }

    @Test func `an entity that a new one of a derived type links is pending under changed metadata`() throws {
        let metadata = RandomRecords.metadata.replacing(
            "<Property Name=\"Size\" Type=\"Edm.Int64\"/>",
            with: "<NavigationProperty Name=\"Reserved\" Type=\"Collection(S.Order)\" Partner=\"Holder\"/>"
        ).replacing(
            "<Property Name=\"Note\" Type=\"Edm.String\"/>",
            with: "<NavigationProperty Name=\"Holder\" Type=\"S.BigCustomer\" Partner=\"Reserved\"/>")
        let changed = metadata.replacing(
            "<Property Name=\"Rating\" Type=\"Edm.Decimal\" Scale=\"variable\"/>", with: "")
        let (order, customer) = (EntityID(rawValue: 1), EntityID(rawValue: 2))
        let bodies: [Record.Body] = [
            Self.service(metadata),
            .entitiesRead([EntityImage(entity: order, set: "Orders", type: "S.Order", values: ["ID": .integer(1)])]),
            .operation(
                Operation(
                    .create(
                        Creation(
                            entity: customer, set: "Customers", type: "S.BigCustomer", values: ["ID": .integer(2)]),
                        parent: nil))),
            .operation(Operation(.createLink(Link(from: customer, navigation: "Reserved", to: order)))),
            Self.service(changed),
        ]
        let file = ViewsFile()
        let state = try file.openState(flushLimit: 100)
        try state.transaction {
            var fold = try Fold(storage: state)
            for (index, body) in bodies.enumerated() {
                try fold.apply(Record(time: 0, body: body), sequence: SequenceNumber(index + 1))
                try fold.finishRebase()
            }
        }
        #expect(try state.pendingState(of: order) == .pending)
        state.close()
        #expect(
            try file.openState(flushLimit: 100).pendingState(of: order) == .pending, "after opening the views again")
    }

    @Test func `changed metadata recreate only the tables that they change`() throws {
        let file = ViewsFile()
        let state = try file.openState(flushLimit: 100)
        try state.transaction { _ = try folded(state) }
        let views = try #require(state.backing as? SQLiteState)
        func pages() throws -> [String: Int64] {
            var pages: [String: Int64] = [:]
            try views.connection.query(
                "SELECT name, rootpage FROM sqlite_master WHERE type IN ('table', 'index') AND tbl_name LIKE 'set_%'"
            ) { row in pages[row.text(0) ?? ""] = row.integer(1) }
            return pages
        }
        let before = try pages()
        let changed = RandomRecords.metadata.replacing(
            "<Property Name=\"Note\" Type=\"Edm.String\"/>",
            with: "<Property Name=\"Note\" Type=\"Edm.String\"/><Property Name=\"Text\" Type=\"Edm.String\"/>"
        ).replacing("<Property Name=\"Rating\" Type=\"Edm.Decimal\" Scale=\"variable\"/>", with: "")
        try state.transaction {
            var fold = try Fold(storage: state)
            try fold.apply(
                Record(time: 0, body: Self.service(changed)), sequence: SequenceNumber(Self.records.count + 1))
            try fold.finishRebase()
        }
        let after = try pages()
        #expect(before.keys.sorted() == after.keys.sorted())
        let moved = Set(before.keys.filter { before[$0] != after[$0] })
        #expect(moved.contains("set_Orders"))
        #expect(before.keys.filter { !$0.contains("Orders") }.allSatisfy { !moved.contains($0) }, "\(moved)")
        #expect(try state.rows(set: "Customers").count == Self.count)
    }
}
