import EDM
internal import ODataWire

/// The reason why a text is not a list of faults, as one sentence.
public struct FaultError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    init(_ description: String) { self.description = description }
}

extension Fault {
    /// Parses the faults of a JSON text, which is one object or an array of objects. `Docs/Sandbox.md` documents their
    /// members.
    ///
    /// - Throws: A ``FaultError`` if the text is not JSON, or a member is unknown, missing or out of range.
    public static func list(_ json: [UInt8]) throws(FaultError) -> [Fault] {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue.parse(json)
        } catch {
            throw FaultError("This is not JSON: \(error)")
        }
        return try (value.array ?? [value]).map { item throws(FaultError) in try Fault(item) }
    }

    private init(_ value: JSONValue) throws(FaultError) {
        guard case .object(let object) = value else { throw FaultError("A fault must be an object.") }
        var fields = FaultFields(object)
        self.init(try Self.effect(&fields))
        remaining = try fields.integer("times") ?? 1
        skipping = try fields.integer("skip") ?? 0
        method = try fields.text("method")
        urlPart = try fields.text("url") ?? ""
        switch fields.consume("part") {
        case nil: break
        case .string("any"): part = .any
        case .number(let text)? where Int(text).map { $0 > 0 } == true: part = Int(text).map(BatchScope.number)
        default: throw FaultError("“part” must be “any” or a number from 1.")
        }
        if let name = fields.rest.first { throw FaultError("A fault must not have “\(name)” here.") }
    }

    /// The maximum delay: one hour, in milliseconds.
    private static let longestDelay = 3_600_000

    private static func effect(_ fields: inout FaultFields) throws(FaultError) -> Effect {
        guard let name = try fields.text("effect") else { throw FaultError("A fault must have an “effect”.") }
        switch name {
        case "refuse":
            return .refuse(
                status: try fields.required("status", in: 200...599), headers: try fields.headers("headers"),
                body: try fields.bytes("body"))
        case "dropRequest": return .dropRequest
        case "cutRequest": return .cutRequest(after: try fields.required("after", in: 0...Int.max))
        case "dropAnswer": return .dropAnswer
        case "cutAnswer": return .cutAnswer(after: try fields.required("after", in: 0...Int.max))
        case "delay": return .delay(milliseconds: try fields.required("milliseconds", in: 0...Fault.longestDelay))
        case "expireTokens": return .expireTokens
        case "precede": return .precede(by: try fields.request("request"))
        case "follow": return .follow(by: try fields.request("request"))
        case "assignKeys": return .assignKeys
        case "ignoreBodyReferences": return .ignoreBodyReferences
        case "keepRefused": return .keepRefused
        case "truncate": return .truncate(after: try fields.required("after", in: 0...Int.max))
        case "replace":
            return .replace(
                contentType: try fields.text("contentType") ?? "text/html", body: try fields.bytes("body") ?? [])
        default:
            guard let distortion = PayloadCorruption(rawValue: name) else {
                throw FaultError("There is no effect “\(name)”.")
            }
            return .distort(distortion)
        }
    }
}

/// The members of a fault's object that have not been read yet.
private struct FaultFields {
    private var members: [String: JSONValue] = [:]

    init(_ object: JSONObject) { for member in object.members { members[member.name] = member.value } }

    /// The names of these members, sorted so that messages are deterministic.
    var rest: [String] { members.keys.sorted() }

    mutating func consume(_ name: String) -> JSONValue? { members.removeValue(forKey: name) }

    mutating func text(_ name: String) throws(FaultError) -> String? {
        guard let value = consume(name) else { return nil }
        guard case .string(let text) = value else { throw FaultError("“\(name)” must be a string.") }
        return text
    }

    mutating func integer(_ name: String) throws(FaultError) -> Int? {
        guard let value = consume(name) else { return nil }
        guard case .number(let text) = value, let number = Int(text), number >= 0 else {
            throw FaultError("“\(name)” must be a nonnegative integer.")
        }
        return number
    }

    mutating func required(_ name: String, in range: ClosedRange<Int>) throws(FaultError) -> Int {
        guard let number = try integer(name) else { throw FaultError("This effect requires “\(name)”.") }
        guard range.contains(number) else {
            let upper = range.upperBound == .max ? "" : " to \(range.upperBound)"
            throw FaultError("“\(name)” must be a number from \(range.lowerBound)\(upper).")
        }
        return number
    }

    /// Returns a string as it is, and any other value as JSON.
    mutating func bytes(_ name: String) throws(FaultError) -> [UInt8]? {
        consume(name).map { Array(($0.string ?? $0.text).utf8) }
    }

    mutating func headers(_ name: String) throws(FaultError) -> HTTPHeaders {
        guard let value = consume(name) else { return .empty }
        guard let object = value.object else { throw FaultError("“\(name)” must be an object of strings.") }
        var headers = HTTPHeaders.empty
        for member in object.members {
            guard let text = member.value.string else { throw FaultError("“\(name)” must be an object of strings.") }
            headers.add(name: member.name, value: text)
        }
        return headers
    }

