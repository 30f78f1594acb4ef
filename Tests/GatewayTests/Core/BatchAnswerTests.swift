import GatewayCore
import ODataWire
import SeededRandom
import Testing

/// The header field that is inserted into the bytes of a service's answer.
struct BatchAnswerTests {
    private static let roots = ServiceRoots(
        published: ServiceRoot("https://gw.example/odata/shop/")!, origin: ServiceRoot("http://backend:8000/s/")!)
    private static let contentType = "multipart/mixed; boundary=b"
    private static let field = "Repeatability-Result: accepted"

    /// Returns the upload of a batch with parts of so many requests each; 0 is a request by itself.
    private static func upload(_ members: [Int]) throws -> BatchUpload {
        func request(_ id: String) -> WireRequest {
            WireRequest(
                method: "POST", url: "Orders",
                headers: [
                    "Repeatability-Request-ID": "r\(id)", "Repeatability-Client-ID": "c",
                    "Repeatability-First-Sent": "Wed, 25 Nov 2026 10:00:00 GMT",
                ], body: Array("{}".utf8))
        }
        let parts = members.enumerated().map { part, count -> BatchPart in
            guard count > 0 else { return .query(request("\(part)")) }
            return .changeSet((0..<count).map { .init(contentID: "\(part).\($0)", request: request("\(part).\($0)")) })
        }
        let body = try MultipartBatchWriter().write(
            BatchRequest(parts: parts), boundary: "r", changeSetBoundary: { "s\($0)" })
        let upload = try BatchUpload(
            body, contentType: "multipart/mixed; boundary=r", format: .multipart, limits: GatewayLimits())
        return try #require(upload)
    }

    private static func body(_ upload: BatchUpload, _ answer: String, accepting parts: [Int]) throws -> String? {
        let response = WireResponse(
            status: 200, headers: ["Content-Type": contentType], body: Array(answer.utf8))
        let read = try #require(upload.read(response, without: []))
        let dialects = Dictionary(uniqueKeysWithValues: parts.map { ($0, RepeatabilityIdentifier.Dialect.oasis) })
        return read.body(roots, accepting: dialects).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: ["\r\n", "\n"])
    func `the field is inserted after the status line, and the lengths of the parts grow`(_ end: String) throws {
        func answer(_ field: String, _ growth: Int) -> String {
            """
            --b
            Content-Type: multipart/mixed; boundary=c
            content-length: \(330 + growth)

            --c
            Content-Type: application/http
            Content-Length: \(180 + growth)

            HTTP/1.1 201 Created
            \(field)Content-Type: application/json
            Content-Length: 8

            {"ID":5}
            --c--
            --b
            Content-Type: application/http

            HTTP/1.1 204 No Content
            \(field)
            --b--

            """.replacing("\n", with: end)
        }
        let growth = Self.field.utf8.count + end.utf8.count
        let upload = try Self.upload([1, 0])
        #expect(try Self.body(upload, answer("", 0), accepting: [0, 1]) == answer(Self.field + "\n", growth))
        #expect(try Self.body(upload, answer("", 0), accepting: []) == answer("", 0))
    }

