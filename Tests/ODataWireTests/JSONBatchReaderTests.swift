import EDM
import Foundation
import SeededRandom
import Testing

@testable import ODataWire

struct JSONBatchReaderTests {
    /// A batch of a change set with the requests 1 and 2, a query with the generated ID `r2_1`, and a change set with
    /// the request 3.
    static let request = BatchRequest(parts: [
        .changeSet(["1", "2"].map { .init(contentID: $0, request: JSONBatchWriterTests.post("A", "{}")) }),
        .query(WireRequest(method: "GET", url: "A")),
        .changeSet([.init(contentID: "3", request: JSONBatchWriterTests.post("A", "{}"))]),
    ])

    private func outcomes(_ responses: String..., rest: String = "") throws -> [BatchPartOutcome] {
        let text = "{\"responses\":[\(responses.joined(separator: ","))]\(rest)}"
        return try JSONBatchReader().readResponse(Array(text.utf8)).outcomes(of: Self.request)
    }

    static func answer(_ id: String, _ status: Int, _ more: String = "") -> String {
        "{\"id\":\"\(id)\",\"status\":\(status)\(more)}"
    }

    static func response(_ status: Int) -> WireResponse { WireResponse(status: status) }

    @Test func `responses are matched by id in any order`() throws {
        let answers = [("1", 201), ("2", 204), ("r2_1", 200), ("3", 202)].map { Self.answer($0, $1) }
        let wanted: [BatchPartOutcome] = [
            .changeSet(.members([Self.response(201), Self.response(204)])), .query(.answered(Self.response(200))),
            .changeSet(.members([Self.response(202)])),
        ]
        for shift in 0..<4 {
            let shuffled = answers[shift...] + answers[..<shift]
            for order in [Array(shuffled), shuffled.reversed()] {
                #expect(try outcomes(order.joined(separator: ",")) == wanted)
            }
        }
    }

