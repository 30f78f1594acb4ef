import EDM
import ODataQuery
import OfflineStore
import Operations

/// Formats a record as one line for display.
struct RecordSummary {
    let sets: EntitySets

    /// The largest number of list items in a line. Further ones are counted.
    private static let shownProperties = 8
    private static let shownEntities = 4
    static let shownCharacters = 48

    func text(of body: Record.Body) -> String {
        switch body {
        case .serviceInstalled(let service):
            "service \(Self.oneLine(service.root)) installed, metadata of \(service.metadata.count) bytes"
        case .operation(let operation): text(of: operation)
        case .definingQueryAdded(let query):
            "query \(Self.oneLine(query.name)) added: \(Self.oneLine(query.query, limit: 200))"
        case .definingQueryRemoved(let name): "query \(Self.oneLine(name)) removed"
        case .downloadStarted(let queries): "download started: \(list(queries.map(Self.text(of:))))"
        case .downloadPage(let page): text(of: page)
        case .downloadFinished(let finished):
            "download of \(Self.oneLine(finished.query)) finished"
                + (finished.deltaLink == nil ? "" : ", with a delta link")
        case .linksLeftOpen(let links):
            "\(count(links.count, "link")) without their entity: \(list(links.map { Self.oneLine($0.description, limit: 200) }))"
        case .entitiesQuarantined(let entities):
            "\(count(entities.count, "entity")) quarantined: \(list(entities.map { Self.oneLine($0.description, limit: 200) }))"
        case .entitiesRead(let images):
            "\(count(images.count, "entity")) read: \(list(images.map { Self.oneLine(sets.reference($0.entity)) }))"
        case .batchPrepared(let prepared): text(of: prepared)
        case .batchAccepted(let accepted):
            "batch \(accepted.batch) accepted: status monitor at \(Self.oneLine(accepted.monitor, limit: 200))"
        case .batchAnswered(let answered): text(of: answered)
        case .batchInterrupted(let interrupted):
            "batch \(interrupted.batch) interrupted: \(Self.oneLine(interrupted.reason, limit: 200))"
        case .operationsReleased(let operations):
            "\(count(operations.count, "operation")) released to be sent again: \(list(operations.map(String.init)))"
        case .operationsUndone(let operations):
            "\(count(operations.count, "operation")) undone: \(list(operations.map(String.init)))"
        case .operationsRedone(let operations):
            "\(count(operations.count, "operation")) redone: \(list(operations.map(String.init)))"
        case .uploadPostponed(let postponed):
            "upload postponed until \(iso8601(postponed.notBefore) ?? "?"), attempt \(postponed.attempt): "
                + Self.oneLine(postponed.reason, limit: 200)
        case .operationsElided(let operations):
            "\(count(operations.count, "operation")) cancelled out: \(list(operations.map(String.init)))"
        case .clientChangesKept(let operations):
            "\(count(operations.count, "client-only change")) kept: \(list(operations.map(String.init)))"
        case .deliveryChanged(let operations, let delivery):
            "\(count(operations.count, "operation")) now \(Self.text(of: delivery)): \(list(operations.map(String.init)))"
        case .conflictResolved(let resolved): text(of: resolved)
        case .entitiesMissing(let entities):
            "\(count(entities.count, "entity")) not at the service: \(list(entities.map { Self.oneLine(sets.reference($0)) }))"
        case .operationsIncompatible(let incompatible):
            "\(count(incompatible.count, "operation")) incompatible with the new metadata: "
                + list(incompatible.map { "\($0.operation) (\(Self.oneLine($0.refusal.message, limit: 200)))" })
        case .operationsAmended(let amended):
            list(amended.map { "operation \($0.operation) amended: \(text(of: $0.content))" }, separator: "; ")
        case .streamsStored(let images): list(images.map(text))
        case .lost: "a lost record"
        case .unknown(let kind, let payload):
            "a record of kind \(kind), which this version does not support: \(payload.count) bytes"
        }
    }

    // MARK: Downloads

    private static func text(of start: QueryStart) -> String {
        let name = oneLine(start.query)
        return switch start.mode {
        case .full: name
        case .delta: "\(name) (changes)"
        case .resumed: "\(name) (resumed)"
        case .restarted: "\(name) (again from the start)"
        }
    }

    private func text(of page: DownloadPage) -> String {
        var parts = [count(page.entities.count, "entity")]
        if !page.unchanged.isEmpty { parts.append("\(page.unchanged.count) unchanged") }
        if !page.removed.isEmpty { parts.append("\(page.removed.count) removed") }
        if !page.left.isEmpty { parts.append("\(page.left.count) left the query") }
        if !page.links.isEmpty { parts.append(count(page.links.count, "link")) }
        return "page of \(Self.oneLine(page.query)): \(parts.joined(separator: ", "))"
    }