    @Test func `a status line without a line break gets one`() throws {
        let answer = "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\n--b--\r\n"
        #expect(
            try Self.body(Self.upload([0]), answer, accepting: [0])
                == answer.replacing("No Content", with: "No Content\r\n" + Self.field))
    }

    @Test func `a field that exists is not added again, and one with another value is left to the composed answer`()
        throws
    {
        func answer(_ field: String) -> String {
            "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\n\(field)\r\n\r\n--b--\r\n"
        }
        let upload = try Self.upload([0])
        let known = answer("REPEATABILITY-RESULT: accepted")
        #expect(try Self.body(upload, known, accepting: [0]) == known)
        #expect(try Self.body(upload, answer("repeatability-result: rejected"), accepting: [0]) == nil)
        #expect(try Self.body(upload, answer(" folded: line"), accepting: [0]) == nil)
    }

    @Test(arguments: ["Content-Length:\r\n 22", "Content-Length: 22;x", "Content-Length: 22\r\nContent-Length: 22"])
    func `a part with a length in another form is left to the composed answer`(_ length: String) throws {
        let answer =
            "--b\r\nContent-Type: application/http\r\n\(length)\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n--b--\r\n"
        #expect(try Self.body(Self.upload([0]), answer, accepting: [0]) == nil)
    }

    @Test func `a length that no number can hold stays as it is`() {
        let text =
            "--b\r\nContent-Type: application/http\r\nContent-Length: 9223372036854775807\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9223372036854775807\r\n\r\n{\"@id\":\"http://backend:8000/s/A(1)\"}\r\n--b--\r\n"
        let output = BatchLinks.rewrite(Array(text.utf8), contentType: Self.contentType, Self.roots, .response)
        #expect(
            String(decoding: output, as: UTF8.self)
                == text.replacing("http://backend:8000/s/", with: "https://gw.example/odata/shop/"))
    }

    // MARK: Random answers

    @Test func `a response with inserted fields is read as the original with the fields`() throws {
        let seed = UInt64.testSeed()
        var generator = AnswerGenerator(seed: seed)
        for round in 0..<2_000 {
            let counts = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                Int.random(in: 0...3, using: &generator)
            }
            let answer = generator.answer(counts)
            let accepted = counts.indices.filter { _ in Bool.random(using: &generator) }
            let text = try Self.body(Self.upload(counts), answer, accepting: accepted)
            guard let text else {
                #expect(!generator.obstacles.isDisjoint(with: accepted), "seed \(seed), round \(round)\n\(answer)")
                continue
            }
            let linked = BatchLinks.rewrite(
                Array(answer.utf8), contentType: Self.contentType, Self.roots, .response)
            let expected = try Self.marked(
                MultipartBatchReader().readResponse(linked, contentType: Self.contentType), Set(accepted))
            let read = try MultipartBatchReader().readResponse(Array(text.utf8), contentType: Self.contentType)
            #expect(read == expected, "seed \(seed), round \(round)\n\(answer)\n\(text)")
            #expect(
                AnswerGenerator.wrongLengths(in: text) == [], "seed \(seed), round \(round)\n\(answer)\n\(text)")
        }
    }

    private static func marked(_ response: BatchResponse, _ accepted: Set<Int>) -> BatchResponse {
        func marked(_ response: WireResponse) -> WireResponse {
            guard response.headers["Repeatability-Result"] == nil else { return response }
            var fields = response.headers.fields.map { ($0.name, $0.value) }
            fields.insert(("Repeatability-Result", "accepted"), at: 0)
            return WireResponse(status: response.status, headers: HTTPHeaders(fields), body: response.body)
        }
        let parts = response.parts.enumerated().map { index, part -> BatchResponsePart in
            guard accepted.contains(index) else { return part }
            switch part {
            case .single(let id, let response): return .single(contentID: id, marked(response))
            case .changeSet(let members):
                return .changeSet(members.map { .init(contentID: $0.contentID, response: marked($0.response)) })
            }
        }
        return BatchResponse(parts: parts, isClosed: response.isClosed)
    }
}

/// Writes answers as services do, with everything that makes them different.
private struct AnswerGenerator: RandomNumberGenerator {
    private var random: SeededRandom
    /// The parts to which a field cannot be added.
    private(set) var obstacles: Set<Int> = []
    private var lineBreak = "\r\n"

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func next() -> UInt64 { random.next() }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    /// Returns a response whose parts are those of the request: responses by themselves, change sets with so many members,
    /// or the error that replaces one.
    mutating func answer(_ counts: [Int]) -> String {
        obstacles = []
        lineBreak = chance(30) ? "\n" : "\r\n"
        var text = chance(20) ? "preamble\(lineBreak)" : ""
        for (part, count) in counts.enumerated() {
            text += "--b" + lineBreak
            if count == 0 {
                text += framed("application/http", "", message(part, isError: chance(20)))
            } else if chance(25) {
                text += framed(
                    "application/http", id(part, Int.random(in: 0..<count, using: &self)), message(part, isError: true))
            } else {
                var members = ""
                for member in 0..<count {
                    members += "--c" + lineBreak
                    members +=
                        framed("application/http", id(part, member), message(part, isError: chance(10))) + lineBreak
                }
                text += framed("multipart/mixed; boundary=c", "", members + "--c--" + (chance(50) ? lineBreak : ""))
            }
            text += lineBreak
        }
        return text + "--b--" + (chance(80) ? lineBreak : "")
    }

