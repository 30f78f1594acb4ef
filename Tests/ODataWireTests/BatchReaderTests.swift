import Testing

@testable import ODataWire

struct BatchReaderTests {
    let reader = MultipartBatchReader()

    static let head = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"

    private func response(_ text: String, _ contentType: String = "multipart/mixed; boundary=b") throws -> BatchResponse
    {
        try reader.readResponse(Array(text.utf8), contentType: contentType)
    }

    @Test func `a quoted boundary with a space is recognized`() throws {
        let batch = try response(
            "--a b;c\r\n\(Self.head)\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n--a b;c--",
            #"multipart/mixed; charset=utf-8; boundary="a b;c""#)
        #expect(batch == BatchResponse(parts: [.single(contentID: nil, WireResponse(status: 204))]))
    }

    @Test func `a line that begins with the delimiter but continues is not a delimiter`() throws {
        let body = "--bb\r\nx"
        let batch = try response("--b\r\n\(Self.head)\r\nHTTP/1.1 200 OK\r\n\r\n\(body)\r\n--b--")
        #expect(batch.parts == [.single(contentID: nil, WireResponse(status: 200, body: Array(body.utf8)))])
    }

    @Test func `a failed change set may be a single part or a multipart`() throws {
        let error = "HTTP/1.1 400 Bad Request\r\nContent-ID: 7\r\n\r\nno"
        let single = try response("--b\r\n\(Self.head)\r\n\(error)\r\n--b--\r\n")
        let nested = try response(
            "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\(Self.head)\r\n\(error)\r\n--c--\r\n--b--")
        let expected = WireResponse(status: 400, body: Array("no".utf8))
        #expect(single.parts == [.single(contentID: "7", expected)])
        #expect(nested.parts == [.changeSet([.init(contentID: "7", response: expected)])])
    }

    @Test func `a truncated response yields the complete parts`() throws {
        let whole = "--b\r\n\(Self.head)\r\nHTTP/1.1 200 OK\r\n\r\none\r\n--b\r\n\(Self.head)"
        let batch = try response(whole + "\r\nHTT")
        #expect(
            batch
                == BatchResponse(
                    parts: [.single(contentID: nil, WireResponse(status: 200, body: Array("one".utf8)))],
                    isClosed: false))
    }

    @Test func `a request truncated inside a start line is rejected`() {
        let text = "--b\r\n\(Self.head)\r\nGET A HTTP/1.1\r\n\r\n\r\n--b\r\n\(Self.head)\r\nPOS"
        let error = #expect(throws: BatchReadError.self) {
            try reader.readRequest(Array(text.utf8), contentType: "multipart/mixed; boundary=b")
        }
        #expect(error?.code == .startLine)
        #expect(error?.offset == text.utf8.count - 3)
    }

    @Test func `a multipart inside a change set is refused`() {
        let text = """
            --a
            Content-Type: multipart/mixed; boundary=b

            --b
            Content-Type: multipart/mixed; boundary=c

            --c
            --a--
            """
        let error = #expect(throws: BatchReadError.self) { try response(text, "multipart/mixed; boundary=a") }
        #expect(error?.code == .nesting)
    }

    @Test func `more parts than the limit are refused`() {
        var reader = MultipartBatchReader()
        reader.limits.parts = 3
        let text = String(repeating: "--b\r\n\(Self.head)\r\nHTTP/1.1 204 x\r\n\r\n\r\n", count: 5) + "--b--"
        let error = #expect(throws: BatchReadError.self) {
            try reader.readResponse(Array(text.utf8), contentType: "multipart/mixed; boundary=b")
        }
        #expect(error?.code == .tooLarge)
    }

    @Test func `a head beyond the limit is refused`() {
        let long = "X: " + String(repeating: "y", count: 200_000)
        let text = "--b\r\n\(Self.head)\r\nHTTP/1.1 200 OK\r\n\(long)\r\n\r\n\r\n--b--"
        let error = #expect(throws: BatchReadError.self) { try response(text) }
        #expect(error?.code == .tooLarge)
    }

    @Test(arguments: ["", "no delimiter", "--", "----"])
    func `a body without a delimiter is rejected`(_ text: String) {
        let error = #expect(throws: BatchReadError.self) { try response(text, "multipart/mixed") }
        #expect(error?.code == .noDelimiter)
    }
}
