internal import EDM
internal import ODataQuery
package import ODataWire

extension BatchUpload {
    /// Reads the response of the service.
    ///
    /// - Parameter omitted: The parts that were not sent.
    /// - Returns: `nil` if the response cannot be read.
    package func read(_ response: WireResponse, without omitted: Set<Int>) -> BatchAnswer? {
        let sent = batch.parts.indices.filter { !omitted.contains($0) }
        let request = BatchRequest(parts: sent.map { batch.parts[$0] })
        let contentType = response.headers["Content-Type"] ?? ""
        if contentType.lowercased().hasPrefix("application/json") {
            guard let answer = try? JSONBatchReader().readResponse(response.body) else { return nil }
            return BatchAnswer(
                sent, format == .json ? jsonOutcomes(answer, sent) : answer.outcomes(of: request))
        }
        let reader = MultipartBatchReader()
        guard let document = try? reader.document(response.body, contentType: contentType, dropsCutPart: true),
            let answer = try? reader.readResponse(document)
        else { return nil }
        return BatchAnswer(sent, BatchMatcher(request: request, response: answer).matches(), answer, document)
    }

    /// Matches responses by id and by the name of the group.
    private func jsonOutcomes(_ answer: JSONBatchResponse, _ sent: [Int]) -> [BatchPartOutcome] {
        var hasFailed = false
        return sent.map { part in
            let ids = batch.parts[part].contentIDs
            let found = answer.responses.filter { response in
                ids.contains(response.id)
                    || groups[part].map { response.id == $0 || response.atomicityGroup == $0 } ?? false
            }
            defer { if found.contains(where: { $0.response.status >= 400 }) { hasFailed = true } }
            switch batch.parts[part] {
            case .query:
                if let first = found.first, found.count == 1 { return .query(.answered(first.response)) }
                return .query(
                    hasFailed && found.isEmpty ? .notProcessed : .inDoubt("There is no response to the request."))
            case .changeSet:
                if found.isEmpty {
                    return .changeSet(hasFailed ? .notProcessed : .inDoubt("There is no response to the change set."))
                }
                let failures = found.filter { !$0.response.isSuccess }
                if let failure = failures.first(where: { $0.response.status != 424 }) ?? failures.first {
                    if hasFailed, failure.response.status == 424 { return .changeSet(.notProcessed) }
                    return .changeSet(.failed(failure.response, culprit: ids.contains(failure.id) ? failure.id : nil))
                }
                let ordered = ids.compactMap { id in found.first { $0.id == id }?.response }
                return .changeSet(
                    ordered.count == ids.count
                        ? .members(ordered) : .inDoubt("A response of the change set is missing."))
            }
        }
    }

    /// The response to one part.
    package enum PartAnswer: Sendable, Hashable {
        case unit(UnitOutcome)
        /// A response that stands for the whole part, with the header for repeatable requests or without.
        case single(WireResponse)
    }

    /// Writes the response to the batch. The parts are in the order of the request and end before the first part
    /// without a response.
    package func answer(_ parts: [Int: PartAnswer]) -> WireResponse? {
        var listed: [(Int, PartAnswer)] = []
        for index in batch.parts.indices {
            guard let part = parts[index] else { break }
            listed.append((index, part))
        }
        return format == .json ? jsonAnswer(listed) : multipartAnswer(listed)
    }

