import GatewayCore
import Testing

struct LinkRewriterTests {
    private let roots = ServiceRoots(
        published: ServiceRoot("https://gw.example/odata/shop/")!, origin: ServiceRoot("http://backend:8000/sap/SHOP/")!
    )

    private func rewritten(_ text: String, scope: LinkRewriter.Scope = []) -> String {
        String(decoding: LinkRewriter.rewrite(Array(text.utf8), roots, .response, scope: scope), as: UTF8.self)
    }

    @Test func `control information points to the gateway, property values stay`() {
        let text = #"""
            { "@odata.context" : "http://backend:8000/sap/SHOP/$metadata#Orders", "value":[{"@odata.id":"http:\/\/backend:8000\/sap\/SHOP\/Orders(1)",
            "Note":"http://backend:8000/sap/SHOP/Orders(1)","Lines@odata.navigationLink":"/sap/SHOP/Orders(1)/Lines","uri":"http://backend:8000/sap/SHOP/x",
            "Tags":["http://backend:8000/sap/SHOP/"], "n":1.50e0 }],"@nextLink":"http://backend:8000/sap/SHOP/Orders?$skiptoken=\"2\""}
            """#
        let expected = #"""
            { "@odata.context" : "https://gw.example/odata/shop/$metadata#Orders", "value":[{"@odata.id":"https:\/\/gw.example\/odata\/shop\/Orders(1)",
            "Note":"http://backend:8000/sap/SHOP/Orders(1)","Lines@odata.navigationLink":"/odata/shop/Orders(1)/Lines","uri":"http://backend:8000/sap/SHOP/x",
            "Tags":["http://backend:8000/sap/SHOP/"], "n":1.50e0 }],"@nextLink":"https://gw.example/odata/shop/Orders?$skiptoken=\"2\""}
            """#
        #expect(rewritten(text) == expected)
    }

    @Test func `V2 metadata point to the gateway`() {
        let text =
            #"{"d":{"results":[{"__metadata":{"uri":"http://backend:8000/sap/SHOP/A(1)","type":"X"},"B":{"__deferred":{"uri":"http://backend:8000/sap/SHOP/A(1)/B"}}}],"__next":"http://backend:8000/sap/SHOP/A?$skiptoken=1"}}"#
        #expect(
            rewritten(text) == text.replacing("http://backend:8000/sap/SHOP/", with: "https://gw.example/odata/shop/"))
    }

    @Test func `links of other services stay`() {
        let text =
            #"{"@odata.id":"http://backend:8000/sap/SHOP2/Orders(1)","@odata.nextLink":"http://backend:8000.evil/sap/SHOP/"}"#
        #expect(rewritten(text) == text)
    }

    @Test func `arrays of bindings are rewritten in requests`() {
        let text =
            #"{"A@odata.bind":["https://gw.example/odata/shop/A(1)","A(2)"],"B@odata.bind":"https://gw.example/odata/shop/B(1)"}"#
        let output = LinkRewriter.rewrite(Array(text.utf8), roots, .request)
        #expect(
            String(decoding: output, as: UTF8.self)
                == #"{"A@odata.bind":["http://backend:8000/sap/SHOP/A(1)","A(2)"],"B@odata.bind":"http://backend:8000/sap/SHOP/B(1)"}"#
        )
    }

    @Test func `the result does not depend on the chunks`() {
        let text = Array(
            #"{"@odata.context":"http://backend:8000/sap/SHOP/$metadata","value":[{"a":"\\\"","@id":"http:\/\/backend:8000\/sap\/SHOP\/A"}]}"#
                .utf8)
        let whole = LinkRewriter.rewrite(text, roots, .response)
        for size in 1...text.count {
            var rewriter = LinkRewriter(roots, .response)
            var output: [UInt8] = []
            for start in stride(from: 0, to: text.count, by: size) {
                output += rewriter.rewrite(Array(text[start..<min(start + size, text.count)]))
            }
            output += rewriter.finish()
            #expect(output == whole, "chunks of \(size)")
        }
    }

    @Test func `bytes that are not JSON pass through`() {
        for text in ["<html>\"@odata.id\": \"http", "]]]}}\"", "{\"@odata.id\":\"http://backend", "", "\u{FEFF}{}"] {
            #expect(rewritten(text) == text)
        }
        let deep = String(repeating: "[", count: 10_000)
        #expect(rewritten(deep) == deep)
        var state: UInt64 = 42
        for _ in 0..<200 {
            let bytes = (0..<60).map { _ -> UInt8 in
                state = state &* 6_364_136_223_846_793_005 &+ 1
                return Array("{}[]\",:\\@a/h".utf8)[Int(state >> 33) % 12]
            }
            #expect(LinkRewriter.rewrite(bytes, roots, .response).count >= bytes.count - 40)
        }
    }

    @Test func `URLs below other roots are not rewritten`() {
        #expect(roots.rewritten("http://backend:8000/sap/SHOP", .response) == "https://gw.example/odata/shop/")
        #expect(roots.rewritten("http://BACKEND:8000/sap/SHOP/A", .response) == "https://gw.example/odata/shop/A")
        #expect(roots.rewritten("http://backend:8000/sap/SHOPS", .response) == "http://backend:8000/sap/SHOPS")
        #expect(roots.rewritten("Orders(1)", .response) == "Orders(1)")
        #expect(
            roots.originTarget("A(1)/B/$ref?$id=https%3A%2F%2Fgw.example%2Fodata%2Fshop%2FB(2)")
                == "/sap/SHOP/A(1)/B/$ref?$id=http://backend:8000/sap/SHOP/B(2)")
    }

    @Test func `the URL in $id is rewritten for requests in batches as well`() {
        let (ours, theirs) = ("https://gw.example/odata/shop/B(2)", "http://backend:8000/sap/SHOP/B(2)")
        let json = rewrittenBatch(#"{"requests":[{"id":"1","method":"delete","url":"A(1)/B/$ref?$id=\#(ours)"}]}"#)
        #expect(json == #"{"requests":[{"id":"1","method":"delete","url":"A(1)/B/$ref?$id=\#(theirs)"}]}"#)
        let body = #"{"requests":[{"url":"A","body":{"url":"\#(ours)?$id=\#(ours)"}}]}"#
        #expect(rewrittenBatch(body) == body)
        let escaped = rewrittenBatch(
            #"{"requests":[{"url":"https:\/\/gw.example\/odata\/shop\/A(1)/B/$ref?$id=\#(ours)"}]}"#)
        #expect(escaped == #"{"requests":[{"url":"http://backend:8000/sap/SHOP/A(1)/B/$ref?$id=\#(theirs)"}]}"#)
        let encoded = rewrittenBatch(#"{"requests":[{"url":"https://gw.example/odata/shop/A?$top=1\u0026$skip=2"}]}"#)
        #expect(encoded == #"{"requests":[{"url":"http://backend:8000/sap/SHOP/A?$top=1&$skip=2"}]}"#)
        for text in [#"{"requests":[{"url":"A?$filter=a eq '\u0041'"}]}"#, #"{"requests":[{"url":"A?$id"#] {
            #expect(rewrittenBatch(text) == text)
        }
        let multipart = """
            --b\r\nContent-Type: application/http\r\n\r\nDELETE A(1)/B/$ref?$id=URL HTTP/1.1\r\n\r\n\r\n--b--\r\n
            """
        let rewritten = BatchLinks.rewrite(
            Array(multipart.replacing("URL", with: ours).utf8), contentType: "multipart/mixed;boundary=b", roots,
            .request)
        #expect(String(decoding: rewritten, as: UTF8.self) == multipart.replacing("URL", with: theirs))
        // The start line of a response contains no URL.
        let response = Array(multipart.replacing("URL", with: ours).utf8)
        #expect(
            BatchLinks.rewrite(response, contentType: "multipart/mixed;boundary=b", roots, .response) == response)
    }

    private func rewrittenBatch(_ text: String) -> String {
        String(
            decoding: LinkRewriter.rewrite(Array(text.utf8), roots, .request, scope: .batch), as: UTF8.self)
    }

    @Test func `V4 metadata receives the annotation once, and other documents do not change`() {
        let document =
            #"<edmx:Edmx Version="4.0"><Schema><EntityContainer Name="C"><X/></EntityContainer></Schema></edmx:Edmx>"#
        let declared = MetadataAnnotation.declared(in: Array(document.utf8))
        #expect(
            String(decoding: declared, as: UTF8.self).contains(
                #"<X/><Annotation Term="Org.OData.Repeatability.V1.Supported" Bool="true"/></EntityContainer>"#))
        #expect(MetadataAnnotation.declared(in: declared) == declared)
        let second = Array(document.replacing("4.0", with: "1.0").utf8)
        #expect(MetadataAnnotation.declared(in: second) == second)
        #expect(MetadataAnnotation.declared(in: Array("EntityContainer".utf8)) == Array("EntityContainer".utf8))
    }
}
