import EDM
import LogInspection
import Operations
import Testing

@Suite struct SummaryTests {
    @Test func `the summary of an operation describes the request of the app`() throws {
        let log = try SampleLog()
        try log.append(
            create(3, "Customers", ["Name": .string("A"), "Age": .integer(4)]),
            .operation(
                Operation(
                    .create(
                        Creation(
                            entity: id(4), set: "Orders", type: "Shop.Order", values: ["Amount": .integer(7)],
                            bindings: [Binding(navigation: "Customer", targets: [id(3)])]), parent: nil))),
            .operation(Operation(.update(id(3), changes: ["Name": .null], bindings: []), customTag: "mine")),
            .operation(Operation(.createLink(Link(from: id(3), navigation: "Orders", to: id(4))), changeSet: 4)),
            .operation(Operation(.updateLink(Link(from: id(4), navigation: "Customer", to: id(9))))),
            .operation(Operation(.deleteLink(Link(from: id(3), navigation: "Orders", to: id(4))))),
            .operation(Operation(.delete(id(4)))))
        #expect(
            try log.summaries() == [
                "create Customers(~3) Name='A', Age=4",
                "create Orders(~4) Amount=7 · bind Customer → Customers(~3)",
                "update Customers(~3) Name=null · tag 'mine'",
                "link Customers(~3)/Orders → Orders(~4) · change set 4",
                "relink Orders(~4)/Customer → ~9",
                "unlink Customers(~3)/Orders → Orders(~4)",
                "delete Orders(~4)",
            ])
    }

    @Test func `the summary of a call contains its arguments and its declared effect`() throws {
        let log = try SampleLog()
        try log.append(
            create(3, "Customers", ["Name": .string("A")]),
            .operation(
                Operation(
                    .update(id(3), changes: ["Name": .string("B")], bindings: []), changeSet: 1,
                    call: ActionCall(
                        "Shop.Rename", on: .entity(id(3)),
                        [.init("name", .value(.string("B"))), .init("like", .entity(.reference(id(3))))],
                        answer: .boundEntity))),
            .operation(
                Operation(.update(.unbound, changes: [:], bindings: []), call: ActionCall("Close", on: nil))))
        #expect(
            try log.summaries() == [
                "create Customers(~3) Name='A'",
                "call Shop.Rename on Customers(~3) · name='B' · like=Customers(~3) · "
                    + "declared effect: update Customers(~3) Name='B' · change set 1",
                "call Close",
            ])
        let json = try log.items().map { $0.json() }
        #expect(
            json.contains {
                $0.contains(
                    #""call":{"name":"Shop.Rename","on":3,"arguments":[{"name":"name","value":"B"},"#
                        + #"{"name":"like","entity":{"entity":3}}],"answer":"boundEntity"}"#)
            })
    }

    @Test func `the summary of a stream contains its URLs without their queries`() throws {
        let log = try SampleLog()
        try log.append(
            .streamsStored([
                StreamImage(
                    entity: id(3), content: nil,
                    reported: .init(readLink: "http://cdn.test/3?secret=1", editLink: "media/3", etag: "\"5\""))
            ]))
        #expect(
            try log.summaries() == [
                "~3 media stream not in the store; the service returned: read at http://cdn.test/3, written at media/3, "
                    + "ETag \"5\""
            ])
        #expect(
            try #require(try log.items().last).json().contains(
                #""told":{"readLink":"http://cdn.test/3","editLink":"media/3","etag":"\"5\""}"#))
    }

    @Test func `the summary of a deep insert names the inner entities`() throws {
        let log = try SampleLog()
        let orders = (2...7).map {
            Creation(entity: id(UInt64($0)), set: "Orders", type: "Shop.Order", values: ["Amount": .integer(Int64($0))])
        }
        try log.append(
            .operation(
                Operation(
                    .create(
                        Creation(
                            entity: id(1), set: "Customers", type: "Shop.Customer", values: [:],
                            inline: [.init(navigation: "Orders", entities: orders)]),
                        parent: Parent(entity: id(8), navigation: "Customers")))))
        #expect(
            try log.summaries() == [
                "create Customers(~1) in ~8/Customers · with Orders: Orders(~2) Amount=2; Orders(~3) Amount=3; "
                    + "Orders(~4) Amount=4; Orders(~5) Amount=5; … 2 more"
            ])
    }

    @Test func `the summary of a fact describes the event`() throws {
        let log = try SampleLog()
        let image = EntityImage(entity: id(1), set: "Orders", type: "Shop.Order", values: [:])
        try log.append(
            .serviceInstalled(ServiceDescription(root: "http://localhost/v4/", metadata: [1, 2, 3])),
            .definingQueryAdded(DefiningQuery(name: "Orders", query: "Orders?$filter=Amount gt 100")),
            .downloadStarted(queries: ["Orders"]),
            .downloadPage(DownloadPage(query: "Orders", entities: [image])),
            .downloadFinished(query: "Orders"),
            .entitiesRead([image]),
            prepared(2, 8, 9),
            answered(2, (8, .confirmed(images: [])), (9, .rejected(refusal("no stock")))),
            .batchInterrupted(BatchInterrupted(batch: 3, reason: "The connection was cut.")),
            .operationsReleased([8, 9]),
            .operationsUndone([8, 9, 10, 11, 12]),
            .operationsRedone([9]),
            .operation(Operation(.delete(id(1)), transactionID: "T")),
            .operation(
                Operation(.delete(id(1)), isUnmodifiable: true, uploadCategory: .named("tour"), delivery: .draft)),
            .operation(Operation(.delete(id(1)), uploadCategory: .entity(id(1)), delivery: .localOnly)),
            .deliveryChanged([9, 10], to: .queued),
            .definingQueryRemoved(name: "Orders"))
        #expect(
            try log.summaries() == [
                "service http://localhost/v4/ installed, metadata of 3 bytes",
                "query Orders added: Orders?$filter=Amount gt 100",
                "download started: Orders",
                "page of Orders: 1 entity",
                "download of Orders finished",
                "1 entity read: Orders(~1)",
                "batch 2 prepared: 2 operations in 2 change sets",
                "batch 2 answered: 1 confirmed, 1 rejected (409 no stock)",
                "batch 3 interrupted: The connection was cut.",
                "2 operations released to be sent again: 8, 9",
                "5 operations undone: 8, 9, 10, 11, … 1 more",
                "1 operation redone: 9",
                "delete Orders(~1) · transaction 'T'",
                "delete Orders(~1) · category 'tour' · unmodifiable · draft",
                "delete Orders(~1) · category Orders(~1) · local only",
                "2 operations now queued: 9, 10",
                "query Orders removed",
            ])
    }

    @Test func `a summary is a single line for any values`() throws {
        let log = try SampleLog()
        try log.append(
            create(1, "Customers", ["Name": .string("a\nb\u{1b}[31m\u{2028}\u{202e}c")]),
            create(2, "Customers", ["Name": .string(String(repeating: "x", count: 5_000))]))
        let summaries = try log.summaries()
        #expect(summaries[0] == #"create Customers(~1) Name='a\u{a}b\u{1b}[31m\u{2028}\u{202e}c'"#)
        #expect(summaries[1] == "create Customers(~2) Name='\(String(repeating: "x", count: 48))…'")
    }
}
