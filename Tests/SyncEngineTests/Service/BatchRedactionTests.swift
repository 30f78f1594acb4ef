import Testing

@testable import SyncEngine

struct BatchRedactionTests {
    private static let batch = """
        --outer
        Content-Type: multipart/mixed; boundary="inner"
        X-Outer: secret-1

        --inner
        Content-Type: application/http
        Content-ID: 1

        POST Orders HTTP/1.1
        Content-Type: application/json
        X-Api-Key: secret-2
        Repeatability-Client-ID: secret-3
          folded-secret-4

        {"Note":"X-Api-Key: kept"}
        --inner--
        --outer--

        """

    @Test(arguments: ["\n", "\r\n"])
    func `redaction removes the values of headers in multipart batches and keeps the bodies`(_ lineEnd: String) {
        let text = Self.batch.replacing("\n", with: lineEnd)
        let shown = BatchRedaction.redacted(text, contentType: "multipart/mixed; boundary=outer")
        #expect(!shown.contains("secret"))
        for kept in [
            "Content-ID: 1", "POST Orders HTTP/1.1", "X-Api-Key: …", #"{"Note":"X-Api-Key: kept"}"#, "--inner--",
            "boundary=\"inner\"",
        ] { #expect(shown.contains(kept), "\(kept)") }
    }

    @Test func `redaction removes the values of headers in responses`() {
        let text =
            "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie: secret\r\n\r\n{}\r\n--b--"
        let shown = BatchRedaction.redacted(text, contentType: "Multipart/Mixed; Boundary=b")
        #expect(!shown.contains("secret"))
        #expect(shown.contains("HTTP/1.1 200 OK"))
    }

    @Test func `redaction removes the values of headers in JSON batches and changes nothing else`() {
        let text = #"""
            {"requests": [{"id": "1", "headers": {"content-type": "application/json", "X-Key": "sec\"ret"},
              "body": {"headers": {"X-Key": "kept"}, "Note": "kept too", "Tags": ["a", "b"]}}]}
            """#
        let shown = BatchRedaction.redacted(text, contentType: "application/json;charset=utf-8")
        #expect(shown == text.replacing(#""sec\"ret""#, with: "\"…\""))
    }

    @Test func `redaction of any text changes nothing else and never traps`() {
        let entity = #"{"Name":"Ada","headers":{"X":"y"},"requests":[1,"two",{"headers":["z"]}]}"#
        #expect(BatchRedaction.redacted(entity, contentType: "application/json") == entity)
        #expect(BatchRedaction.redacted("--b\nX: y", contentType: "text/plain") == "--b\nX: y")
        for end in Self.batch.indices {
            _ = BatchRedaction.redacted(String(Self.batch[..<end]), contentType: "multipart/mixed; boundary=outer")
        }
        for broken in ["{", "]]}", #"{"requests":[{"headers":{"a":"\"#, "\"", #"{:::"a","#, "{\"a\":[{"] {
            _ = BatchRedaction.redacted(broken, contentType: "application/json")
        }
    }
}
