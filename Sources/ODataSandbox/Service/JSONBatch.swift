import EDM
internal import ODataQuery
internal import ODataWire

/// A JSON batch from a client, validated by the rules of the format.
///
/// Names are unique, the members of a group are adjacent, and `dependsOn` lists all requests that a request refers to,
/// which precede it.
struct JSONBatch {
    struct Item {
        let id: String
        let group: String?
        let dependsOn: [String]
        /// The `if` member.
        let condition: RequestCondition?
        var request: WireRequest
    }

    /// A single request, or the requests of a group.
    struct RequestGroup {
        let group: String?
        var items: [Item]

        var hasConditions: Bool { items.contains { $0.condition != nil } }
        var names: [String] { items.map(\.id) + (group.map { [$0] } ?? []) }
    }

    private(set) var parts: [RequestGroup] = []

    init(_ bytes: [UInt8]) throws(SandboxError) {
        let requests: [JSONValue]
        do throws(JSONError) {
            requests = try JSONValue.parse(bytes)["requests"]?.array ?? []
        } catch {
            throw SandboxError(400, .invalidBatch, "The batch cannot be read: \(error)")
        }
        guard !requests.isEmpty else { throw SandboxError(400, .invalidBatch, "The batch has no requests.") }
        var ids: Set<String> = []
        var groups: Set<String> = []
        for request in requests {
            let item = try Self.item(request)
            let known = ids.union(groups)
            guard ids.insert(item.id).inserted, !groups.contains(item.id) else {
                throw SandboxError(400, .invalidBatch, "The name \(item.id) occurs twice in the batch.")
            }
            for name in item.dependsOn where !known.contains(name) || name == item.group {
                throw SandboxError(400, .invalidBatch, "Request \(item.id) depends on \(name), which is not before it.")
            }
            for id in Self.references(of: item.request) where ids.contains(id) && !item.dependsOn.contains(id) {
                throw SandboxError(400, .invalidBatch, "Request \(item.id) refers to \(id), but does not depend on it.")
            }
            for name in item.condition?.names ?? [] where !known.contains(name) {
                throw SandboxError(
                    400, .invalidBatch, "The condition of request \(item.id) refers to \(name), which is not before it."
                )
            }
            if let group = item.group, parts.last?.group == group {
                parts[parts.count - 1].items.append(item)
                continue
            }
            if let group = item.group, ids.contains(group) || !groups.insert(group).inserted {
                throw SandboxError(400, .invalidBatch, "The members of group \(group) are not adjacent.")
            }
            parts.append(RequestGroup(group: item.group, items: [item]))
        }
    }

    private static func item(_ value: JSONValue) throws(SandboxError) -> Item {
        guard let id = value["id"]?.string, let method = value["method"]?.string, let url = value["url"]?.string else {
            throw SandboxError(400, .invalidBatch, "A request of a batch must have id, method and url.")
        }
        var request = WireRequest(
            method: method.uppercased(), url: url.hasPrefix("/") ? Route(url).rest : url)
        for member in value["headers"]?.object?.members ?? [] {
            request.headers.add(name: member.name, value: member.value.string ?? member.value.text)
        }
        if let body = value["body"], body != .null {
            let type = request.headers["Content-Type"] ?? "application/json"
            request.headers["Content-Type"] = type
            if type.hasPrefix("application/json") {
                request.body = Array(body.text.utf8)
            } else if type.hasPrefix("text/"), let text = body.string {
                request.body = Array(text.utf8)
            } else if let bytes = body.string.flatMap({ Base64.decode(Array($0.utf8)) }) {
                request.body = bytes
            } else {
                throw SandboxError(400, .invalidBatch, "The body of request \(id) is not in base64url.")
            }
        }
        return Item(
            id: id, group: value["atomicityGroup"]?.string,
            dependsOn: (value["dependsOn"]?.array ?? []).compactMap(\.string),
            condition: value["if"]?.string.map(RequestCondition.init), request: request)
    }

    private static func references(of request: WireRequest) -> [String] {
        (ContentIDReferences.id(of: request.url[...]).map { [$0] } ?? []) + ETagReferences.names(in: request)
            + references(inBodyOf: request)
    }

    /// Returns the references in links. Other strings are not references.
    static func references(inBodyOf request: WireRequest) -> [String] {
        guard let body = try? JSONValue.parse(request.body) else { return [] }
        return references(in: body, isLink: false)
    }

    private static func references(in value: JSONValue, isLink: Bool) -> [String] {
        switch value {
        case .string(let text): isLink ? ContentIDReferences.id(of: text[...]).map { [$0] } ?? [] : []
        case .array(let items): items.flatMap { references(in: $0, isLink: isLink) }
        case .object(let object):
            object.members.flatMap {
                references(in: $0.value, isLink: $0.name.hasSuffix("@odata.bind") || $0.name.hasSuffix("@odata.id"))
            }
        default: []
        }
    }
}
