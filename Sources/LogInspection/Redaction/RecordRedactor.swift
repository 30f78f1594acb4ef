import EDM
import OperationLog
import Operations

/// Redacts the records of a log.
struct RecordRedactor {
    let redaction: Redaction
    private let urls: URLRedactor
    private let requests: RequestRedactor

    init(_ redaction: Redaction) {
        self.redaction = redaction
        urls = URLRedactor(redaction: redaction)
        requests = RequestRedactor(redaction: redaction, urls: urls)
    }

    /// Learns the sets and types of entities, which updates do not contain.
    func register(placesOf body: Record.Body) {
        switch body {
        case .downloadPage(let page): page.entities.forEach(register)
        case .entitiesRead(let images): images.forEach(register)
        case .batchAnswered(let answered):
            for outcome in answered.outcomes {
                if case .confirmed(let images) = outcome.result { images.forEach(register) }
            }
        default: break
        }
    }

    private func register(_ image: EntityImage) {
        redaction.register(image.entity, image.set, image.type)
    }

    /// Returns the record with everything replaced except names of the model. Times, entity IDs, sequence numbers,
    /// batch numbers, states and actions are kept.
    func record(_ record: Record) -> Record { Record(time: record.time, body: body(record.body)) }

    private func body(_ body: Record.Body) -> Record.Body {
        switch body {
        case .serviceInstalled(let service): return .serviceInstalled(self.service(service))
        case .operation(let operation): return .operation(self.operation(operation))
        case .definingQueryAdded(let query): return .definingQueryAdded(self.query(query))
        case .definingQueryRemoved(let query): return .definingQueryRemoved(name: queryName(query))
        case .downloadStarted(let starts):
            return .downloadStarted(starts.map { QueryStart(query: queryName($0.query), mode: $0.mode) })
        case .downloadPage(let page): return .downloadPage(self.page(page))
        case .downloadFinished(let finished):
            return .downloadFinished(
                DownloadFinished(query: queryName(finished.query), deltaLink: urls.url(finished.deltaLink)))
        case .linksLeftOpen(let links): return .linksLeftOpen(links.map(openLink))
        case .entitiesQuarantined(let entities): return .entitiesQuarantined(entities.map(quarantined))
        case .entitiesRead(let images): return .entitiesRead(images.map(image))
        case .streamsStored(let images): return .streamsStored(images.map(stream))
        case .conflictResolved(let resolved): return .conflictResolved(self.resolved(resolved))
        case .operationsIncompatible(let incompatible):
            return .operationsIncompatible(
                incompatible.map { IncompatibleOperation(operation: $0.operation, refusal: refusal($0.refusal)) })
        case .operationsAmended(let amended):
            return .operationsAmended(
                amended.map { AmendedOperation(operation: $0.operation, content: operation($0.content)) })
        case .batchPrepared, .batchAccepted, .batchAnswered, .batchInterrupted, .uploadPostponed:
            return upload(body)
        case .unknown(let kind, _): return .unknown(kind: kind, payload: [])
        case .operationsReleased, .operationsUndone, .operationsRedone, .deliveryChanged, .operationsElided,
            .clientChangesKept,
            .entitiesMissing, .lost:
            return body
        }
    }

    private func upload(_ body: Record.Body) -> Record.Body {
        switch body {
        case .batchPrepared(let prepared): return .batchPrepared(self.prepared(prepared))
        case .batchAccepted(let accepted):
            return .batchAccepted(BatchAccepted(batch: accepted.batch, monitor: monitor(accepted.monitor)))
        case .batchAnswered(let answered):
            return .batchAnswered(
                BatchAnswered(
                    batch: answered.batch,
                    outcomes: answered.outcomes.map { .init(operation: $0.operation, result: result($0.result)) }))
        case .batchInterrupted(let interrupted):
            return .batchInterrupted(
                BatchInterrupted(batch: interrupted.batch, reason: redaction.opaque(interrupted.reason)))
        case .uploadPostponed(let postponed): return .uploadPostponed(self.postponed(postponed))
        default: return body
        }
    }

    // MARK: Service and queries

    func service(_ service: ServiceDescription) -> ServiceDescription {
        if let model = try? CSDLReader.read(service.metadata) { redaction.register(model) }
        redaction.roots.insert(service.root)
        return ServiceDescription(root: Redaction.root, metadata: MetadataScrubbing.scrubbed(service.metadata))
    }

    func queryName(_ name: String) -> String { redaction.opaque(name, "query") }

    func query(_ query: DefiningQuery) -> DefiningQuery {
        DefiningQuery(
            name: queryName(query.name), query: urls.url(query.query),
            automaticallyRetrievesStreams: query.automaticallyRetrievesStreams)
    }

