internal import EDM
internal import ODataWire

/// The requests of a batch in the JSON format (OData JSON Format 4.01, section 19.1).
struct JSONBatchRequests: Sendable {
    let batch: BatchRequest
    /// The names of the atomicity groups by part.
    let groups: [String?]
    private let items: [(part: Int, value: JSONObject)]
    private let document: JSONObject

    /// Reads a batch. BatchReadError has no public initializer, so an unreadable batch is reported by the reader of
    /// responses, which reads the same syntax.
    init(_ body: [UInt8], limits: GatewayLimits) throws(BatchReadError) {
        guard let document = (try? JSONValue.parse(body))?.object, let requests = document["requests"]?.array,
            requests.count <= limits.batchParts
        else { throw Self.unreadable(body) }
        self.document = document
        var parts: [BatchPart] = []
        var groups: [String?] = []
        var items: [(part: Int, value: JSONObject)] = []
        for value in requests {
            guard let object = value.object, let id = object["id"]?.string, let method = object["method"]?.string,
                let url = object["url"]?.string
            else { throw Self.unreadable(body) }
            var request = WireRequest(method: method.uppercased(), url: url)
            for member in object["headers"]?.object?.members ?? [] {
                request.headers.add(name: member.name, value: member.value.string ?? member.value.text)
            }
            if let content = object["body"], content != .null { request.body = Array(content.text.utf8) }
            let group = object["atomicityGroup"]?.string
            if let group, groups.last == group, case .changeSet(let members) = parts.last {
                parts[parts.count - 1] = .changeSet(members + [.init(contentID: id, request: request)])
            } else if group != nil {
                parts.append(.changeSet([.init(contentID: id, request: request)]))
                groups.append(group)
            } else {
                request.headers["Content-ID"] = id
                parts.append(.query(request))
                groups.append(nil)
            }
            items.append((parts.count - 1, object))
        }
        let ids = parts.flatMap(\.contentIDs)
        let named = groups.compactMap(\.self)
        guard Set(ids).count == ids.count, Set(named).count == named.count else { throw Self.unreadable(body) }
        batch = BatchRequest(parts: parts)
        self.groups = groups
        self.items = items
    }

    private static func unreadable(_ body: [UInt8]) -> BatchReadError {
        do throws(BatchReadError) {
            _ = try JSONBatchReader().readResponse(Array("{}".utf8))
        } catch {
            var error = error
            error.message = "It is not a JSON batch with unique ids and adjacent group members, or it is too large."
            return error
        }
        preconditionFailure("an empty object is not a response to a batch")
    }

    /// Returns the batch without some parts, or `nil` if a remaining request refers to one of them by a link.
    func remaining(without omitted: Set<Int>) -> [UInt8]? {
        let gone = Set(omitted.flatMap { batch.parts[$0].contentIDs } + omitted.compactMap { groups[$0] })
        var kept: [JSONValue] = []
        for item in items where !omitted.contains(item.part) {
            var object = item.value
            let url = object["url"]?.string ?? ""
            let text = object["body"]?.text ?? ""
            for id in gone
            where url.hasPrefix("$\(id)") || Array(text.utf8).contains(sequence: Array("\"$\(id)\"".utf8)) {
                return nil
            }
            for (index, member) in object.members.enumerated() where member.name == "dependsOn" {
                let left = (member.value.array ?? []).filter { !gone.contains($0.string ?? "") }
                object.members[index].value = .array(left)
            }
            kept.append(.object(object))
        }
        var whole = document
        for (index, member) in whole.members.enumerated() where member.name == "requests" {
            whole.members[index].value = .array(kept)
        }
        return Array(JSONValue.object(whole).text.utf8)
    }
}
