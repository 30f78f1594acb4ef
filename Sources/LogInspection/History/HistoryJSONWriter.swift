import EDM
import ODataQuery
import Operations

/// Writes the members of ``HistoryItem/json(outcomes:)``.
struct HistoryJSONWriter: JSONMemberWriter {
    var json = JSONWriter()

    // MARK: Entries

    mutating func entry(
        _ entry: HistoryEntry, outcome: OperationOutcome?, edges: [OperationDependences.Edge]? = nil,
        isCarried: Bool = false
    ) {
        object {
            $0.members(of: entry, outcome: outcome)
            if let edges, entry.operation != nil { $0.dependences(edges, carriedBy: outcome?.batch) }
            if isCarried {
                $0.json.name("carried")
                $0.json.boolean(true)
            }
        }
    }

    mutating func members(of entry: HistoryEntry, outcome: OperationOutcome?) {
        number("sequence", entry.sequence)
        if let time = entry.timeText { text("time", time) } else { null("time") }
        text("kind", entry.kind)
        text("summary", entry.summary)
        ids("entities", entry.entities)
        body(entry.record.body)
        text("fate", outcome?.name)
    }

    private mutating func dependences(_ edges: [OperationDependences.Edge], carriedBy batch: BatchID?) {
        objects("dependsOn", edges) { writer, edge in
            writer.number("operation", edge.operation)
            writer.text("because", edge.reason.rawValue)
            if let entity = edge.entity { writer.number("entity", entity.rawValue) }
        }
        if let batch { number("batch", batch) }
    }

    private mutating func body(_ body: Record.Body) {
        switch body {
        case .serviceInstalled(let service):
            text("root", service.root)
            number("metadataBytes", service.metadata.count)
        case .operation(let operation): self.operation(operation)
        case .definingQueryAdded(let query):
            text("name", query.name)
            text("query", query.query)
        case .definingQueryRemoved(let name): text("name", name)
        case .downloadStarted(let starts): self.starts(starts)
        case .downloadPage(let page): self.page(page)
        case .downloadFinished(let finished):
            text("query", finished.query)
            if finished.deltaLink != nil { flag("deltaLink") }
        case .operationsAmended(let amended): self.amended(amended)
        case .linksLeftOpen(let links): self.open(links)
        case .entitiesQuarantined(let entities): quarantined(entities)
        case .streamsStored(let images): streams(images)
        case .batchPrepared(let prepared): self.prepared(prepared)
        case .batchAccepted(let accepted):
            number("batch", accepted.batch)
            text("monitor", accepted.monitor)
        case .batchAnswered(let answered):
            number("batch", answered.batch)
            array("outcomes", answered.outcomes) { writer, outcome in writer.object { $0.outcome(outcome) } }
        case .batchInterrupted(let interrupted):
            number("batch", interrupted.batch)
            text("reason", interrupted.reason)
        case .operationsReleased(let operations), .operationsUndone(let operations), .operationsRedone(let operations),
            .operationsElided(let operations), .clientChangesKept(let operations):
            numbers("operations", operations)
        case .operationsIncompatible(let incompatible): self.incompatible(incompatible)
        case .uploadPostponed(let postponed): self.postponed(postponed)
        case .deliveryChanged(let operations, let delivery):
            numbers("operations", operations)
            text("delivery", "\(delivery)")
        case .conflictResolved(let resolved): self.resolved(resolved)
        case .entitiesRead, .entitiesMissing, .lost: break
        case .unknown(let kind, let payload):
            number("kindNumber", kind)
            number("bytes", payload.count)
        }
    }

    // MARK: Downloads

    private mutating func starts(_ starts: [QueryStart]) {
        array("queries", starts) { $0.json.string($1.query) }
        if starts.contains(where: { $0.mode != .full }) { array("modes", starts) { $0.json.string("\($1.mode)") } }
    }

    private mutating func page(_ page: DownloadPage) {
        text("query", page.query)
        if !page.unchanged.isEmpty { number("unchanged", page.unchanged.count) }
        if !page.removed.isEmpty { array("removed", page.removed) { $0.json.raw(String($1.rawValue)) } }
        if !page.left.isEmpty { array("left", page.left) { $0.json.raw(String($1.rawValue)) } }
        if !page.links.isEmpty { number("links", page.links.count) }
        if page.next != nil { flag("next") }
    }

