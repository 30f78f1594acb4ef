import EDM
import OfflineStore
import OperationLog
import Operations
import SyncCore
import Testing

@testable import LogInspection

@Suite struct ProvenanceTests {
    @Test func `a history starts with the download and contains each update with its outcome`() throws {
        let shop = try ShopLog()
        try shop.append(
            update(1, ["Name": .string("Eve")]), prepared(1, 6), answered(1, (6, .confirmed(images: []))),
            update(1, ["Name": .string("Eva")]))
        #expect(
            try shop.history("Customers(1)/Name") == [
                "4 Name 'Ada': download of C", "6 Name 'Eve': local edit, confirmed by batch 1",
                "9 Name 'Eva': local edit, pending",
            ])
        #expect(
            try shop.blame("~1") == [
                "ID 1: 4 download of C", "Name 'Eva': 9 local edit, pending", "City 'Rome': 4 download of C",
            ])
    }

    @Test func `an undone value loses its provenance and regains it when it is redone`() throws {
        let shop = try ShopLog()
        try shop.append(update(1, ["Name": .string("Eve")]), .operationsUndone([6]))
        #expect(
            try shop.history("~1/Name") == [
                "4 Name 'Ada': download of C", "6 Name 'Eve': local edit, undone by 7",
                "7 Name 'Ada': undo of operation 6",
            ])
        #expect(try shop.blame("~1")[1] == "Name 'Ada': 4 download of C")
        try shop.append(update(1, ["Name": .string("Later")]), .operationsRedone([6]))
        #expect(try shop.blame("~1")[1] == "Name 'Later': 8 local edit, pending")
        try shop.append(.operationsUndone([8]))
        #expect(try shop.blame("~1")[1] == "Name 'Eve': 6 local edit, pending")
    }

    @Test func `a value that the service has changed in its response originates from the response`() throws {
        let shop = try ShopLog()
        try shop.append(
            update(1, ["Name": .string("Eve"), "City": .string("Bonn")]), prepared(1, 6),
            answered(1, (6, .confirmed(images: [ShopLog.customer(1, "EVE", "Bonn")]))))
        #expect(
            try shop.blame("~1") == [
                "ID 1: 4 download of C", "Name 'EVE': 8 response to batch 1, operation 6",
                "City 'Bonn': 6 local edit, confirmed by batch 1",
            ])
    }

    @Test func `an assigned key originates from the response, also in linked entities`() throws {
        let shop = try ShopLog()
        let order = Creation(
            entity: id(4), set: "Orders", type: "Shop.Orders", values: ["Note": .string("n")],
            bindings: [Binding(navigation: "Customer", targets: [id(3)])])
        try shop.append(create(3, "Customers"), .operation(Operation(.create(order, parent: nil))), prepared(1, 6))
        try shop.append(answered(1, (6, .confirmed(images: [ShopLog.customer(3, "New", "Kiel")]))))
        #expect(
            try shop.blame("~4") == [
                "Note 'n': 7 local edit, pending", "CustomerID 3: 9 key assigned by the response to batch 1",
                "Customer Customers(3): 7 local edit, pending",
            ])
        #expect(try shop.blame("Customers(3)")[0] == "ID 3: 9 key assigned by the response to batch 1, operation 6")
        #expect(try shop.provenance("Customers(3)").entity == id(3))
    }

    @Test func `a history contains all links that were created and deleted`() throws {
        let shop = try ShopLog()
        let orders = [4, 5].map { number in
            Creation(
                entity: id(number), set: "Orders", type: "Shop.Orders", values: [:],
                bindings: [Binding(navigation: "Customer", targets: [id(1)])])
        }
        try shop.append(
            .operation(Operation(.create(orders[0], parent: nil))),
            .operation(Operation(.create(orders[1], parent: nil))),
            .operation(
                Operation(
                    .update(id(4), changes: [:], bindings: [Binding(navigation: "Customer", targets: [id(2)])]))))
        #expect(
            try shop.history("~1/Orders") == [
                "6 Orders Orders(~4): local edit, pending", "7 Orders Orders(~5): local edit, pending",
                "8 Orders -: local edit, pending",
            ])
        let changes = try shop.provenance("~1").changes.suffix(3)
        #expect(changes.map(\.before) == [.absent, .absent, .entities(["Orders(~4)"])])
        #expect(changes.map(\.after) == [.entities(["Orders(~4)"]), .entities(["Orders(~5)"]), .absent])
    }

    @Test func `a value that a conflict resolution drops no longer originates from the update`() throws {
        let shop = try ShopLog()
        try shop.append(
            update(1, ["Name": .string("Mine"), "City": .string("Bonn")]),
            .downloadPage(DownloadPage(query: "C", entities: [ShopLog.customer(1, "Theirs", "Rome")])),
            .conflictResolved(
                ConflictResolved(
                    entity: id(1), decision: .serverWins,
                    dropped: [.init(operation: 6, properties: ["Name"])])))
        #expect(
            try shop.history("~1/Name") == [
                "4 Name 'Ada': download of C", "6 Name 'Mine': local edit, pending", "(7 Name 'Theirs': download of C)",
                "8 Name 'Theirs': conflict, the service wins",
            ])
        #expect(
            try shop.blame("~1") == [
                "ID 1: 4 download of C", "Name 'Theirs': 7 download of C", "City 'Bonn': 6 local edit, pending",
            ])
    }

    @Test func `an amended operation is shown in its amended form`() throws {
        let shop = try ShopLog()
        let less = Operation(.update(id(1), changes: ["City": .string("Bonn")], bindings: []))
        try shop.append(
            update(1, ["Name": .string("Mine"), "City": .string("Bonn")]),
            .operationsAmended([AmendedOperation(operation: 6, content: less)]))
        #expect(
            try shop.history("~1/Name") == [
                "4 Name 'Ada': download of C", "6 Name 'Mine': local edit, pending",
                "7 Name 'Ada': amendment of operation 6",
            ])
        #expect(try shop.blame("~1")[1] == "Name 'Ada': 4 download of C")
    }

    @Test func `elided and rejected operations, and entities that left a query, are reported`() throws {
        let shop = try ShopLog()
        try shop.append(update(1, ["Name": .string("Eve")]), .operationsElided([6]))
        #expect(try shop.history("~1/Name").last == "7 Name 'Ada': operation 6 cancelled out")
        try shop.append(
            update(1, ["Name": .string("Eve")]), prepared(1, 8), answered(1, (8, .rejected(refusal("too late")))))
        #expect(try shop.blame("~1")[1] == "Name 'Eve': 8 local edit, refused in batch 1 (POST Orders): 409 too late")
        try shop.append(.downloadPage(DownloadPage(query: "C", left: [id(2)])))
        #expect(try shop.provenance("~2").exists == false)
        #expect(try shop.history("~2").last == "11 entity -: C no longer covers it")
        #expect(
            try shop.provenance("Customers(2)").gone()
                == [
                    "Customers(~2) is not in the store: C no longer covers it (record 11, 2026-11-21T07:59:57.120Z)."
                ])
    }

    @Test func `a sentence explains the value of a property`() throws {
        let shop = try ShopLog()
        try shop.append(update(1, ["Name": .string("Eve")]))
        #expect(
            try shop.provenance("~1").why("Name") == [
                "Customers(1)/Name is 'Eve': local edit, pending (operation 6, 2026-11-21T07:59:57.120Z).",
                "Before record 6 it was 'Ada'.",
            ])
        try shop.append(.operationsUndone([6]))
        #expect(
            try shop.provenance("~1").why("Name") == [
                "Customers(1)/Name is 'Ada': download of C (record 4, 2026-11-21T07:59:57.120Z).",
                "Record 7 restored this value: undo of operation 6. Before record 7 it was 'Eve'.",
            ])
        try shop.append(
            update(1, ["Name": .string("Mine")]),
            .downloadPage(DownloadPage(query: "C", entities: [ShopLog.customer(1, "Theirs", "Rome")])))
        #expect(
            try shop.provenance("~1").why("Name").last
                == "The value at the service is 'Theirs' (download of C, record 9).")
        // The service now has the visible value.
        try shop.append(
            .downloadPage(DownloadPage(query: "C", entities: [ShopLog.customer(1, "Mine", "Rome")])))
        #expect(try shop.provenance("~1").why("Name").last == "Before record 8 it was 'Ada'.")
        #expect(throws: TidelogError.self) { try shop.provenance("~1").why("Nome") }
    }

    @Test func `a sentence explains why an operation is not confirmed`() async throws {
        let shop = try ShopLog()
        try shop.append(
            update(1, ["Name": .string("a")]), prepared(1, 6), answered(1, (6, .rejected(refusal("too late")))),
            update(1, ["Name": .string("b")]), update(2, ["Name": .string("c")]), prepared(2, 10))
        #expect(
            try await shop.store.why(6).sentences == [
                "Operation 6 was rejected in batch 1 at 2026-11-21T07:59:57.120Z (record 8): 409 too late"
            ])
        #expect(
            try await shop.store.why(9).sentences == [
                "Operation 9 waits for an upload.",
                "It is not in the next batch: held back: operation 6 before it was rejected.",
            ])
        #expect(
            try await shop.store.why(10).sentences == [
                "Operation 10 was sent with batch 2, and the log contains no response."
            ])
        try shop.append(.batchInterrupted(BatchInterrupted(batch: 2, reason: "The connection was lost.")))
        #expect(
            try await shop.store.why(10).sentences == [
                "Operation 10 has been in doubt since batch 2: The connection was lost."
            ])
        await #expect(throws: TidelogError.self) { try await shop.store.why(8) }
        await #expect(throws: TidelogError.self) { try await shop.store.why(99) }
    }

    @Test func `references are distinguished from other texts`() {
        #expect(EntityReference("Customers('a/b)')/Name")?.property == "Name")
        #expect(EntityReference("Customers('it''s')")?.set == "Customers")
        let link = EntityReference("http://shop/v4/Prices(Currency='a%25b%2Fc',Day=1)/Amount")
        #expect(link?.set == "Prices")
        #expect(link?.selector == .key("(Currency='a%b/c',Day=1)"))
        #expect(link?.property == "Amount")
        #expect(EntityReference("Prices('5 % off')")?.selector == .key("('5 % off')"))
        #expect(EntityReference("~7/Name")?.selector == .id(id(7)))
        #expect(EntityReference("Customers(~7)")?.selector == .id(id(7)))
        for text in [
            "", "~", "~0", "~x", "Customers", "(1)", "Customers(1", "Customers('1)", "Customers(1)x", "~1/a/b", "~1/",
            "Customers(1)/", "Customers(1)(2)", "https://shop/(S(x))/v4/",
        ] {
            #expect(EntityReference(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        "https://host/(S(x))/V4/Customers(1)", "https://host/(S(a(b)))/Customers(1)/City",
        "(S(x))/V4/Customers(1)/City",
        "https://host/app(7)/V4/Customers(1)", "V4/Customers(1)/City",
    ])
    func `parentheses in the path of a service do not belong to a key`(text: String) throws {
        let reference = try #require(EntityReference(text))
        #expect(reference.set == "Customers")
        #expect(reference.selector == .key("(1)"))
        #expect(reference.property == (text.hasSuffix("City") ? "City" : nil))
        #expect(try ShopLog().provenance(text).reference == "Customers(1)")
    }

    @Test func `unknown entities, sets and keys are refused`() throws {
        let shop = try ShopLog()
        for text in ["~99", "Orders(~1)", "Customers(99)", "Nothing(1)", "Customers('x')"] {
            #expect(throws: TidelogError.self, "\(text)") { try shop.provenance(text) }
        }
    }

    @Test func `after a compaction, the history starts with the content of the snapshot`() throws {
        let shop = try ShopLog()
        try shop.append(update(1, ["Name": .string("Eve")]))
        try shop.compact()
        try shop.append(update(1, ["City": .string("Bonn")]), .operationsUndone([6]))
        #expect(
            try shop.history("Customers(1)").suffix(3) == [
                "6 City 'Rome': state at the compaction of the log", "7 City 'Bonn': local edit, pending",
                "8 Name 'Ada': undo of operation 6",
            ])
        #expect(
            try shop.blame("Customers(1)") == [
                "ID 1: 6 state at the compaction of the log", "Name 'Ada': 6 state at the compaction of the log",
                "City 'Bonn': 7 local edit, pending",
            ])
        #expect(throws: TidelogError.self) { try shop.store.detail(of: 5) }
    }
}