    private func id(_ part: Int, _ member: Int) -> String { "Content-ID: \(part).\(member)\(lineBreak)" }

    private mutating func framed(_ type: String, _ fields: String, _ content: String) -> String {
        let name = ["Content-Length", "content-length", "CONTENT-LENGTH"].randomElement(using: &self)!
        let length = chance(50) ? "\(name): \(content.utf8.count)\(lineBreak)" : ""
        let lines = ["Content-Type: \(type)\(lineBreak)", fields, length].shuffled(using: &self)
        return lines.joined() + lineBreak + content
    }

    private mutating func message(_ part: Int, isError: Bool) -> String {
        let status =
            isError ? "409 Conflict" : ["200 OK", "201 Created", "204 No Content"].randomElement(using: &self)!
        var text = chance(10) ? lineBreak + " " + lineBreak : ""
        text += "HTTP/1.1 \(status)"
        let isBodiless = status.hasPrefix("204")
        // A response that consists of its status line only.
        if isBodiless, chance(10) { return text }
        text += lineBreak
        if chance(4) {
            obstacles.insert(part)
            text += " folded: x" + lineBreak
        }
        if chance(8) {
            let isAccepted = chance(50)
            if !isAccepted { obstacles.insert(part) }
            text += "repeatability-RESULT: \(isAccepted ? "accepted" : "rejected")" + lineBreak
        }
        if chance(40) { text += "Location: http://backend:8000/s/Orders(5)" + lineBreak }
        if chance(20) { text += "X-Long: a,\(lineBreak)\tb" + lineBreak }
        if isBodiless { return chance(50) ? text : text + lineBreak }
        let bodies = [
            "", "{}", "--bx\(lineBreak) --b\(lineBreak)x--c--", "{\"@odata.id\":\"http://backend:8000/s/Orders(5)\"}",
            "a\(lineBreak)\(lineBreak)HTTP/1.1 204 No Content\(lineBreak)Repeatability-Result: accepted\(lineBreak)b",
        ]
        let body = bodies.randomElement(using: &self)!
        if chance(70) { text += "Content-Type: application/json" + lineBreak }
        if chance(70) { text += "Content-Length: \(body.utf8.count)" + lineBreak }
        return text + lineBreak + body
    }

    /// Returns the declared lengths of parts that differ from those of their contents. It does not use the reader.
    static func wrongLengths(in text: String) -> [String] {
        let end = text.utf8.contains(0x0D) ? "\r\n" : "\n"
        var wrong: [String] = []
        func check(_ text: Substring, _ boundary: String) {
            for part in (end + text).split(separator: end + "--" + boundary + end) {
                guard part.hasPrefix("Content") || part.hasPrefix("content") || part.hasPrefix("CONTENT") else {
                    continue
                }
                let content = part.split(separator: end + end, maxSplits: 1, omittingEmptySubsequences: false)
                guard content.count == 2 else { continue }
                let whole = content[1].split(separator: end + "--" + boundary + "--", omittingEmptySubsequences: false)[
                    0]
                let length = content[0].split(separator: end).first { $0.lowercased().hasPrefix("content-length:") }
                if let length, length.drop(while: { $0 != " " }).dropFirst() != "\(whole.utf8.count)" {
                    wrong.append("\(length): \(whole)")
                }
                if boundary == "b" { check(whole, "c") }
            }
        }
        check(text[...], "b")
        return wrong
    }
}
