import Testing

@testable import ODataWire

struct BatchWriterTests {
    static let json: HTTPHeaders = ["Content-Type": "application/json"]
    static let create = BatchPart.Member(
        contentID: "1",
        request: WireRequest(
            method: "POST", url: "Customers", headers: json, body: Array(#"{"Name":"NewCustomer"}"#.utf8)))
    static let createRelated = BatchPart.Member(
        contentID: "2",
        request: WireRequest(method: "POST", url: "$1/Orders", headers: json, body: Array(#"{"OrderID":5}"#.utf8)))

    private func text(_ parts: [BatchPart], _ writer: MultipartBatchWriter = .init(writesContentLength: false)) throws
        -> String
    {
        let bytes = try writer.write(BatchRequest(parts: parts), boundary: "batch_b") { "cs_\($0 + 1)" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a change set is written byte for byte as in the protocol's example`() throws {
        let expected = """
            --batch_b
            Content-Type: multipart/mixed; boundary=cs_1

            --cs_1
            Content-Type: application/http
            Content-Transfer-Encoding: binary
            Content-ID: 1

            POST Customers HTTP/1.1
            Content-Type: application/json

            {"Name":"NewCustomer"}
            --cs_1
            Content-Type: application/http
            Content-Transfer-Encoding: binary
            Content-ID: 2

            POST $1/Orders HTTP/1.1
            Content-Type: application/json

            {"OrderID":5}
            --cs_1--
            --batch_b--

            """
        let written = try text([.changeSet([Self.create, Self.createRelated])])
        #expect(written == expected.replacing("\n", with: "\r\n"))
    }

    @Test func `a query ends with two blank lines`() throws {
        let written = try text([.query(WireRequest(method: "GET", url: "Customers"))])
        #expect(written.contains("GET Customers HTTP/1.1\r\n\r\n\r\n--batch_b--\r\n"))
    }

    @Test func `the length of a body is written unless the option disables it`() throws {
        let written = try text([.changeSet([Self.createRelated])], MultipartBatchWriter())
        #expect(written.contains("Content-Type: application/json\r\nContent-Length: 13\r\n\r\n{"))
    }

    @Test func `the Content-ID can be written in the header of the operation`() throws {
        let written = try text(
            [.changeSet([Self.createRelated])],
            MultipartBatchWriter(contentIDLocation: .request, writesContentLength: false))
        #expect(written.contains("binary\r\n\r\nPOST $1/Orders HTTP/1.1\r\nContent-ID: 2\r\n"))
    }

    @Test(arguments: [
        ("Customers('a:b')", "Customers('a%3Ab')"), ("Customers('a:b')/X:y", "Customers('a%3Ab')/X:y"),
        ("A?$filter=T eq 'a:b'".replacing(" ", with: "%20"), "A?$filter=T%20eq%20'a:b'"),
        ("https://h:1/A", "https://h:1/A"), ("/s/A:b", "/s/A:b"), ("$1/Orders", "$1/Orders"),
    ])
    func `a colon is encoded if it could end a scheme`(_ url: String, _ expected: String) throws {
        let written = try text([.query(WireRequest(method: "GET", url: url))])
        #expect(written.contains("GET \(expected) HTTP/1.1\r\n"))
    }

    @Test(arguments: ["Authorization", "expect", "From", "Max-Forwards", "Range", "TE"])
    func `a header that is forbidden in parts is rejected`(_ name: String) {
        #expect(throws: BatchWriteError.forbiddenHeader(name)) {
            try text([.query(WireRequest(method: "GET", url: "A", headers: HTTPHeaders([(name, "x")])))])
        }
    }

    @Test func `a line break in a header is refused`() {
        #expect(throws: BatchWriteError.invalidText("header")) {
            try text([.query(WireRequest(method: "GET", url: "A", headers: ["X": "a\r\nY: b"]))])
        }
    }

    @Test(arguments: ["A B", "A\r\nX: y", ""])
    func `a URL that would break the request line is rejected`(_ url: String) {
        #expect(throws: BatchWriteError.invalidText("URL")) { try text([.query(WireRequest(method: "GET", url: url))]) }
    }

    @Test func `a body that contains the delimiter is rejected`() {
        let request = WireRequest(method: "PUT", url: "A", body: Array("x\r\n--batch_b--\r\n".utf8))
        #expect(throws: BatchWriteError.boundaryInUse("batch_b")) {
            try text([.changeSet([.init(contentID: "1", request: request)])])
        }
    }

    @Test func `a duplicate Content-ID in a change set is rejected`() {
        #expect(throws: BatchWriteError.duplicateContentID("1")) { try text([.changeSet([Self.create, Self.create])]) }
    }

    @Test(arguments: ["", "a\"b", "a ", String(repeating: "x", count: 71)])
    func `an invalid boundary is rejected`(_ boundary: String) {
        #expect(throws: BatchWriteError.invalidBoundary(boundary)) {
            try MultipartBatchWriter().write(BatchRequest(parts: []), boundary: boundary) { "c\($0)" }
        }
    }

    @Test func `a boundary with special characters is quoted`() {
        #expect(MultipartBatchWriter.contentType(boundary: "a:b") == #"multipart/mixed; boundary="a:b""#)
    }

    @Test func `a strict reader reads a written request`() throws {
        let batch = BatchRequest(parts: [
            .query(WireRequest(method: "GET", url: "Customers", headers: ["Accept": "application/json"])),
            .changeSet([Self.create, Self.createRelated]),
        ])
        let bytes = try MultipartBatchWriter(writesContentLength: false).write(batch, boundary: "b:1") { "c:\($0)" }
        let again = try MultipartBatchReader(strictness: .strict).readRequest(
            bytes, contentType: MultipartBatchWriter.contentType(boundary: "b:1"))
        #expect(again == batch)
    }

    @Test func `a strict reader reads a written response`() throws {
        let response = BatchResponse(parts: [
            .changeSet([
                .init(
                    contentID: "2",
                    response: WireResponse(status: 201, headers: ["Location": "C(1)"], body: Array("{}".utf8))),
                .init(contentID: "1", response: WireResponse(status: 204)),
            ]), .single(contentID: nil, WireResponse(status: 404, body: Array("no".utf8))),
        ])
        let bytes = try MultipartBatchWriter(writesContentLength: false).write(response, boundary: "b") { "c\($0)" }
        let reader = MultipartBatchReader(strictness: .strict)
        #expect(try reader.readResponse(bytes, contentType: "multipart/mixed; boundary=b") == response)
    }
}
