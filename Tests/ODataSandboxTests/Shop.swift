import EDM
import ODataSandbox
import ODataWire
import Testing

/// The protocol versions, so that a rule is tested in both.
enum Dialect: String, CaseIterable, CustomTestStringConvertible {
    case v2, v4

    var testDescription: String { rawValue.uppercased() }
}

/// The seeded Shop as a client of one version sees it.
struct Shop {
    var sandbox: Sandbox
    let dialect: Dialect

    init(_ dialect: Dialect) throws {
        sandbox = try Sandbox.shop()
        sandbox.origin = "http://shop.test"
        sandbox.options.requiresToken = false
        self.dialect = dialect
    }

    var root: String { "http://shop.test/\(dialect.rawValue)/" }

    /// Returns the keys and links of these sets.
    func links(_ sets: String...) -> String { sandbox.stateText(of: sets, values: false) }
    func state(_ sets: String...) -> String { sandbox.stateText(of: sets) }

    // MARK: - Requests

    func request(_ method: String, _ url: String, _ body: String, _ headers: [String: String]) -> WireRequest {
        var fields = HTTPHeaders.empty
        if !body.isEmpty { fields["Content-Type"] = "application/json" }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { fields[name] = value }
        return WireRequest(method: method, url: url, headers: fields, body: Array(body.utf8))
    }

    @discardableResult
    mutating func send(
        _ method: String, _ url: String, _ body: String = "", headers: [String: String] = [:]
    ) -> WireResponse {
        sandbox.handle(request(method, "/\(dialect.rawValue)/\(url)", body, headers))
    }

    mutating func get(_ url: String, headers: [String: String] = [:]) -> WireResponse {
        send("GET", url, headers: headers)
    }

    /// Updates an entity with MERGE or PATCH, regardless of its ETag.
    @discardableResult
    mutating func update(_ url: String, _ body: String) -> WireResponse {
        send(updateMethod, url, body, headers: ["If-Match": "*"])
    }

    @discardableResult
    mutating func delete(_ url: String) -> WireResponse { send("DELETE", url, headers: ["If-Match": "*"]) }

    @discardableResult
    mutating func link(_ from: String, _ navigation: String, _ to: String) -> WireResponse {
        let message = linkMessage(from, navigation, to)
        return send(message.method, message.url, message.body)
    }

    @discardableResult
    mutating func unlink(_ from: String, _ navigation: String, _ to: String? = nil) -> WireResponse {
        switch (dialect, to) {
        case (.v2, nil): send("DELETE", "\(from)/$links/\(navigation)")
        case (.v2, let to?):
            send("DELETE", "\(from)/$links/\(navigation)\(to[(to.firstIndex(of: "(") ?? to.startIndex)...])")
        case (.v4, nil): send("DELETE", "\(from)/\(navigation)/$ref")
        case (.v4, let to?): send("DELETE", "\(from)/\(navigation)/$ref?$id=\(to)")
        }
    }

    /// Returns a member that binds an existing entity or, with `$1`, a new one: `"Customer": …`.
    func bind(_ navigation: String, _ target: String) -> String {
        let url = target.hasPrefix("$") || dialect == .v4 ? target : root + target
        return dialect == .v2
            ? "\"\(navigation)\":{\"__metadata\":{\"uri\":\"\(url)\"}}" : "\"\(navigation)@odata.bind\":\"\(url)\""
    }

    var updateMethod: String { dialect == .v2 ? "MERGE" : "PATCH" }

    // MARK: - Change sets

    typealias Message = (method: String, url: String, body: String)

    func linkMessage(_ from: String, _ navigation: String, _ to: String) -> Message {
        let method = navigation.hasSuffix("s") || navigation == "Children" ? "POST" : "PUT"
        let url = to.hasPrefix("$") ? to : root + to
        return dialect == .v2
            ? (method, "\(from)/$links/\(navigation)", "{\"uri\":\"\(url)\"}")
            : (method, "\(from)/\(navigation)/$ref", "{\"@odata.id\":\"\(url)\"}")
    }

    /// Sends the messages as one change set, with Content-IDs 1, 2, 3…
    mutating func changeSet(_ messages: [Message], headers: [String: String] = ["If-Match": "*"]) throws
        -> BatchResponse
    {
        try batch([
            .changeSet(
                messages.enumerated().map { index, message in
                    BatchPart.Member(
                        contentID: String(index + 1),
                        request: request(
                            message.method, message.url, message.body, message.method == "POST" ? [:] : headers))
                })
        ])
    }

    mutating func batch(_ parts: [BatchPart], headers: [String: String] = [:]) throws -> BatchResponse {
        let response = try rawBatch(parts, headers: headers)
        return try MultipartBatchReader(strictness: .strict).readResponse(
            response.body, contentType: response.headers["Content-Type"] ?? "")
    }

    mutating func rawBatch(_ parts: [BatchPart], headers: [String: String] = [:]) throws -> WireResponse {
        let body = try MultipartBatchWriter().write(BatchRequest(parts: parts), boundary: "b") { "cs\($0)" }
        var fields = headers
        fields["Content-Type"] = "multipart/mixed; boundary=b"
        var request = request("POST", "/\(dialect.rawValue)/$batch", "", fields)
        request.body = body
        return sandbox.handle(request)
    }
}

extension WireResponse {
    var text: String { String(decoding: body, as: UTF8.self) }

    /// Returns the body as JSON, without the envelope of V2.
    func json() throws -> JSONValue {
        let value = try JSONValue.parse(body)
        return value["d"] ?? value
    }

    /// The code of the error in the body.
    var errorCode: String? { (try? JSONValue.parse(body))?["error"]?["code"]?.string }
}

extension BatchResponse {
    /// The statuses in the order of the response: `[201, 204]` for a change set, `400` for a single response.
    var statuses: String {
        parts.map { part in
            switch part {
            case .changeSet(let members): "[" + members.map { String($0.response.status) }.joined(separator: ", ") + "]"
            case .single(_, let response): String(response.status)
            }
        }.joined(separator: " ")
    }
}
