import EDM
import Operations

extension RecordDetail {
    /// The record as one JSON object without line breaks. The form is a contract for other programs.
    ///
    /// It has the members of ``HistoryItem/json(outcomes:dependsOn:)``, and
    ///
    /// | member | holds |
    /// |---|---|
    /// | `kindNumber`, `payloadBytes` | the record's kind number in the log, and its encoded size |
    /// | `compactedBefore` | instead of these, the log's first record, if a compaction has removed this one and a snapshot has the operation |
    /// | `place` | `path`, `blockOffset`, `blockStoredBytes`, `blockRawBytes`, `blockFirst` and `blockLast` (sequence numbers), `packed` |
    /// | `images` | the entities in the record: `[{"entity", "set", "type", "values", "etag", "editLink", "links": [{"navigation", "to", "complete"}]}]` |
    /// | `changeSets` | of a prepared batch: `[[{"contentID", "operation"}]]` |
    /// | `headers` | of an operation: `[{"name", "value"}]` |
    /// | `exchanges` | `[{"batch", "operation", "prepared", "answered", "outcome", "status", "code", "message", "method", "url", "body", "built"}]`, see ``Exchange`` |
    /// | `built` | `{"comparison", "reason", "requests": [{"method", "url", "headers": [{"name", "value"}], "body"}]}`, see ``BuiltRequests``; `comparison` is `identical`, `different`, `unknown` or `unbuildable` with the `reason` |
    /// | `causes`, `effects` | `[{"sequence", "time", "kind", "summary"}]` |
    ///
    /// Members that do not apply are omitted.
    package var json: String {
        var writer = HistoryJSONWriter()
        writer.detail(self)
        return writer.json.text
    }
}

extension HistoryJSONWriter {
    fileprivate mutating func detail(_ detail: RecordDetail) {
        object {
            $0.members(of: detail.entry, outcome: detail.outcome)
            if let kind = detail.kindNumber { $0.number("kindNumber", kind) }
            if let bytes = detail.payloadBytes { $0.number("payloadBytes", bytes) }
            if let first = detail.compactedBefore { $0.number("compactedBefore", first) }
            if let place = detail.place { $0.place(place) }
            $0.everything(detail.entry.record.body)
            if !detail.exchanges.isEmpty {
                $0.array("exchanges", detail.exchanges) { writer, exchange in writer.object { $0.exchange(exchange) } }
            }
            $0.related("causes", detail.causes)
            $0.related("effects", detail.effects)
        }
    }

    private mutating func place(_ place: RecordDetail.DiskLocation) {
        json.name("place")
        object {
            $0.text("path", place.path)
            $0.number("blockOffset", place.blockOffset)
            $0.number("blockStoredBytes", place.blockStoredBytes)
            $0.number("blockRawBytes", place.blockRawBytes)
            $0.number("blockFirst", place.blockRecords.lowerBound)
            $0.number("blockLast", place.blockRecords.upperBound)
            if place.isPacked { $0.flag("packed") }
        }
    }

    mutating func exchange(_ exchange: Exchange) {
        number("batch", exchange.batch)
        number("operation", exchange.operation)
        if let prepared = exchange.prepared { number("prepared", prepared) }
        if let answered = exchange.answered { number("answered", answered) }
        text("time", exchange.answeredAt.flatMap(iso8601))
        text("outcome", exchange.outcome)
        if let status = exchange.status { number("status", status) }
        text("code", exchange.code)
        text("message", exchange.message)
        text("method", exchange.method)
        text("url", exchange.url)
        text("body", exchange.body.map { String(decoding: $0, as: UTF8.self) })
        guard let built = exchange.built else { return }
        json.name("built")
        object { $0.built(built) }
    }

    private mutating func built(_ built: BuiltRequests) {
        switch built.comparison {
        case .identical: text("comparison", "identical")
        case .different: text("comparison", "different")
        case .unknown: text("comparison", "unknown")
        case .unbuildable(let reason):
            text("comparison", "unbuildable")
            text("reason", reason)
        }
        guard !built.requests.isEmpty else { return }
        objects("requests", built.requests) { writer, request in
            writer.text("method", request.method)
            writer.text("url", request.url)
            writer.headers(request.headers)
            if !request.body.isEmpty { writer.text("body", String(decoding: request.body, as: UTF8.self)) }
        }
    }

    private mutating func headers(_ headers: [Operation.Header]) {
        objects("headers", headers) { writer, header in
            writer.text("name", header.name)
            writer.text("value", header.value)
        }
    }

    private mutating func related(_ name: String, _ related: [RecordDetail.Related]) {
        guard !related.isEmpty else { return }
        array(name, related) { writer, related in
            writer.object {
                $0.number("sequence", related.sequence)
                $0.text("time", related.time.flatMap(iso8601))
                $0.text("kind", related.kind)
                $0.text("summary", related.summary)
            }
        }
    }

    /// Writes the members that the short form omits.
    private mutating func everything(_ body: Record.Body) {
        switch body {
        case .operation(let operation) where !operation.headers.isEmpty: headers(operation.headers)
        case .downloadPage(let page): images(page.entities)
        case .entitiesRead(let images): self.images(images)
        case .batchPrepared(let prepared):
            array("changeSets", prepared.changeSets) { writer, requests in
                writer.json.beginArray()
                for request in requests {
                    writer.object {
                        $0.text("contentID", request.contentID)
                        $0.number("operation", request.operation)
                    }
                }
                writer.json.endArray()
            }
        case .batchAnswered(let answered):
            images(
                answered.outcomes.flatMap { outcome -> [EntityImage] in
                    if case .confirmed(let images) = outcome.result { images } else { [] }
                })
        default: break
        }
    }

    private mutating func images(_ images: [EntityImage]) {
        guard !images.isEmpty else { return }
        objects("images", images) { writer, image in
            writer.number("entity", image.entity.rawValue)
            writer.text("set", image.set)
            writer.text("type", image.type)
            writer.values(image.values)
            writer.text("etag", image.etag)
            writer.text("editLink", image.editLink)
            guard !image.links.isEmpty else { return }
            writer.objects("links", image.links) { writer, links in
                writer.text("navigation", links.navigation)
                writer.ids("to", links.targets)
                if links.isComplete { writer.flag("complete") }
            }
        }
    }
}