    // MARK: Operations

    private func text(of operation: Operation) -> String {
        var parts = operation.call.map { self.parts(of: $0, effect: operation) } ?? self.parts(of: operation.action)
        if let first = operation.changeSet { parts.append("change set \(first)") }
        if let transaction = operation.transactionID { parts.append("transaction '\(Self.oneLine(transaction))'") }
        if let tag = operation.customTag { parts.append("tag '\(Self.oneLine(tag))'") }
        switch operation.uploadCategory {
        case .named(let name): parts.append("category '\(Self.oneLine(name))'")
        case .entity(let entity): parts.append("category \(reference(entity))")
        case nil: break
        }
        if let stream = operation.stream {
            parts.append(text(of: stream.content, of: stream.property, without: "deleted"))
        }
        if operation.isUnmodifiable { parts.append("unmodifiable") }
        if operation.delivery != .queued { parts.append(Self.text(of: operation.delivery)) }
        return parts.joined(separator: " · ")
    }

    private func text(of image: StreamImage) -> String {
        let content = text(of: image.content, of: image.property, without: "not in the store")
        guard let reported = image.reported else { return "\(reference(image.entity)) \(content)" }
        // The query of a URL may contain a secret of the service.
        func address(_ link: String) -> String { Self.oneLine(String(link.prefix { $0 != "?" }), limit: 200) }
        var parts: [String] = []
        if let link = reported.readLink { parts.append("read at \(address(link))") }
        if let link = reported.editLink { parts.append("written at \(address(link))") }
        if let etag = reported.etag { parts.append("ETag \(Self.oneLine(etag))") }
        let said =
            parts.isEmpty
            ? "the service returned neither links nor an ETag"
            : "the service returned: " + parts.joined(separator: ", ")
        return "\(reference(image.entity)) \(content); \(said)"
    }

    private func text(of content: StreamContent?, of property: String?, without: String) -> String {
        let name = property.map { "stream \(Self.oneLine($0))" } ?? "media stream"
        guard let content else { return "\(name) \(without)" }
        return "\(name): \(content.byteCount) bytes of \(Self.oneLine(content.mediaType))"
    }

    private static func text(of delivery: Delivery) -> String {
        switch delivery {
        case .queued: "queued"
        case .draft: "draft"
        case .localOnly: "local only"
        }
    }

    /// Returns the call, its arguments, and its declared effect.
    private func parts(of call: ActionCall, effect operation: Operation) -> [String] {
        let place: String
        switch call.binding {
        case .entity(let entity): place = " on \(reference(entity))"
        case .property(let name, of: let entity): place = " on \(reference(entity))/\(Self.oneLine(name))"
        case .set(let name, _): place = " on \(Self.oneLine(name))"
        case nil: place = ""
        }
        var parts = ["call \(Self.oneLine(call.name))\(place)"]
        for argument in call.arguments {
            let text: String
            switch argument.content {
            case .value(let value): text = Self.text(of: value)
            case .entity(let entity): text = self.text(of: entity)
            case .entities(let entities): text = entities.map { self.text(of: $0) }.joined(separator: ", ")
            }
            parts.append("\(Self.oneLine(argument.name))=\(text)")
        }
        switch operation.action {
        case .update(_, let changes, let bindings) where changes.isEmpty && bindings.isEmpty: break
        default: parts += ["declared effect: " + self.parts(of: operation.action).joined(separator: " · ")]
        }
        return parts
    }

    private func text(of entity: ActionCall.Entity) -> String {
        switch entity {
        case .reference(let id): reference(id)
        case .content(let type, _): "a new \(Self.oneLine(type))"
        }
    }

    private func parts(of action: Operation.Action) -> [String] {
        switch action {
        case .create(let creation, let parent):
            let place = parent.map { " in \(reference($0.entity))/\(Self.oneLine($0.navigation))" } ?? ""
            return ["create \(reference(creation.entity))\(place)\(properties(creation.values))"]
                + bindings(creation.bindings) + inline(creation.inline)
        case .update(let entity, let changes, let bound):
            return ["update \(reference(entity))\(properties(changes))"] + bindings(bound)
        case .delete(let entity): return ["delete \(reference(entity))"]
        case .createLink(let link): return ["link \(text(of: link))"]
        case .updateLink(let link): return ["relink \(text(of: link))"]
        case .deleteLink(let link): return ["unlink \(text(of: link))"]
        }
    }

    private func text(of link: Link) -> String {
        "\(reference(link.from))/\(Self.oneLine(link.navigation)) → \(reference(link.to))"
    }

    private func bindings(_ bindings: [Binding]) -> [String] {
        bindings.map { "bind \(Self.oneLine($0.navigation)) → \(list($0.targets.map(reference)))" }
    }

