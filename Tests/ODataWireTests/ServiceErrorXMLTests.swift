import ODataWire
import Testing

/// Errors that V2 services return in XML regardless of the `Accept` header.
@Suite struct `Service errors in XML` {
    private static let namespace = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"

    private func read(_ text: String) -> ServiceError? { ServiceErrorReader.read(Array(text.utf8)) }

    @Test(arguments: [
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><error xmlns=\"\(namespace)\"><code>SY/530</code><message xml:lang=\"en\">No &amp; no</message></error>",
        "\u{FEFF}\n<m:error xmlns:m=\"\(namespace)\">\n  <m:code>SY/530</m:code>\n  <m:message>No &amp; no</m:message>\n</m:error>",
        "<error xmlns=\"http://docs.oasis-open.org/odata/ns/metadata\"><code>SY/530</code><message>No &amp; no</message></error>",
        "<error><code>SY/530</code><message><![CDATA[No & no]]></message></error>",
    ])
    func `code and message are read with any namespace prefix`(text: String) throws {
        let error = try #require(read(text))
        #expect(error.code == "SY/530")
        #expect(error.message == "No & no")
        #expect(error.innerError == nil)
    }

    @Test func `the inner error and its details are read`() throws {
        let error = try #require(
            read(
                """
                <error xmlns="\(Self.namespace)"><code>C</code><message>M</message><innererror><transactionid>42</transactionid>
                <errordetails><errordetail><code>A</code><message>a</message><propertyref>P</propertyref></errordetail>
                <errordetail><code>B</code><message>b</message></errordetail></errordetails></innererror></error>
                """))
        #expect(error.details == [.init(code: "A", message: "a", target: "P"), .init(code: "B", message: "b")])
        #expect(error.innerError?.contains(#""transactionid":"42""#) == true)
    }

    @Test func `an error with one detail has the detail`() throws {
        let error = try #require(
            read(
                "<error xmlns=\"http://docs.oasis-open.org/odata/ns/metadata\"><code>C</code><message>M</message><target>T</target>"
                    + "<details><detail><code>A</code><message>a</message></detail></details></error>"))
        #expect(error.target == "T")
        #expect(error.details == [.init(code: "A", message: "a")])
    }

    @Test(arguments: [
        "<html><body>error</body></html>", "<!DOCTYPE html><error><code>1</code><message>m</message></error>",
        "<error>Proxy failed</error>", "<error xmlns=\"urn:other\"><code>1</code><message>m</message></error>",
        "<error xmlns=\"\(namespace)\"><code>1</code>", "<", "<error", "<?xml version=\"1.0\"?>",
        "<errors xmlns=\"\(namespace)\"/>",
    ])
    func `documents that are not OData errors are not read as errors`(text: String) {
        #expect(read(text) == nil)
    }

    @Test func `errors that are nested too deeply or too large are not read`() {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(read("<error xmlns=\"\(Self.namespace)\">" + deep) == nil)
        let long =
            "<error xmlns=\"\(Self.namespace)\"><code>" + String(repeating: "x", count: 2 << 20) + "</code></error>"
        #expect(read(long) == nil)
    }

    @Test func `an error in a part of a batch is read like an error in a whole response`() throws {
        let body = "<error xmlns=\"\(Self.namespace)\"><code>C</code><message>M</message></error>"
        let text = [
            "--b", "Content-Type: application/http", "Content-Transfer-Encoding: binary", "",
            "HTTP/1.1 400 Bad Request",
            "Content-Type: application/xml", "Content-Length: \(body.utf8.count)", "", body, "--b--", "",
        ].joined(separator: "\r\n")
        let response = try MultipartBatchReader().readResponse(
            Array(text.utf8), contentType: "multipart/mixed; boundary=b")
        guard case .single(_, let part)? = response.parts.first else {
            Issue.record("The batch has no response.")
            return
        }
        #expect(ServiceErrorReader.read(part.body)?.code == "C")
    }
}