    private func multipartAnswer(_ parts: [(Int, PartAnswer)]) -> WireResponse? {
        let written = parts.map { index, answer -> BatchResponsePart in
            let ids = contentIDs(of: index)
            switch answer {
            case .single(let response): return .single(contentID: ids.count == 1 ? ids[0] : nil, response)
            case .unit(.failed(let response, let culprit)):
                // A request by itself is its own culprit.
                let culprit = if case .query = batch.parts[index] { 0 } else { culprit }
                return .single(contentID: culprit.flatMap { $0 < ids.count ? ids[$0] : nil }, response)
            case .unit(.members(let responses)):
                guard case .changeSet = batch.parts[index] else {
                    return responses.first.map { .single(contentID: ids.first ?? nil, $0) } ?? .changeSet([])
                }
                return .changeSet(
                    responses.enumerated().map { .init(contentID: $0 < ids.count ? ids[$0] : nil, response: $1) })
            }
        }
        let boundary = Self.boundary
        guard
            let body = try? MultipartBatchWriter().write(
                BatchResponse(parts: written), boundary: boundary, changeSetBoundary: { "\(boundary)_\($0 + 1)" })
        else { return nil }
        return WireResponse(
            status: 200, headers: ["Content-Type": MultipartBatchWriter.contentType(boundary: boundary)], body: body)
    }

    /// Returns the Content-IDs of the requests in a part, as far as they have some.
    package func contentIDs(of part: Int) -> [String?] {
        switch batch.parts[part] {
        case .changeSet(let members): members.map(\.contentID)
        case .query(let request): [request.headers["Content-ID"]]
        }
    }

    private func jsonAnswer(_ parts: [(Int, PartAnswer)]) -> WireResponse {
        var body = Array(#"{"responses":["#.utf8)
        var isFirst = true
        func add(_ id: String, _ group: String?, _ response: WireResponse) {
            if !isFirst { body.append(UInt8(ascii: ",")) }
            isFirst = false
            body += JSONResponseText.bytes(id: id, group: group, response)
        }
        for (index, answer) in parts {
            let ids = contentIDs(of: index).map { $0 ?? "" }
            let group = groups[index]
            switch answer {
            case .single(let response): add(group ?? ids.first ?? "", group, response)
            case .unit(.failed(let response, let culprit)):
                let id = culprit.flatMap { $0 < ids.count ? ids[$0] : nil } ?? group ?? ids.first ?? ""
                add(id, group, response)
            case .unit(.members(let responses)): for (id, response) in zip(ids, responses) { add(id, group, response) }
            }
        }
        body += Array("]}".utf8)
        return WireResponse(
            status: 200, headers: ["Content-Type": "application/json", "OData-Version": "4.01"], body: body)
    }
}

/// The text of one response in a JSON batch. A JSON body is inserted byte by byte.
private enum JSONResponseText {
    static func bytes(id: String, group: String?, _ response: WireResponse) -> [UInt8] {
        var members = ["\"id\":" + quoted(id)]
        if let group { members.append("\"atomicityGroup\":" + quoted(group)) }
        members.append("\"status\":\(response.status)")
        let headers = response.headers.fields.filter { !$0.name.equalsIgnoringCase("Content-Length") }
        if !headers.isEmpty {
            let fields = headers.map { quoted($0.name.lowercased()) + ":" + quoted($0.value) }
            members.append("\"headers\":{" + fields.joined(separator: ",") + "}")
        }
        var text = Array(("{" + members.joined(separator: ",")).utf8)
        if !response.body.isEmpty {
            text += Array(",\"body\":".utf8)
            text += body(response)
        }
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// Returns the body as the reader of a batch expects it: JSON as it is, also without a Content-Type, a text as a
    /// string, and other content as a string in base64url (OData JSON Format 4.01, section 19.2).
    private static func body(_ response: WireResponse) -> [UInt8] {
        let contentType = response.headers["Content-Type"] ?? "application/json"
        let mediaType = contentType.prefix { $0 != ";" && $0 != " " }.lowercased()
        if mediaType == "application/json" || mediaType.hasSuffix("+json") { return response.body }
        let isText = mediaType.hasPrefix("text/")
        let text = isText ? String(decoding: response.body, as: UTF8.self) : Base64.encode(response.body, .urlSafe)
        return Array(quoted(text).utf8)
    }

    private static func quoted(_ text: String) -> String { JSONValue.string(text).text }
}