    private mutating func open(_ links: [OpenLink]) {
        objects("links", links) { writer, link in
            writer.text("query", link.query)
            writer.text("set", link.set)
            writer.text("source", link.source)
            writer.text("navigation", link.navigation)
            writer.text("target", link.target)
        }
    }

    private mutating func quarantined(_ entities: [QuarantinedEntity]) {
        objects("entities", entities) { writer, entity in
            writer.text("query", entity.query)
            writer.text("set", entity.set)
            if let name = entity.name { writer.text("name", name) }
            if let id = entity.entity { writer.number("entity", id.rawValue) }
            writer.text("reason", "\(entity.reason)")
            writer.text("path", entity.path)
            writer.text("message", entity.message)
            writer.text("value", entity.text)
            writer.number("count", entity.count)
        }
    }

    private mutating func streams(_ images: [StreamImage]) {
        objects("streams", images) { writer, image in
            writer.number("entity", image.entity.rawValue)
            writer.stream(image.property, image.content)
            writer.text("etag", image.etag)
            if let reported = image.reported { writer.reported(reported) }
        }
    }

    // MARK: Uploads

    private mutating func prepared(_ prepared: BatchPrepared) {
        number("batch", prepared.batch)
        numbers("operations", prepared.operations)
        number("changeSets", prepared.changeSets.count)
        if let fingerprint = prepared.fingerprint { number("requestBytes", fingerprint.byteCount) }
        if !prepared.sent.isEmpty { repeatable(prepared.sent) }
    }

    private mutating func postponed(_ postponed: UploadPostponed) {
        text("notBefore", iso8601(postponed.notBefore))
        number("attempt", postponed.attempt)
        text("reason", postponed.reason)
    }

    /// Writes the requests without bodies, whose content is in the operations.
    private mutating func repeatable(_ changeSets: [[BatchPrepared.SentRequest]]) {
        objects("requests", changeSets.flatMap { $0 }) { writer, request in
            writer.text("contentID", request.contentID)
            writer.text("method", request.method)
            writer.text("url", request.url)
        }
    }

    private mutating func outcome(_ outcome: BatchAnswered.Outcome) {
        number("operation", outcome.operation)
        switch outcome.result {
        case .confirmed: text("result", "confirmed")
        case .rejected(let refusal):
            text("result", "rejected")
            self.refusal(refusal)
        case .deferred(let refusal, let attempts):
            text("result", "deferred")
            self.refusal(refusal)
            number("attempts", attempts)
        case .notProcessed: text("result", "notProcessed")
        case .inDoubt(let reason):
            text("result", "inDoubt")
            text("reason", reason)
        }
    }

    private mutating func refusal(_ refusal: Refusal) {
        number("status", refusal.status)
        text("code", refusal.code)
        text("message", refusal.message)
    }

    // MARK: Operations

    private mutating func operation(_ operation: Operation) {
        switch operation.action {
        case .create(let creation, let parent):
            text("action", "create")
            self.creation(creation)
            if let parent {
                number("in", parent.entity.rawValue)
                text("navigation", parent.navigation)
            }
        case .update(let entity, let changes, let bindings):
            text("action", "update")
            number("entity", entity.rawValue)
            values(changes)
            self.bindings(bindings)
        case .delete(let entity):
            text("action", "delete")
            number("entity", entity.rawValue)
        case .createLink(let link): self.link("createLink", link)
        case .updateLink(let link): self.link("updateLink", link)
        case .deleteLink(let link): self.link("deleteLink", link)
        }
        if let first = operation.changeSet { number("changeSet", first) }
        if let transaction = operation.transactionID { text("transactionID", transaction) }
        text("customTag", operation.customTag)
        text("baseETag", operation.baseETag)
        attributes(operation)
    }

    private mutating func amended(_ amended: [AmendedOperation]) {
        objects("operations", amended) { writer, amended in
            writer.number("operation", amended.operation)
            writer.operation(amended.content)
        }
    }