    func openLink(_ link: OpenLink) -> OpenLink {
        OpenLink(
            query: queryName(link.query), set: redaction.name(link.set), source: urls.url(link.source),
            navigation: redaction.name(link.navigation),
            target: urls.url(link.target))
    }

    /// Redacts a quarantined entity. Its message and value may contain any data of the service.
    func quarantined(_ entity: QuarantinedEntity) -> QuarantinedEntity {
        QuarantinedEntity(
            query: queryName(entity.query), set: redaction.name(entity.set), name: urls.url(entity.name),
            entity: entity.entity,
            reason: entity.reason, path: redaction.opaque(entity.path), message: redaction.opaque(entity.message),
            text: redaction.opaque(entity.text), hidesOthers: entity.hidesOthers, count: entity.count)
    }

    private func page(_ page: DownloadPage) -> DownloadPage {
        DownloadPage(
            query: queryName(page.query), entities: page.entities.map(image), unchanged: page.unchanged,
            removed: page.removed, left: page.left,
            links: page.links.map {
                .init(
                    source: $0.source, navigation: redaction.name($0.navigation), target: $0.target, isAdded: $0.isAdded
                )
            }, next: urls.url(page.next))
    }

    // MARK: Entities

    func image(_ image: EntityImage) -> EntityImage {
        EntityImage(
            entity: image.entity, set: redaction.name(image.set), type: redaction.name(image.type),
            values: redaction.values(image.values, type: image.type, set: image.set), etag: redaction.etag(image.etag),
            editLink: urls.url(image.editLink),
            links: image.links.map {
                .init(navigation: redaction.name($0.navigation), targets: $0.targets, isComplete: $0.isComplete)
            })
    }

    func stream(_ image: StreamImage) -> StreamImage {
        StreamImage(
            entity: image.entity, property: image.property.map(redaction.name), content: image.content.map(content),
            etag: redaction.etag(image.etag),
            reported: image.reported.map {
                .init(readLink: urls.url($0.readLink), editLink: urls.url($0.editLink), etag: redaction.etag($0.etag))
            })
    }