    @Test func `the failed member is the culprit, and parts that depend on it are not processed`() throws {
        let found = try outcomes(
            Self.answer("3", 424), Self.answer("r2_1", 424), Self.answer("1", 424), Self.answer("2", 409))
        #expect(
            found == [
                .changeSet(.failed(Self.response(409), culprit: "2")), .query(.notProcessed), .changeSet(.notProcessed),
            ])
    }

    @Test func `an error for the whole group has no culprit, and the parts after it are not processed`() throws {
        for error in [Self.answer("g1", 400), Self.answer("x", 400, ",\"atomicityGroup\":\"g1\"")] {
            #expect(
                try outcomes(error) == [
                    .changeSet(.failed(Self.response(400), culprit: nil)), .query(.notProcessed),
                    .changeSet(.notProcessed),
                ])
        }
        let both = try outcomes(Self.answer("g1", 400), Self.answer("1", 424))
        #expect(both[0] == .changeSet(.failed(Self.response(400), culprit: nil)))
    }

    @Test func `a failed query has its response, and the change set after it is not processed`() throws {
        let found = try outcomes(Self.answer("2", 204), Self.answer("1", 204), Self.answer("r2_1", 404))
        #expect(found[1] == .query(.answered(Self.response(404))))
        #expect(found[2] == .changeSet(.notProcessed))
    }

    @Test func `parts without a complete response are in doubt if there is no error`() throws {
        for found in [
            try outcomes(Self.answer("1", 201)), try outcomes(),
            try outcomes(Self.answer("1", 201), Self.answer("1", 201)),
            try outcomes(Self.answer("1", 201), Self.answer("x", 201, ",\"atomicityGroup\":\"g1\"")),
        ] {
            #expect(found.count == 3)
            for outcome in found {
                switch outcome {
                case .changeSet(.inDoubt), .query(.inDoubt): break
                default: Issue.record("\(outcome)")
                }
            }
        }
    }

    @Test(arguments: ["@nextLink", "@odata.nextLink"])
    func `parts missing from a partial response are in doubt, with the link as reason`(_ name: String) throws {
        let found = try outcomes(Self.answer("1", 400), Self.answer("r2_1", 424), rest: ",\"\(name)\":\"$batch?x\"")
        #expect(found[0] == .changeSet(.failed(Self.response(400), culprit: "1")))
        #expect(found[1] == .query(.notProcessed))
        guard case .changeSet(.inDoubt(let reason)) = found[2] else {
            Issue.record("\(found[2])")
            return
        }
        #expect(reason.contains("a link to the rest"))
        guard case .changeSet(.inDoubt(let half)) = try outcomes(Self.answer("1", 201), rest: ",\"\(name)\":\"x\"")[0]
        else {
            Issue.record("half a change set was taken for a whole one")
            return
        }
        #expect(half == reason)
    }

    @Test(arguments: [
        (#""body":{"a" : 1.10e2}"#, #"{"a" : 1.10e2}"#), (#""body":null"#, ""), (#""x":1"#, ""),
        (#""headers":{"CONTENT-TYPE":"text/plain;charset=utf-8"},"body":"a\"b""#, "a\"b"),
        (#""body":"-_8","headers":{"content-type":"image/png"}"#, "\u{FB}\u{FF}"),
        (#""body":{"a":1},"headers":{"Content-Type":"image/png"}"#, #"{"a":1}"#),
        (#""body":"no base64","headers":{"Content-Type":"image/png"}"#, "no base64"),
    ])
    func `a body is returned as the bytes that its JSON form encodes`(_ members: String, _ body: String) throws {
        let text = #"{"responses":[{"id":7,"status":200,\#(members)}]}"#
        let read = try JSONBatchReader().readResponse(Array(text.utf8)).responses
        #expect(read.map(\.id) == ["7"])
        let isLatin = body.unicodeScalars.contains { $0.value > 0x7F }
        #expect(read[0].response.body == (isLatin ? body.unicodeScalars.map { UInt8($0.value) } : Array(body.utf8)))
    }

    @Test(arguments: [
        "", "[]", "{}", "{\"responses\":{}}", "{\"responses\":[1]}", "{\"responses\":[{}]}", "{\"error\":{}}",
        "{\"responses\":[{\"id\":\"1\",\"status\":99}]}", "{\"responses\":[{\"id\":\"1\",\"status\":1e3}]}",
        "{\"responses\":[]", "{\"responses\":[]} x", "--batch\r\n",
    ])
    func `an invalid response is rejected with an offset`(_ text: String) {
        let bytes = Array(text.utf8)
        let error = #expect(throws: BatchReadError.self) { try JSONBatchReader().readResponse(bytes) }
        #expect(error?.code == .json)
        #expect((0...bytes.count).contains(error?.offset ?? -1))
    }

    @Test func `a response that is nested too deeply is rejected`() {
        let bytes = Array(("{\"responses\":" + String(repeating: "[", count: 100_000)).utf8)
        let error = #expect(throws: BatchReadError.self) { try JSONBatchReader().readResponse(bytes) }
        #expect(error?.code == .json)
    }

    @Test func `changed bytes yield an outcome for every part or an error, and never trap`() {
        let seed = UInt64.testSeed()
        var generator = SeededRandom(seed: seed)
        let whole = Array(
            """
            {"responses":[{"id":"1","atomicityGroup":"g1","status":201,"headers":{"a":"b"},"body":{"ID":1.5}},
            {"id":"2","atomicityGroup":"g1","status":204},{"id":"r2_1","status":200,"body":"aé\\u00e9"},
            {"id":"3","status":424,"headers":{"content-type":"image/png"},"body":"AAA"}],"@nextLink":"x"}
            """.utf8)
        let alphabet = Array("{}[]\",:\\0-e.ntf1g ".utf8) + [0xFF, 0]
        for round in 0..<3000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
                case 1: bytes.removeSubrange(place..<min(bytes.count, place + 1 + place % 17))
                default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 1 + place % 23)], at: place)
                }
                if bytes.isEmpty { break }
            }
            do throws(BatchReadError) {
                let outcomes = try JSONBatchReader().readResponse(bytes).outcomes(of: Self.request)
                #expect(outcomes.count == 3, "seed \(seed), round \(round)")
            } catch {
                #expect((0...bytes.count).contains(error.offset), "seed \(seed), round \(round)")
            }
        }
    }
}

@Suite(.enabled(if: BatchCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
struct JSONBatchRecordingTests {
    @Test(arguments: BatchCorpus.jsonResponses)
    func `the responses of a recorded JSON batch match its index`(_ recording: BatchCorpus.JSONResponse) throws {
        let bytes = try Array(Data(contentsOf: BatchCorpus.root.appending(path: recording.file)))
        let read = try JSONBatchReader().readResponse(bytes).responses
        #expect(read.map(\.response.status) == recording.facts.statuses)
        #expect(read.map(\.id) == recording.facts.ids.map(String.init))
        for response in read where !response.response.body.isEmpty {
            _ = try JSONValue.parse(response.response.body)
        }
    }
}
