import EDM
import OperationLog
import Operations

extension Redaction {
    /// Returns the record with everything replaced except names of the model. Times, entity IDs, sequence numbers,
    /// batch numbers, states and actions are kept.
    func record(_ record: Record) -> Record { Record(time: record.time, body: body(record.body)) }

    private func body(_ body: Record.Body) -> Record.Body {
        switch body {
        case .serviceInstalled(let service): return .serviceInstalled(self.service(service))
        case .operation(let operation): return .operation(self.operation(operation))
        case .definingQueryAdded(let query): return .definingQueryAdded(self.query(query))
        case .definingQueryRemoved(let name): return .definingQueryRemoved(name: queryName(name))
        case .downloadStarted(let starts):
            return .downloadStarted(starts.map { QueryStart(query: queryName($0.query), mode: $0.mode) })
        case .downloadPage(let page): return .downloadPage(self.page(page))
        case .downloadFinished(let finished):
            return .downloadFinished(
                DownloadFinished(query: queryName(finished.query), deltaLink: url(finished.deltaLink)))
        case .linksLeftOpen(let links): return .linksLeftOpen(links.map(openLink))
        case .entitiesQuarantined(let entities): return .entitiesQuarantined(entities.map(quarantined))
        case .entitiesRead(let images): return .entitiesRead(images.map(image))
        case .streamsStored(let images): return .streamsStored(images.map(stream))
        case .conflictResolved(let resolved): return .conflictResolved(self.resolved(resolved))
        case .operationsUnfit(let unfit):
            return .operationsUnfit(
                unfit.map { UnfitOperation(operation: $0.operation, refusal: refusal($0.refusal)) })
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
                BatchInterrupted(batch: interrupted.batch, reason: opaque(interrupted.reason)))
        case .uploadPostponed(let postponed): return .uploadPostponed(self.postponed(postponed))
        default: return body
        }
    }

    // MARK: Service and queries

    func service(_ service: ServiceDescription) -> ServiceDescription {
        if let model = try? CSDLReader.read(service.metadata) { register(model) }
        roots.insert(service.root)
        return ServiceDescription(root: Self.root, metadata: MetadataScrubbing.scrubbed(service.metadata))
    }

    func queryName(_ name: String) -> String { opaque(name, "query") }

    func query(_ query: DefiningQuery) -> DefiningQuery {
        DefiningQuery(
            name: queryName(query.name), query: url(query.query),
            automaticallyRetrievesStreams: query.automaticallyRetrievesStreams)
    }

    func openLink(_ link: OpenLink) -> OpenLink {
        OpenLink(
            query: queryName(link.query), set: name(link.set), source: url(link.source),
            navigation: name(link.navigation),
            target: url(link.target))
    }

    /// Redacts a quarantined entity. Its message and value may contain any data of the service.
    func quarantined(_ entity: QuarantinedEntity) -> QuarantinedEntity {
        QuarantinedEntity(
            query: queryName(entity.query), set: name(entity.set), name: url(entity.name), entity: entity.entity,
            reason: entity.reason, path: opaque(entity.path), message: opaque(entity.message),
            text: opaque(entity.text), hidesOthers: entity.hidesOthers, count: entity.count)
    }

    private func page(_ page: DownloadPage) -> DownloadPage {
        DownloadPage(
            query: queryName(page.query), entities: page.entities.map(image), unchanged: page.unchanged,
            removed: page.removed, left: page.left,
            links: page.links.map {
                .init(source: $0.source, navigation: name($0.navigation), target: $0.target, isAdded: $0.isAdded)
            }, next: url(page.next))
    }

    // MARK: Entities

    func image(_ image: EntityImage) -> EntityImage {
        EntityImage(
            entity: image.entity, set: name(image.set), type: name(image.type),
            values: values(image.values, type: image.type, set: image.set), etag: etag(image.etag),
            editLink: url(image.editLink),
            links: image.links.map {
                .init(navigation: name($0.navigation), targets: $0.targets, isComplete: $0.isComplete)
            })
    }

    func stream(_ image: StreamImage) -> StreamImage {
        StreamImage(
            entity: image.entity, property: image.property.map(name), content: image.content.map(content),
            etag: etag(image.etag),
            told: image.told.map { .init(readLink: url($0.readLink), editLink: url($0.editLink), etag: etag($0.etag)) })
    }

    /// Redacts stream content. The digest becomes a number, which preserves equality; the content itself is not
    /// included.
    private func content(_ content: StreamContent) -> StreamContent {
        var bytes = [UInt8](repeating: 0, count: StreamDigest.length)
        let number = number(of: content.digest.description, "digest")
        for index in 0..<8 { bytes[StreamDigest.length - 1 - index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
        return StreamContent(
            digest: StreamDigest(bytes) ?? content.digest,
            byteCount: UInt64(self.number(of: String(content.byteCount), "size")),
            mediaType: mediaType(content.mediaType),
            name: opaque(content.name))
    }

    // MARK: Operations

    func operation(_ operation: Operation) -> Operation {
        Operation(
            action(operation.action), changeSet: operation.changeSet,
            transactionID: opaque(operation.transactionID, "transaction"), baseETag: etag(operation.baseETag),
            customTag: opaque(operation.customTag, "tag"), headers: operation.headers.map(header),
            headerTemplates: operation.headerTemplates.map { template in
                HeaderTemplate(
                    name: header(.init(name: template.name, value: "")).name,
                    parts: template.parts.map { part in
                        switch part {
                        case .text(let text): .text(opaque(text))
                        case .key(let entity, let property): .key(entity, property: name(property))
                        }
                    })
            }, isUnmodifiable: operation.isUnmodifiable,
            uploadCategory: operation.uploadCategory.map {
                if case .named(let name) = $0 { .named(opaque(name, "category")) } else { $0 }
            }, delivery: operation.delivery,
            stream: operation.stream.map {
                StreamWrite(property: $0.property.map(name), content: $0.content.map(content))
            }, call: operation.call.map(call))
    }

    /// Redacts the names and values of a call.
    private func call(_ call: ActionCall) -> ActionCall {
        func entity(_ entity: ActionCall.Entity) -> ActionCall.Entity {
            switch entity {
            case .reference: entity
            case .content(let type, let given):
                .content(type: name(type), values(given, type: type, set: ""))
            }
        }
        var redacted = ActionCall(name(call.name), answer: call.answer)
        redacted.binding =
            switch call.binding {
            case .property(let property, of: let id): .property(name(property), of: id)
            case .set(let set, let type): .set(name(set), type: type.map(name))
            case .entity, nil: call.binding
            }
        redacted.arguments = call.arguments.map { argument in
            let content: ActionCall.Content
            switch argument.content {
            case .value(let value):
                content = .value(self.value(value, nil, path: argument.name))
            case .entity(let given): content = .entity(entity(given))
            case .entities(let given): content = .entities(given.map(entity))
            }
            return ActionCall.Argument(name(argument.name), content)
        }
        return redacted
    }

    private func action(_ action: Operation.Action) -> Operation.Action {
        switch action {
        case .create(let creation, let parent):
            return .create(
                self.creation(creation, depth: 0),
                parent: parent.map { Parent(entity: $0.entity, navigation: name($0.navigation)) })
        case .update(let entity, let changes, let bindings):
            let (set, type) = places[entity] ?? ("", "")
            return .update(entity, changes: values(changes, type: type, set: set), bindings: bindings.map(binding))
        case .delete: return action
        case .createLink(let link): return .createLink(self.link(link))
        case .updateLink(let link): return .updateLink(self.link(link))
        case .deleteLink(let link): return .deleteLink(self.link(link))
        }
    }

    private func creation(_ creation: Creation, depth: Int) -> Creation {
        register(creation.entity, creation.set, creation.type)
        return Creation(
            entity: creation.entity, set: name(creation.set), type: name(creation.type),
            values: values(creation.values, type: creation.type, set: creation.set),
            bindings: creation.bindings.map(binding),
            // No deeper than the codec supports.
            inline: depth > 64
                ? []
                : creation.inline.map { inline in
                    .init(
                        navigation: name(inline.navigation),
                        entities: inline.entities.map { self.creation($0, depth: depth + 1) })
                })
    }

    private func binding(_ binding: Binding) -> Binding {
        Binding(navigation: name(binding.navigation), targets: binding.targets)
    }

    private func link(_ link: Link) -> Link { Link(from: link.from, navigation: name(link.navigation), to: link.to) }

    private func resolved(_ resolved: ConflictResolved) -> ConflictResolved {
        var resolved = resolved
        resolved.dropped = resolved.dropped.map {
            .init(
                operation: $0.operation, properties: $0.properties.map(name), navigations: $0.navigations.map(name))
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
                        url: url(request.url), headers: request.headers.map(header), body: body(request.body))
                }
            })
        redacted.coalesces = prepared.coalesces
        return redacted
    }

    private func newEntity(_ new: NewEntity) -> NewEntity {
        NewEntity(
            new.id,
            below: new.below.map { .init(navigation: name($0.navigation), entities: $0.entities.map(newEntity)) })
    }

    /// Returns the Content-ID if it is a small number, as the engine assigns.
    private func contentID(_ id: String) -> String {
        id.utf8.count < 7 && id.utf8.allSatisfy { (0x30...0x39).contains($0) } ? id : String(number(of: id, "content"))
    }

    /// Redacts a status monitor. Its URL reveals the host, and often the user.
    func monitor(_ monitor: String) -> String { Self.root + opaque(monitor, "monitor") }

    private func result(_ result: BatchAnswered.Result) -> BatchAnswered.Result {
        switch result {
        case .confirmed(let images): .confirmed(images: images.map(image))
        case .rejected(let refusal): .rejected(self.refusal(refusal))
        case .deferred(let refusal, let attempts): .deferred(self.refusal(refusal), attempts: attempts)
        case .notProcessed: result
        case .inDoubt(let reason): .inDoubt(opaque(reason))
        }
    }

    func refusal(_ refusal: Refusal) -> Refusal {
        Refusal(
            status: refusal.status, code: refusal.isOfModel ? refusal.code : opaque(refusal.code, "code"),
            message: opaque(refusal.message), innerError: refusal.innerError.map { "\"" + opaque($0) + "\"" },
            method: refusal.method, url: url(refusal.url), requestBody: refusal.requestBody.map { body($0) })
    }

    func postponed(_ postponed: UploadPostponed) -> UploadPostponed {
        UploadPostponed(notBefore: postponed.notBefore, attempt: postponed.attempt, reason: opaque(postponed.reason))
    }
}
