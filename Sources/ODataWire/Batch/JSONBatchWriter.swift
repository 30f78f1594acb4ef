internal import EDM

/// Writes batches in the JSON format of OData 4.01 (JSON Format, section 19.1). The same input gives the same bytes.
///
/// A service may carry out the parts of a JSON batch in any order but for what `dependsOn` says. A `BatchRequest` is in
/// order, so each part depends on the one before it, and is not carried out when that one fails: what the multipart
/// format does by itself. Apart from that `dependsOn` holds the requests that a URL or body refers to.
public struct JSONBatchWriter: Sendable {
    /// Of the batch, and what its answer should have.
    public static let contentType = "application/json"
    /// The version that the batch itself must be sent in; its requests say their own.
    public static let version = "4.01"

    public init() {}

    public func write(_ batch: BatchRequest) throws(BatchWriteError) -> [UInt8] {
        let names = try JSONBatchNames(batch)
        var output = JSONWriter()
        output.beginObject()
        output.name("requests")
        output.beginArray()
        /// The requests so far, and the group of each.
        var groups: [String: String?] = [:]
        var previous: String?
        for (part, named) in zip(batch.parts, names.parts) {
            for (id, request) in zip(named.identifiers, part.requests) {
                let references = JSONBatchReferences.all(in: request).filter { groups[$0] != nil }
                var dependencies = previous.map { [$0] } ?? []
                for reference in references {
                    // A request of another group counts only once that whole group has succeeded.
                    if let group = groups[reference] ?? nil, group != named.group { dependencies.append(group) }
                    dependencies.append(reference)
                }
                try write(request, id: id, group: named.group, dependsOn: dependencies.uniqued(), to: &output)
                groups[id] = .some(named.group)
            }
            previous = named.name ?? previous
        }
        output.endArray()
        output.endObject()
        return output.bytes
    }

    private func write(
        _ request: WireRequest, id: String, group: String?, dependsOn: [String], to output: inout JSONWriter
    ) throws(BatchWriteError) {
        guard !request.method.isEmpty, request.method.utf8.allSatisfy(MultipartScanner.isToken) else {
            throw .invalidText("method")
        }
        let url = RequestTarget.inBatch(request.url)
        guard !url.isEmpty, url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .invalidText("URL") }
        output.beginObject()
        output.member("id", id)
        if let group { output.member("atomicityGroup", group) }
        if !dependsOn.isEmpty {
            output.name("dependsOn")
            output.beginArray()
            for name in dependsOn { output.string(name) }
            output.endArray()
        }
        output.member("method", request.method.lowercased())
        output.member("url", url)
        try write(request.headers, to: &output)
        try write(request.body, request.headers["Content-Type"], to: &output)
        output.endObject()
    }

    private func write(_ headers: HTTPHeaders, to output: inout JSONWriter) throws(BatchWriteError) {
        var written: [String] = []
        for field in headers.fields {
            let name = field.name.lowercased()
            if MultipartBatchWriter.forbidden.contains(where: { name.equalsIgnoringCase($0) }) {
                throw .forbiddenHeader(field.name)
            }
            guard !["content-length", "content-id"].contains(name), !written.contains(name) else { continue }
            let value = headers.values(name).joined(separator: ", ")
            guard !name.isEmpty, name.utf8.allSatisfy(MultipartScanner.isToken),
                value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 })
            else { throw .invalidText("header") }
            if written.isEmpty {
                output.name("headers")
                output.beginObject()
            }
            output.member(name, value)
            written.append(name)
        }
        if !written.isEmpty { output.endObject() }
    }

    private func write(
        _ body: [UInt8], _ contentType: String?, to output: inout JSONWriter
    ) throws(BatchWriteError) {
        guard !body.isEmpty else { return }
        output.name("body")
        switch JSONBatchBody(contentType: contentType) {
        case .json:
            do throws(JSONError) {
                var scanner = try JSONScanner(body)
                let range = try scanner.skip()
                try scanner.end()
                output.raw(String(decoding: body[range], as: UTF8.self))
            } catch { throw .invalidBody(contentType: contentType ?? "JSON") }
        case .text:
            guard let text = String(validating: body, as: UTF8.self) else {
                throw .invalidBody(contentType: contentType ?? "text")
            }
            output.string(text)
        case .binary: output.string(Base64.encode(body, .urlSafe))
        }
    }
}

/// How a body stands in a JSON batch, which its Content-Type decides.
enum JSONBatchBody {
    /// As the value that it is.
    case json
    /// As a string.
    case text
    /// As a string in base64url.
    case binary

    /// Without a Content-Type a body is JSON.
    init(contentType: String?) {
        let mediaType = (contentType ?? "application/json").prefix { $0 != ";" && $0 != " " }.lowercased()
        if mediaType == "application/json" || mediaType.hasSuffix("+json") {
            self = .json
        } else {
            self = mediaType.hasPrefix("text/") ? .text : .binary
        }
    }
}

/// The `$<id>` references of a request: the first segment of its URL or of a `$id` option, and links in its body.
enum JSONBatchReferences {
    /// In the order in which they occur. Whether there is such a request is not known here.
    static func all(in request: WireRequest) -> [String] {
        var found: [String] = []
        add(request.url[...], to: &found)
        if let query = request.url.firstIndex(of: "?") {
            for option in request.url[query...].dropFirst().split(separator: "&") {
                let decoded = (try? PercentCoding.decode(String(option))) ?? String(option)
                if decoded.hasPrefix("$id=") { add(decoded.dropFirst(4), to: &found) }
            }
        }
        if case .json = JSONBatchBody(contentType: request.headers["Content-Type"]), !request.body.isEmpty,
            let body = try? JSONValue.parse(request.body)
        {
            add(body, isLink: false, to: &found)
        }
        return found
    }

    private static func add(_ url: Substring, to found: inout [String]) {
        guard url.hasPrefix("$") else { return }
        found.append(String(url.dropFirst().prefix { $0 != "/" && $0 != "?" }))
    }

    private static func add(_ value: JSONValue, isLink: Bool, to found: inout [String]) {
        switch value {
        case .string(let text): if isLink { add(text[...], to: &found) }
        case .array(let items): for item in items { add(item, isLink: isLink, to: &found) }
        case .object(let object):
            for member in object.members {
                let name = member.name
                let isLink = ["@odata.bind", "@bind", "@odata.id", "@id"].contains { name.hasSuffix($0) }
                add(member.value, isLink: isLink, to: &found)
            }
        case .null, .boolean, .number: break
        }
    }
}

extension BatchPart {
    fileprivate var requests: [WireRequest] {
        switch self {
        case .changeSet(let members): members.map(\.request)
        case .query(let request): [request]
        }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, _ value: String) {
        self.name(name)
        string(value)
    }
}

extension [String] {
    fileprivate func uniqued() -> [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}