    mutating func request(_ name: String) throws(FaultError) -> WireRequest {
        guard case .object(let object)? = consume(name) else { throw FaultError("This effect requires a “\(name)”.") }
        var fields = FaultFields(object)
        guard let method = try fields.text("method"), let url = try fields.text("url") else {
            throw FaultError("A request must have a “method” and a “url”.")
        }
        var request = WireRequest(
            method: method, url: url, headers: try fields.headers("headers"), body: try fields.bytes("body") ?? [])
        if !request.body.isEmpty, request.headers["Content-Type"] == nil {
            request.headers["Content-Type"] = "application/json"
        }
        if let name = fields.rest.first { throw FaultError("A request must not have “\(name)”.") }
        return request
    }
}

// MARK: - Over HTTP

extension [Fault] {
    /// Handles a request to `/faults`: POST adds faults, GET returns the remaining ones, DELETE removes them. Returns
    /// nil for other requests.
    mutating func handle(_ request: WireRequest) -> WireResponse? {
        let route = Route(request.url)
        guard route.view == nil, route.rest == "/faults" else { return nil }
        switch request.method {
        case "GET":
            return WireResponse(
                status: 200, headers: ["Content-Type": "application/json"], body: Fault.json(self))
        case "POST":
            do throws(FaultError) {
                self += try Fault.list(request.body)
                return WireResponse(status: 204)
            } catch {
                return WireResponse(
                    status: 400, headers: ["Content-Type": "text/plain; charset=utf-8"],
                    body: [UInt8]("\(error)\n".utf8))
            }
        case "DELETE":
            self = []
            return WireResponse(status: 204)
        default: return WireResponse(status: 405, headers: ["Allow": "GET, POST, DELETE"])
        }
    }
}

extension Fault {
    /// Returns the faults in the format that ``list(_:)`` parses.
    static func json(_ faults: [Fault]) -> [UInt8] {
        JSONWriter.bytes(of: .array(faults.map(\.json)))
    }

    private var json: JSONValue {
        var members = effect.members
        members.append(("times", .number(String(remaining))))
        if skipping > 0 { members.append(("skip", .number(String(skipping)))) }
        if let method { members.append(("method", .string(method))) }
        if !urlPart.isEmpty { members.append(("url", .string(urlPart))) }
        switch part {
        case nil: break
        case .any: members.append(("part", .string("any")))
        case .number(let number): members.append(("part", .number(String(number))))
        }
        return JSONValue(members)
    }
}

extension Fault.Effect {
    fileprivate var members: [(String, JSONValue)] {
        func text(_ bytes: [UInt8]) -> JSONValue { .string(String(decoding: bytes, as: UTF8.self)) }
        func number(_ value: Int) -> JSONValue { .number(String(value)) }
        switch self {
        case .refuse(let status, let headers, let body):
            var members = [("effect", JSONValue.string("refuse")), ("status", number(status))]
            if !headers.fields.isEmpty { members.append(("headers", JSONValue(headers))) }
            if let body { members.append(("body", text(body))) }
            return members
        case .dropRequest: return [("effect", .string("dropRequest"))]
        case .cutRequest(let count): return [("effect", .string("cutRequest")), ("after", number(count))]
        case .dropAnswer: return [("effect", .string("dropAnswer"))]
        case .cutAnswer(let count): return [("effect", .string("cutAnswer")), ("after", number(count))]
        case .delay(let time): return [("effect", .string("delay")), ("milliseconds", number(time))]
        case .expireTokens: return [("effect", .string("expireTokens"))]
        case .precede(let other): return [("effect", .string("precede")), ("request", JSONValue(other))]
        case .follow(let other): return [("effect", .string("follow")), ("request", JSONValue(other))]
        case .assignKeys: return [("effect", .string("assignKeys"))]
        case .ignoreBodyReferences: return [("effect", .string("ignoreBodyReferences"))]
        case .keepRefused: return [("effect", .string("keepRefused"))]
        case .truncate(let count): return [("effect", .string("truncate")), ("after", number(count))]
        case .replace(let type, let body):
            return [("effect", .string("replace")), ("contentType", .string(type)), ("body", text(body))]
        case .distort(let distortion): return [("effect", .string(distortion.rawValue))]
        }
    }
}

extension JSONValue {
    fileprivate init(_ members: [(String, JSONValue)]) {
        self = .object(JSONObject(members.map { JSONObject.Member(name: $0.0, value: $0.1) }))
    }

    fileprivate init(_ headers: HTTPHeaders) {
        self.init(headers.fields.map { ($0.name, JSONValue.string($0.value)) })
    }

    fileprivate init(_ request: WireRequest) {
        var members: [(String, JSONValue)] = [("method", .string(request.method)), ("url", .string(request.url))]
        if !request.headers.fields.isEmpty { members.append(("headers", JSONValue(request.headers))) }
        if !request.body.isEmpty { members.append(("body", .string(String(decoding: request.body, as: UTF8.self)))) }
        self.init(members)
    }
}

extension JSONWriter {
    fileprivate static func bytes(of value: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.value(value)
        return writer.bytes
    }
}
