internal import EDM
internal import ODataQuery
internal import ODataWire

extension Sandbox {
    /// Handles `$batch` as JSON (OData JSON Format 4.01, section 19).
    ///
    /// Requests are executed in order and atomicity groups atomically. Requests that depend on a failed one, or whose
    /// condition is false, get the response 424.
    mutating func jsonBatch(_ request: WireRequest, _ view: ServiceView) throws(SandboxError) -> WireResponse {
        guard request.headers["OData-Version"] == "4.01" else {
            throw SandboxError(400, .invalidBatch, "A batch in JSON must have the header OData-Version: 4.01.")
        }
        let batch = try JSONBatch(request.body)
        let continues = Preferences(request).continuesOnError
        var progress = JSONBatchProgress()
        for part in batch.parts {
            if activeFaults?.isCut == true { break }
            if let obstacle = try progress.obstacle(to: part, view) {
                for item in part.items { progress.add(item, view.response(to: obstacle), view) }
                progress.failed.formUnion(part.names)
            } else if continues || progress.failed.isEmpty || part.hasConditions {
                perform(part, &progress, view)
            }
        }
        let distortions = activeFaults?.distortions ?? []
        if !distortions.isDisjoint(with: [.reversed, .reversedParts]) { progress.answers.reverse() }
        var body = progress.write()
        if distortions.contains(.unclosed) { body.removeLast() }
        var response = view.response(200, ["Content-Type": "application/json"], body: body)
        response.headers["OData-Version"] = "4.01"
        return response
    }

    private mutating func perform(
        _ part: JSONBatch.RequestGroup, _ progress: inout JSONBatchProgress, _ view: ServiceView
    ) {
        let items = part.items.map { progress.resolve($0, view) }
        guard part.group != nil else {
            for item in items {
                let response = single(item.request, view)
                if !response.isSuccess { progress.failed.insert(item.id) }
                progress.add(item, response, view)
            }
            return
        }
        do throws(ChangeSetFailure) {
            let members = items.map { BatchPart.Member(contentID: $0.id, request: $0.request) }
            for (item, answer) in zip(items, try changeSet(members, view)) { progress.add(item, answer.response, view) }
        } catch {
            for item in items {
                let isCulprit = error.contentID == nil || error.contentID == item.id
                let other = SandboxError(424, .failedDependency, "Another request of its group failed.")
                progress.add(item, view.response(to: isCulprit ? error.error : other), view)
            }
            progress.failed.formUnion(part.names)
        }
    }
}

/// The results of the requests of a JSON batch so far.
private struct JSONBatchProgress {
    /// The failed requests and groups.
    var failed: Set<String> = []
    /// The URLs of the entities that requests of earlier parts have created, relative to the service root.
    private var places: [String: String] = [:]
    private var etags = ETagReferences()
    var answers: [(item: JSONBatch.Item, response: WireResponse)] = []

    mutating func add(_ item: JSONBatch.Item, _ response: WireResponse, _ view: ServiceView) {
        answers.append((item, response))
        guard response.isSuccess else { return }
        etags.add(response, to: item.id)
        let location = response.headers["Location"] ?? item.request.url
        places[item.id] = String(location.hasPrefix(view.root) ? location.dropFirst(view.root.count) : location[...])
    }

    /// Replaces `$<id>` of an earlier part with the entity's URL. The transaction resolves references within the group.
    func resolve(_ item: JSONBatch.Item, _ view: ServiceView) -> JSONBatch.Item {
        var item = item
        if view.capabilities.etagReferences { item.request = etags.resolved(item.request) }
        if let id = ContentIDReferences.id(of: item.request.url[...]), let place = places[id] {
            item.request.url = place + item.request.url.dropFirst(id.utf8.count + 1)
        }
        for id in JSONBatch.references(inBodyOf: item.request) {
            guard let place = places[id] else { continue }
            for end in ["\"", "/"] {
                item.request.body.replace(Array("\"$\(id)\(end)".utf8), with: Array("\"\(place)\(end)".utf8))
            }
        }
        return item
    }

    /// Returns the error of a part that must not be executed: one of its requests depends on a request that failed, or
    /// has a condition that is not true.
    func obstacle(to part: JSONBatch.RequestGroup, _ view: ServiceView) throws(SandboxError) -> SandboxError? {
        for item in part.items {
            guard let condition = item.condition else {
                guard item.dependsOn.contains(where: { failed.contains($0) && !part.names.contains($0) }) else {
                    continue
                }
                return SandboxError(424, .failedDependency, "The request depends on a request that failed.")
            }
            guard view.capabilities.requestConditions else {
                return SandboxError(424, .failedDependency, "The service does not support “if”.")
            }
            let responses = answers.map { RequestCondition.Answer(name: $0.item.id, response: $0.response) }
            guard try condition.isTrue(responses, failed: failed, view.version) else {
                return SandboxError(424, .failedDependency, "The condition “\(condition.text)” is not true.")
            }
        }
        return nil
    }

    func write() -> [UInt8] {
        var output = JSONWriter()
        output.beginObject()
        output.name("responses")
        output.beginArray()
        for (item, response) in answers {
            output.beginObject()
            output.name("id")
            output.string(item.id)
            if let group = item.group {
                output.name("atomicityGroup")
                output.string(group)
            }
            output.name("status")
            output.integer(Int64(response.status))
            output.name("headers")
            output.beginObject()
            for field in response.headers.fields {
                output.name(field.name.lowercased())
                output.string(field.value)
            }
            output.endObject()
            if !response.body.isEmpty {
                output.name("body")
                write(response, to: &output)
            }
            output.endObject()
        }
        output.endArray()
        output.endObject()
        return output.bytes
    }

    private func write(_ response: WireResponse, to output: inout JSONWriter) {
        let text = String(decoding: response.body, as: UTF8.self)
        let type = response.headers["Content-Type"] ?? ""
        if type.hasPrefix("application/json") {
            output.raw(text)
        } else if type.hasPrefix("text/") {
            output.string(text)
        } else {
            output.string(Base64.encode(response.body, .urlSafe))
        }
    }
}
