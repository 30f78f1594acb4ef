internal import EDM
internal import ODataQuery

/// Writes batches in the JSON format of OData 4.01 (JSON Format, section 19.1). The output is deterministic.
///
/// A service may process the parts of a JSON batch in any order that `dependsOn` permits. A `BatchRequest` is ordered,
/// so each part depends on its predecessor and is not processed if that one fails, as in the multipart format. In
/// addition, `dependsOn` lists the requests that a URL or body refers to.
package struct JSONBatchWriter: Sendable {
    /// The media type of the batch, and of the response to request.
    package static let contentType = "application/json"
    /// The version of the batch request itself. The requests inside of it declare their own versions.
    package static let version = "4.01"

    package init() {}

    package func write(_ batch: BatchRequest) throws(BatchWriteError) -> [UInt8] {
        let names = try JSONBatchNames(batch)
        var output = JSONWriter()
        output.beginObject()
        output.name("requests")
        output.beginArray()
        /// The requests so far, with the group of each.
        var groups: [String: String?] = [:]
        var previous: String?
        for (index, (part, named)) in zip(batch.parts, names.parts).enumerated() {
            let condition = batch.effectiveCondition(at: index)
            let awaited = (condition?.parts ?? []).sorted().compactMap { names.parts[$0].name }
            let expression = condition?.expression(names.parts.map { $0.identifiers.first ?? "" })
            for (id, request) in zip(named.identifiers, part.requests) {
                let references = JSONBatchReferences.all(in: request).filter { groups[$0] != nil }
                var dependencies = (previous.map { [$0] } ?? []) + awaited
                for reference in references {
                    // A request of a different group is available only after that whole group has succeeded.
                    if let group = groups[reference] ?? nil, group != named.group { dependencies.append(group) }
                    dependencies.append(reference)
                }
                try write(
                    request, id: id, group: named.group, dependsOn: dependencies.uniqued(), if: expression, to: &output)
                groups[id] = .some(named.group)
            }
            previous = named.name ?? previous
        }
        output.endArray()
        output.endObject()
        return output.bytes
    }

    private func write(
        _ request: WireRequest, id: String, group: String?, dependsOn: [String], if condition: String?,
        to output: inout JSONWriter
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
        if let condition { output.member("if", condition) }
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
            if MultipartBatchWriter.isForbidden(name) { throw .forbiddenHeader(field.name) }
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

/// The representation of a body in a JSON batch, which its Content-Type determines.
enum JSONBatchBody {
    /// The JSON value itself.
    case json
    /// A string.
    case text
    /// A string in base64url.
    case binary

    /// Chooses the representation. A body without a Content-Type is JSON.
    init(contentType: String?) {
        let mediaType = (contentType ?? "application/json").prefix { $0 != ";" && $0 != " " }.lowercased()
        if mediaType == "application/json" || mediaType.hasSuffix("+json") {
            self = .json
        } else {
            self = mediaType.hasPrefix("text/") ? .text : .binary
        }
    }
}

/// The `$<id>` references of a request: in the first segment of its URL, in a `$id` option, in
/// `If-Match`, and in links of its body.
enum JSONBatchReferences {
    /// Returns the references in the order of occurrence. Does not check whether the referenced requests exist.
    static func all(in request: WireRequest) -> [String] {
        var found: [String] = []
        add(request.url[...], to: &found)
        for name in ["If-Match", "If-None-Match"] { add((request.headers[name] ?? "")[...], to: &found) }
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

extension BatchRequest {
    /// Returns the condition of a part, or nil if it only depends on its predecessor.
    ///
    /// After a part with a condition, the predecessor need not have been executed.
    fileprivate func effectiveCondition(at index: Int) -> BatchCondition? {
        if let condition = conditions[index] { return condition }
        var result: BatchCondition?
        for part in (0..<index).reversed() {
            guard let condition = conditions[part] else {
                return result.map { .succeeded(part) && $0 }
            }
            let ended = !condition || .succeeded(part)
            result = result.map { ended && $0 } ?? ended
        }
        return result
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
