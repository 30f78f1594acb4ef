import Testing

@testable import ODataWire

struct BatchMatcherTests {
    static func response(_ status: Int, _ body: String = "") -> WireResponse {
        WireResponse(status: status, body: Array(body.utf8))
    }
    static func answer(_ id: String?, _ status: Int) -> BatchResponsePart.MemberResponse {
        .init(contentID: id, response: response(status, id ?? ""))
    }
    static func changeSet(_ ids: String...) -> BatchPart {
        .changeSet(ids.map { .init(contentID: $0, request: WireRequest(method: "POST", url: "A")) })
    }
    static let query = BatchPart.query(WireRequest(method: "GET", url: "A"))

    private func match(
        _ request: [BatchPart], _ answer: [BatchResponsePart], isClosed: Bool = true
    ) -> [BatchPartOutcome] {
        BatchMatcher(
            request: BatchRequest(parts: request), response: BatchResponse(parts: answer, isClosed: isClosed)
        ).outcomes()
    }

    private func isInDoubt(_ outcome: BatchPartOutcome?) -> Bool {
        switch outcome {
        case .changeSet(.inDoubt), .query(.inDoubt): true
        default: false
        }
    }

    @Test func `reordered responses are matched by Content-ID`() {
        let outcomes = match(
            [Self.changeSet("1", "2")], [.changeSet([Self.answer("2", 204), Self.answer("1", 201)])])
        #expect(outcomes == [.changeSet(.members([Self.response(201, "1"), Self.response(204, "2")]))])
    }

    @Test func `responses without Content-ID are matched in order`() {
        let answers = [Self.answer(nil, 201), Self.answer(nil, 204)]
        #expect(
            match([Self.changeSet("1", "2")], [.changeSet(answers)])
                == [.changeSet(.members([Self.response(201), Self.response(204)]))])
    }

    @Test func `too few responses leave the change set in doubt`() {
        #expect(isInDoubt(match([Self.changeSet("1", "2")], [.changeSet([Self.answer("1", 201)])]).first))
    }

    @Test func `a response with the Content-ID of a different part is not assigned to any part`() {
        let request = [Self.changeSet("1"), Self.changeSet("2")]
        let swapped = [["2"], ["1"]].map { BatchResponsePart.changeSet($0.map { Self.answer($0, 201) }) }
        #expect(match(request, swapped).allSatisfy(isInDoubt))
        let failure = BatchResponsePart.single(contentID: "2", Self.response(409))
        #expect(isInDoubt(match(request, [failure]).first))
        // A service may use Content-IDs of its own in the response, unless they are Content-IDs of the request.
        let own = [["x"], ["y"]].map { BatchResponsePart.changeSet($0.map { Self.answer($0, 201) }) }
        #expect(
            match(request, own)
                == [.changeSet(.members([Self.response(201, "x")])), .changeSet(.members([Self.response(201, "y")]))])
    }

    @Test func `two responses for one Content-ID leave the change set in doubt`() {
        let answers = [Self.answer("1", 201), Self.answer("1", 201)]
        #expect(isInDoubt(match([Self.changeSet("1", "2")], [.changeSet(answers)]).first))
    }

    @Test func `a success and a failure for one Content-ID leave the change set in doubt`() {
        for statuses in [[201, 500], [500, 201]] {
            let answers = statuses.map { Self.answer("1", $0) }
            #expect(isInDoubt(match([Self.changeSet("1")], [.changeSet(answers)]).first))
        }
    }

    @Test func `a failure fails the change set, although all responses have the same Content-ID of the service`() {
        let answers = [Self.answer("x", 201), Self.answer("x", 500)]
        #expect(
            match([Self.changeSet("1", "2")], [.changeSet(answers)])
                == [.changeSet(.failed(Self.response(500, "x"), culprit: "2"))])
    }

    @Test func `one error in place of the multipart fails the change set`() {
        #expect(
            match([Self.changeSet("1", "2")], [.single(contentID: nil, Self.response(409))])
                == [.changeSet(.failed(Self.response(409), culprit: nil))])
    }

    @Test func `an error inside the multipart fails the change set and names the culprit`() {
        #expect(
            match([Self.changeSet("1", "2")], [.changeSet([Self.answer("2", 409)])])
                == [.changeSet(.failed(Self.response(409, "2"), culprit: "2"))])
    }

    @Test func `a failed dependency is not the culprit`() {
        let answers = [Self.answer(nil, 424), Self.answer(nil, 400)]
        #expect(
            match([Self.changeSet("1", "2")], [.changeSet(answers)])
                == [.changeSet(.failed(Self.response(400), culprit: "2"))])
    }

    @Test func `an error after an empty multipart belongs to the change set`() {
        #expect(
            match([Self.changeSet("1")], [.changeSet([]), .single(contentID: nil, Self.response(400))])
                == [.changeSet(.failed(Self.response(400), culprit: "1"))])
    }

    @Test func `an error after an empty multipart may belong to the query that follows`() {
        let outcomes = match(
            [Self.changeSet("1"), Self.query], [.changeSet([]), .single(contentID: nil, Self.response(404))])
        #expect(isInDoubt(outcomes[0]))
        #expect(outcomes[1] == .query(.answered(Self.response(404))))
    }

    @Test func `parts after the error that stopped the service are not processed`() {
        let outcomes = match(
            [Self.changeSet("1"), Self.changeSet("2"), Self.query], [.single(contentID: nil, Self.response(400))])
        #expect(
            outcomes == [
                .changeSet(.failed(Self.response(400), culprit: "1")), .changeSet(.notProcessed), .query(.notProcessed),
            ])
    }

    @Test func `parts without a response are in doubt if the response is truncated`() {
        let outcomes = match(
            [Self.changeSet("1"), Self.changeSet("2")], [.single(contentID: nil, Self.response(400))], isClosed: false)
        #expect(isInDoubt(outcomes[1]))
    }

    @Test func `a part without a response is in doubt if there is no error`() {
        #expect(isInDoubt(match([Self.changeSet("1"), Self.query], [.changeSet([Self.answer("1", 201)])]).last))
    }

    @Test func `responses outside of a multipart are matched by Content-ID`() {
        let outcomes = match(
            [Self.changeSet("1", "2"), Self.query],
            [
                .single(contentID: "2", Self.response(204)), .single(contentID: "1", Self.response(201)),
                .single(contentID: nil, Self.response(200)),
            ])
        #expect(
            outcomes == [
                .changeSet(.members([Self.response(201), Self.response(204)])), .query(.answered(Self.response(200))),
            ])
    }

    @Test func `a success that may belong to the query leaves the change set in doubt`() {
        let outcomes = match([Self.changeSet("1"), Self.query], [.single(contentID: nil, Self.response(200))])
        #expect(isInDoubt(outcomes[0]))
        #expect(outcomes[1] == .query(.answered(Self.response(200))))
    }
}
