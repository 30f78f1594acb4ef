import Testing

@testable import ODataWire

/// Variants of one response, as real services send them. All mean: status 201 for request 1 and 204 for request 2.
struct BatchVariantTests {
    private static let plain = """
        --b
        Content-Type: multipart/mixed; boundary=c

        --c
        Content-Type: application/http
        Content-Transfer-Encoding: binary
        Content-ID: 1

        HTTP/1.1 201 Created
        Content-Type: application/json
        Content-Length: 9

        {"ID":11}
        --c
        Content-Type: application/http
        Content-Transfer-Encoding: binary
        Content-ID: 2

        HTTP/1.1 204 No Content


        --c--
        --b--
        """

    private static func changed(_ pairs: [(String, String)]) -> String {
        pairs.reduce(plain) { text, pair in
            text.split(separator: pair.0, omittingEmptySubsequences: false).joined(separator: pair.1)
        }
    }

    private static let withLineFeeds: [(String, String)] = [
        ("as it should be", plain),
        ("header names in lower case", changed([("Content-", "content-")])),
        ("header names in upper case", changed([("Content-ID", "CONTENT-ID"), ("Content-Type", "CONTENT-TYPE")])),
        (
            "Content-ID in the head of the response",
            changed([("Content-ID: 1\n", ""), ("HTTP/1.1 201 Created", "HTTP/1.1 201 Created\nContent-ID: 1")])
        ),
        (
            "Content-ID in both heads",
            changed([("HTTP/1.1 204 No Content", "HTTP/1.1 204 No Content\nContent-ID: 2")])
        ),
        (
            "a folded header",
            changed([("Content-Type: multipart/mixed; boundary=c", "Content-Type: multipart/mixed;\n boundary=c")])
        ),
        ("a preamble", "This is a message in MIME format.\n\n" + plain),
        ("an epilogue", plain + "\n\nBye."),
        ("a status line without a reason", changed([("201 Created", "201"), ("204 No Content", "204")])),
        ("a status line without a reason but with its blank", changed([("201 Created", "201 ")])),
        ("HTTP/2", changed([("HTTP/1.1", "HTTP/2")])),
        ("HTTP/1.0", changed([("HTTP/1.1", "HTTP/1.0")])),
        (
            "another charset in the content type",
            changed([("application/http", "application/http; charset=utf-8; msgtype=response")])
        ),
        ("a quoted boundary", changed([("boundary=c", "boundary=\"c\"")])),
        ("a wrong length", changed([("Content-Length: 9", "Content-Length: 900")])),
        ("a length that is too small", changed([("Content-Length: 9", "Content-Length: 2")])),
        ("no length", changed([("Content-Length: 9\n", "")])),
        ("no transfer encoding", changed([("Content-Transfer-Encoding: binary\n", "")])),
        ("one blank line behind an empty response", changed([("204 No Content\n\n\n", "204 No Content\n\n")])),
        ("no blank line behind an empty response", changed([("204 No Content\n\n\n", "204 No Content\n")])),
        ("no close delimiter of the change set", changed([("--c--\n", "")])),
        ("blanks behind delimiters", changed([("--c\n", "--c  \n"), ("--b\n", "--b \t\n")])),
        (
            "the responses in another order",
            {
                let parts = plain.split(separator: "--c\n", omittingEmptySubsequences: false).map(String.init)
                let last = parts[2].split(separator: "--c--", omittingEmptySubsequences: false).map(String.init)
                return parts[0] + "--c\n" + last[0] + "--c\n" + parts[1] + "--c--" + last[1]
            }()
        ),
    ]

    private static let requests = BatchRequest(parts: [
        .changeSet([
            .init(contentID: "1", request: WireRequest(method: "POST", url: "A")),
            .init(contentID: "2", request: WireRequest(method: "DELETE", url: "B(1)")),
        ])
    ])

    @Test(arguments: withLineFeeds.map(\.0), ["\n", "\r\n"])
    func `each variant of a response yields the same responses`(_ name: String, _ newline: String) throws {
        let text = Self.withLineFeeds.first { $0.0 == name }?.1 ?? ""
        let bytes = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: newline).utf8
        let answer = try MultipartBatchReader().readResponse(
            Array(bytes), contentType: "multipart/mixed; boundary=b; charset=utf-8")
        let outcomes = BatchMatcher(request: Self.requests, response: answer).outcomes()
        guard case .changeSet(.members(let responses))? = outcomes.first else {
            Issue.record("\(name): \(outcomes)")
            return
        }
        #expect(responses.map(\.status) == [201, 204])
        #expect(String(decoding: responses[0].body, as: UTF8.self).hasPrefix("{\"ID\":11}"))
        #expect(responses[1].body.allSatisfy { $0 == 10 || $0 == 13 })
    }

    @Test(arguments: ["a'b", "a(b)", "a+b", "a,b", "a=b", "a?b", "a/b:c", "a.b", "=_b"])
    func `a boundary with special characters is quoted and read again`(_ boundary: String) throws {
        let bytes = try MultipartBatchWriter().write(Self.requests, boundary: boundary) { "\(boundary)\($0)" }
        let type = MultipartBatchWriter.contentType(boundary: boundary)
        let batch = try MultipartBatchReader().readRequest(bytes, contentType: type)
        #expect(batch.parts.count == 1)
        guard case .changeSet(let members)? = batch.parts.first else {
            Issue.record("no change set")
            return
        }
        #expect(members.map(\.contentID) == ["1", "2"])
    }

    @Test func `two responses with one Content-ID leave the change set in doubt`() throws {
        let text = Self.changed([("Content-ID: 2", "Content-ID: 1")])
        let answer = try MultipartBatchReader().readResponse(
            Array(text.utf8), contentType: "multipart/mixed; boundary=b")
        guard case .changeSet(.inDoubt)? = BatchMatcher(request: Self.requests, response: answer).outcomes().first
        else {
            Issue.record("it was taken for a response")
            return
        }
    }

    @Test func `a missing response leaves the change set in doubt`() throws {
        let start = Self.plain.split(separator: "--c\n", omittingEmptySubsequences: false)
        let text = start[0] + "--c\n" + start[1] + "--c--\n--b--"
        let answer = try MultipartBatchReader().readResponse(
            Array(text.utf8), contentType: "multipart/mixed; boundary=b")
        guard case .changeSet(.inDoubt)? = BatchMatcher(request: Self.requests, response: answer).outcomes().first
        else {
            Issue.record("it was taken for a response")
            return
        }
    }
}