    /// Redacts stream content. The digest becomes a number, which preserves equality; the content itself is not
    /// included.
    private func content(_ content: StreamContent) -> StreamContent {
        var bytes = [UInt8](repeating: 0, count: StreamDigest.length)
        let number = redaction.number(of: content.digest.description, "digest")
        for index in 0..<8 { bytes[StreamDigest.length - 1 - index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        return StreamContent(
            digest: StreamDigest(bytes) ?? content.digest,
            byteCount: UInt64(redaction.number(of: String(content.byteCount), "size")),
            mediaType: requests.mediaType(content.mediaType),
            name: redaction.opaque(content.name))
    }

    // MARK: Operations

    func operation(_ operation: Operation) -> Operation {
        Operation(
            action(operation.action), changeSet: operation.changeSet,
            transactionID: redaction.opaque(operation.transactionID, "transaction"),
            baseETag: redaction.etag(operation.baseETag),
            customTag: redaction.opaque(operation.customTag, "tag"), headers: operation.headers.map(requests.header),
            headerTemplates: operation.headerTemplates.map { template in
                HeaderTemplate(
                    name: requests.header(.init(name: template.name, value: "")).name,
                    parts: template.parts.map { part in
                        switch part {
                        case .text(let text): .text(redaction.opaque(text))
                        case .key(let entity, let property): .key(entity, property: redaction.name(property))
                        }
                    })
            }, isUnmodifiable: operation.isUnmodifiable,
            uploadCategory: operation.uploadCategory.map {
                if case .named(let title) = $0 { .named(redaction.opaque(title, "category")) } else { $0 }
            }, delivery: operation.delivery,
            stream: operation.stream.map {
                StreamWrite(property: $0.property.map(redaction.name), content: $0.content.map(content))
            }, call: operation.call.map(call))
    }

    /// Redacts the names and values of a call.
    private func call(_ call: ActionCall) -> ActionCall {
        func entity(_ entity: ActionCall.Entity) -> ActionCall.Entity {
            switch entity {
            case .reference: entity
            case .content(let type, let given):
                .content(type: redaction.name(type), redaction.values(given, type: type, set: ""))
            }
        }
        var redacted = ActionCall(redaction.name(call.name), answer: call.answer)
        redacted.binding =
            switch call.binding {
            case .property(let property, of: let id): .property(redaction.name(property), of: id)
            case .set(let set, let type): .set(redaction.name(set), type: type.map(redaction.name))
            case .entity, nil: call.binding
            }
        redacted.arguments = call.arguments.map { argument in
            let content: ActionCall.ArgumentValue
            switch argument.content {
            case .value(let value):
                content = .value(redaction.value(value, nil, path: argument.name))
            case .entity(let given): content = .entity(entity(given))
            case .entities(let given): content = .entities(given.map(entity))
            }
            return ActionCall.Argument(redaction.name(argument.name), content)
        }
        return redacted
    }

    private func action(_ action: Operation.Action) -> Operation.Action {
        switch action {
        case .create(let creation, let parent):
            return .create(
                self.creation(creation, depth: 0),
                parent: parent.map { Parent(entity: $0.entity, navigation: redaction.name($0.navigation)) })
        case .update(let entity, let changes, let bindings):
            let (set, type) = redaction.places[entity] ?? ("", "")
            return .update(
                entity, changes: redaction.values(changes, type: type, set: set), bindings: bindings.map(binding))
        case .delete: return action
        case .createLink(let link): return .createLink(self.link(link))
        case .updateLink(let link): return .updateLink(self.link(link))
        case .deleteLink(let link): return .deleteLink(self.link(link))
        }
    }

    private func creation(_ creation: Creation, depth: Int) -> Creation {
        redaction.register(creation.entity, creation.set, creation.type)
        return Creation(
            entity: creation.entity, set: redaction.name(creation.set), type: redaction.name(creation.type),
            values: redaction.values(creation.values, type: creation.type, set: creation.set),
            bindings: creation.bindings.map(binding),
            // No deeper than the codec supports.
            inline: depth > 64
                ? []
                : creation.inline.map { inline in
                    .init(
                        navigation: redaction.name(inline.navigation),
                        entities: inline.entities.map { self.creation($0, depth: depth + 1) })
                })
    }

    private func binding(_ binding: Binding) -> Binding {
        Binding(navigation: redaction.name(binding.navigation), targets: binding.targets)
    }

    private func link(_ link: Link) -> Link {
        Link(from: link.from, navigation: redaction.name(link.navigation), to: link.to)
    }

    private func resolved(_ resolved: ConflictResolved) -> ConflictResolved {
        var resolved = resolved
        resolved.dropped = resolved.dropped.map {
            .init(
                operation: $0.operation, properties: $0.properties.map(redaction.name),
                navigations: $0.navigations.map(redaction.name))
        }
        return resolved
    }

    // MARK: Batches

    func prepared(_ prepared: BatchPrepared) -> BatchPrepared {
        var redacted = BatchPrepared(
            batch: prepared.batch,
            changeSets: prepared.changeSets.map {
                $0.map {
                    .init(
                        contentID: contentID($0.contentID), operation: $0.operation, effect: $0.effect,
                        creates: $0.creates.map(newEntity),
                        references: .init(
                            contentIDInURL: $0.references.contentIDInURL.map(contentID),
                            hasContentIDInBody: $0.references.hasContentIDInBody, hasOthers: $0.references.hasOthers))
                }
            },
            sent: prepared.sent.map {
                $0.map { request in
                    .init(
                        contentID: contentID(request.contentID), method: request.method,
                        url: urls.url(request.url), headers: request.headers.map(requests.header),
                        body: requests.body(request.body))
                }
            })
        redacted.coalesces = prepared.coalesces
        return redacted
    }

    private func newEntity(_ new: NewEntity) -> NewEntity {
        NewEntity(
            new.id,
            below: new.below.map {
                .init(navigation: redaction.name($0.navigation), entities: $0.entities.map(newEntity))
            })
    }

    /// Returns the Content-ID if it is a small number, as the engine assigns.
    private func contentID(_ id: String) -> String {
        id.utf8.count < 7 && id.utf8.allSatisfy { (0x30...0x39).contains($0) }
            ? id : String(redaction.number(of: id, "content"))
    }

    /// Redacts a status monitor. Its URL reveals the host, and often the user.
    func monitor(_ monitor: String) -> String { Redaction.root + redaction.opaque(monitor, "monitor") }

    private func result(_ result: BatchAnswered.Result) -> BatchAnswered.Result {
        switch result {
        case .confirmed(let images): .confirmed(images: images.map(image))
        case .rejected(let refusal): .rejected(self.refusal(refusal))
        case .deferred(let refusal, let attempts): .deferred(self.refusal(refusal), attempts: attempts)
        case .notProcessed: result
        case .inDoubt(let reason): .inDoubt(redaction.opaque(reason))
        }
    }

    func refusal(_ refusal: Refusal) -> Refusal {
        Refusal(
            status: refusal.status, code: refusal.isOfModel ? refusal.code : redaction.opaque(refusal.code, "code"),
            message: redaction.opaque(refusal.message),
            innerError: refusal.innerError.map { "\"" + redaction.opaque($0) + "\"" },
            method: refusal.method, url: urls.url(refusal.url),
            requestBody: refusal.requestBody.map { requests.body($0) })
    }

    func postponed(_ postponed: UploadPostponed) -> UploadPostponed {
        UploadPostponed(
            notBefore: postponed.notBefore, attempt: postponed.attempt, reason: redaction.opaque(postponed.reason))
    }
}