    private mutating func incompatible(_ incompatible: [IncompatibleOperation]) {
        objects("operations", incompatible) { writer, incompatible in
            writer.number("operation", incompatible.operation)
            writer.text("reason", incompatible.refusal.message)
        }
    }

    private mutating func resolved(_ resolved: ConflictResolved) {
        number("entity", resolved.entity.rawValue)
        text("decision", "\(resolved.decision)")
        objects("dropped", resolved.dropped) { writer, part in
            writer.number("operation", part.operation)
            writer.array("properties", part.properties) { $0.json.string($1) }
            writer.array("navigations", part.navigations) { $0.json.string($1) }
        }
        numbers("takenBack", resolved.takenBack)
        numbers("released", resolved.released)
    }

    private mutating func stream(_ property: String?, _ content: StreamContent?) {
        text("property", property)
        guard let content else { return }
        text("digest", content.digest.description)
        number("bytes", content.byteCount)
        text("mediaType", content.mediaType)
        text("name", content.name)
    }

    /// Writes URLs without their queries, which may contain a secret of the service.
    private mutating func reported(_ reported: StreamImage.ReportedMetadata) {
        json.name("told")
        object {
            $0.text("readLink", reported.readLink.map { String($0.prefix { $0 != "?" }) })
            $0.text("editLink", reported.editLink.map { String($0.prefix { $0 != "?" }) })
            $0.text("etag", reported.etag)
        }
    }

    private mutating func attributes(_ operation: Operation) {
        if let call = operation.call { self.call(call) }
        if let stream = operation.stream {
            json.name("stream")
            object { $0.stream(stream.property, stream.content) }
        }
        if operation.isUnmodifiable {
            json.name("unmodifiable")
            json.boolean(true)
        }
        switch operation.uploadCategory {
        case .named(let name): text("uploadCategory", name)
        case .entity(let entity): number("uploadCategory", entity.rawValue)
        case nil: break
        }
        if operation.delivery != .queued { text("delivery", "\(operation.delivery)") }
    }

    private mutating func creation(_ creation: Creation) {
        number("entity", creation.entity.rawValue)
        text("set", creation.set)
        text("type", creation.type)
        values(creation.values)
        bindings(creation.bindings)
        guard !creation.inline.isEmpty else { return }
        objects("inline", creation.inline) { writer, inline in
            writer.text("navigation", inline.navigation)
            writer.array("entities", inline.entities) { writer, child in writer.object { $0.creation(child) } }
        }
    }

    private mutating func link(_ action: String, _ link: Link) {
        text("action", action)
        number("from", link.from.rawValue)
        text("navigation", link.navigation)
        number("to", link.to.rawValue)
    }

    private mutating func bindings(_ bindings: [Binding]) {
        guard !bindings.isEmpty else { return }
        objects("bind", bindings) { writer, binding in
            writer.text("navigation", binding.navigation)
            writer.ids("to", binding.targets)
        }
    }

    // MARK: Values

    mutating func values(_ values: PropertyValues) {
        json.name("values")
        members(values)
    }

    private mutating func members(_ values: PropertyValues) {
        object {
            for (name, value) in values {
                $0.json.name(name)
                $0.value(value)
            }
        }
    }

    mutating func value(_ value: Value) {
        switch value {
        case .null: json.null()
        case .boolean(let flag): json.boolean(flag)
        case .integer(let number): json.integer(number)
        case .decimal(let number) where number.isFinite: json.raw(number.text)
        case .double(let number) where number.isFinite: json.raw(text(of: value))
        case .single(let number) where number.isFinite: json.raw(text(of: value))
        case .complex(let complex): members(complex.properties)
        case .collection(let items):
            json.beginArray()
            for item in items { self.value(item) }
            json.endArray()
        // The text is from disk, so it is written only if it is valid JSON.
        case .raw(let text):
            if let parsed = try? JSONValue.parse(Array(text.utf8)) { json.value(parsed) } else { json.string(text) }
        default: json.string(text(of: value))
        }
    }

    private func text(of value: Value) -> String { PrimitiveLiteral.format(value, version: .v4, form: .json) }
}