    /// Formats a deep insert: one level in full, deeper levels as a count.
    private func inline(_ inline: [Creation.Inline]) -> [String] {
        inline.map { inline in
            let shown = inline.entities.map { creation in
                let below = creation.createdEntities.count - 1
                return reference(creation.entity) + properties(creation.values)
                    + (below > 0 ? " and \(below) below" : "")
            }
            return "with \(Self.oneLine(inline.navigation)): \(list(shown, separator: "; "))"
        }
    }

    private func reference(_ id: EntityID) -> String { Self.oneLine(sets.reference(id)) }

    private func properties(_ values: PropertyValues) -> String {
        guard !values.isEmpty else { return "" }
        let shown = values.prefix(Self.shownProperties).map { "\(Self.oneLine($0.name))=\(Self.text(of: $0.value))" }
        let more = values.count - shown.count
        return " " + shown.joined(separator: ", ") + (more > 0 ? ", … \(more) more" : "")
    }

    static func text(of value: Value, limit: Int = shownCharacters) -> String {
        switch value {
        case .binary(let bytes): "(\(bytes.count) bytes)"
        case .string(let text): "'\(oneLine(text, limit: limit))'"
        case .complex(let complex): "{…\(complex.properties.count)}"
        case .collection(let items): "[…\(items.count)]"
        case .raw(let json): oneLine(json, limit: limit)
        case .duration(let duration): duration.description
        default: oneLine(PrimitiveLiteral.format(value, version: .v4, form: .json))
        }
    }

    // MARK: Batches

    private func text(of prepared: BatchPrepared) -> String {
        let operations = count(prepared.operations.count, "operation")
        return "batch \(prepared.batch) prepared: \(operations) in \(count(prepared.changeSets.count, "change set"))"
            + (prepared.sent.isEmpty ? "" : ", repeatable")
    }

    private func text(of answered: BatchAnswered) -> String {
        var confirmed = 0
        var rejected = 0
        var deferred = 0
        var notProcessed = 0
        var inDoubt = 0
        var words: String?
        for outcome in answered.outcomes {
            switch outcome.result {
            case .confirmed: confirmed += 1
            case .rejected(let refusal):
                rejected += 1
                words = words ?? "\(refusal.status) \(Self.oneLine(refusal.message, limit: 100))"
            case .deferred(let refusal, _):
                deferred += 1
                words = words ?? "\(refusal.status) \(Self.oneLine(refusal.message, limit: 100))"
            case .notProcessed: notProcessed += 1
            case .inDoubt(let reason):
                inDoubt += 1
                words = words ?? DoubtReason.finding(in: reason).map { Self.oneLine($0, limit: 150) }
            }
        }
        let counts = [
            (confirmed, "confirmed"), (rejected, "rejected"), (deferred, "postponed"), (notProcessed, "not processed"),
            (inDoubt, "in doubt"),
        ]
        let text = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        return "batch \(answered.batch) answered: " + (text.isEmpty ? "nothing" : text)
            + (words.map { " (\($0))" } ?? "")
    }

    // MARK: Conflicts

    private func text(of resolved: ConflictResolved) -> String {
        let decision =
            switch resolved.decision {
            case .clientWins: "the client wins"
            case .serverWins: "the service wins"
            case .merged: "merged"
            case .app: "decided by a function of the app"
            case .call: "decided by a call"
            }
        var parts = ["conflict on \(reference(resolved.entity)) resolved: \(decision)"]
        for part in resolved.dropped {
            let names = (part.properties + part.navigations).map { Self.oneLine($0) }
            parts.append("operation \(part.operation) without \(list(names))")
        }
        if !resolved.takenBack.isEmpty { parts.append("undone: \(list(resolved.takenBack.map(String.init)))") }
        if !resolved.released.isEmpty { parts.append("sent again: \(list(resolved.released.map(String.init)))") }
        return parts.joined(separator: " · ")
    }

    // MARK: Words

    private func count(_ number: Int, _ noun: String) -> String {
        guard number != 1 else { return "1 \(noun)" }
        return noun.hasSuffix("y") ? "\(number) \(noun.dropLast())ies" : "\(number) \(noun)s"
    }

    private func list(_ items: [String], separator: String = ", ") -> String {
        let more = items.count - Self.shownEntities
        guard more > 0 else { return items.joined(separator: separator) }
        return items.prefix(Self.shownEntities).joined(separator: separator) + "\(separator)… \(more) more"
    }

    /// Returns the text with control characters escaped, truncated to `limit` characters.
    static func oneLine(_ text: String, limit: Int = shownCharacters) -> String {
        var result = ""
        var length = 0
        for scalar in text.unicodeScalars {
            guard length < limit else { return result + "…" }
            length += 1
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
