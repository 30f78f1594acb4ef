import EDM
import LogInspection
import OperationLog
import Operations
import Testing

@Suite struct HistoryJSONTests {
    private func json(_ body: Record.Body, outcomes: Bool = false) throws -> String {
        let log = try SampleLog()
        try log.append(body)
        return try #require(try log.items().first).json(outcomes: outcomes ? try log.history.outcomes() : nil)
    }

    @Test func `the JSON of an operation contains its parts under separate names`() throws {
        let body = Record.Body.operation(
            Operation(
                .create(
                    Creation(
                        entity: id(4), set: "Orders", type: "Shop.Order",
                        values: ["Amount": .integer(7), "Note": .null],
                        bindings: [Binding(navigation: "Customer", targets: [id(3)])]), parent: nil),
                customTag: "mine"))
        #expect(
            try json(body, outcomes: true) == """
                {"sequence":1,"time":"2026-11-21T07:59:57.120Z","kind":"operation",\
                "summary":"create Orders(~4) Amount=7, Note=null · bind Customer → ~3 · tag 'mine'","entities":[4,3],\
                "action":"create","entity":4,"set":"Orders","type":"Shop.Order","values":{"Amount":7,"Note":null},\
                "bind":[{"navigation":"Customer","to":[3]}],"customTag":"mine","fate":"pending"}
                """)
    }

    @Test func `the JSON of a response contains the result of each operation`() throws {
        #expect(
            try json(answered(2, (5, .confirmed(images: [])), (6, .rejected(refusal("no"))))) == """
                {"sequence":1,"time":"2026-11-21T07:59:57.120Z","kind":"batchAnswered",\
                "summary":"batch 2 answered: 1 confirmed, 1 rejected (409 no)","entities":[],"batch":2,\
                "outcomes":[{"operation":5,"result":"confirmed"},\
                {"operation":6,"result":"rejected","status":409,"code":"Conflict","message":"no"}]}
                """)
    }

    @Test func `the JSON of an undo contains its operations`() throws {
        #expect(
            try json(.operationsUndone([5, 6])) == """
                {"sequence":1,"time":"2026-11-21T07:59:57.120Z","kind":"operationsUndone",\
                "summary":"2 operations undone: 5, 6","entities":[],"operations":[5,6]}
                """)
        #expect(
            try json(.operation(Operation(.delete(id(1)), transactionID: "T"))).hasSuffix(
                #""action":"delete","entity":1,"transactionID":"T"}"#))
    }

    @Test func `the JSON contains the attributes that determine when and how an operation is sent`() throws {
        #expect(
            try json(
                .operation(
                    Operation(
                        .delete(id(1)), isUnmodifiable: true, uploadCategory: .named("tour"), delivery: .draft))
            ).hasSuffix(
                #""action":"delete","entity":1,"unmodifiable":true,"uploadCategory":"tour","delivery":"draft"}"#))
        #expect(
            try json(.deliveryChanged([5], to: .queued)).hasSuffix(
                #""summary":"1 operation now queued: 5","entities":[],"operations":[5],"delivery":"queued"}"#))
    }

    @Test func `the JSON of a record of a later version contains its kind's number and no time`() throws {
        let text = try json(.unknown(kind: 200, payload: [1, 2]))
        #expect(text.hasPrefix(#"{"sequence":1,"time":null,"kind":"unknown","#))
        #expect(text.hasSuffix(#""entities":[],"kindNumber":200,"bytes":2}"#))
    }

    /// A value of each case, including values without a JSON number or text.
    private static let values: [Value] = [
        .null, .boolean(true), .integer(.min), .single(.infinity), .double(.nan), .double(0.1),
        .decimal(DecimalValue("1.50")!), .string("\"\n\u{0}"), .binary([0, 255]), .raw("{\"type\":\"Point\"}"),
        .raw("not json"), .complex(ComplexValue(properties: ["A": .collection([.integer(1), .null])])),
        .enumeration("Red,Blue"), .dateTimeOffset(GlobalDateTime("2026-11-21T07:43:17Z")!),
    ]

    @Test(arguments: values) func `every value is written as JSON`(value: Value) throws {
        let text = try json(create(1, "Orders", ["V": value]))
        guard case .object(let object) = try JSONValue.parse(Array(text.utf8)) else {
            Issue.record("no object: \(text)")
            return
        }
        guard case .object(let values) = try #require(object["values"]) else {
            Issue.record("no values: \(text)")
            return
        }
        #expect(values.contains("V"))
    }

    @Test func `the JSON of damage contains its place and the record at which the history continues`() throws {
        let log = try SampleLog(segmentSize: 8_192, runSize: 512)
        for number in 1...400 { try log.append(create(UInt64(number), "Orders", ["No": .integer(Int64(number))])) }
        log.log.close()
        try log.damage(log.segment(1), at: 3_000)
        let item = try #require(
            try log.items().first { if case .damage = $0 { true } else { false } })
        guard case .damage(let damage, let next?) = item else {
            Issue.record("\(item)")
            return
        }
        #expect(
            item.json() == """
                {"sequence":\(damage.sequence),"kind":"damage","path":"\(damage.path)","offset":\(damage.offset),\
                "fault":"\(damage.fault)","resumesAt":\(next)}
                """)
    }
}
