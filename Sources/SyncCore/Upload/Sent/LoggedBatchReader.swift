package import EDM
package import ODataWire
package import Operations

/// Reads sent batches from the log, so that a response is reconciled after a restart, or after a repetition, as it would
/// have been at once.
///
/// The record contains the effects of the requests and the entities that they create. The content of these entities is
/// that of the operations, which are still pending.
package struct LoggedBatchReader {
    private let storage: WorkingSet
    private let model: EntityDataModel

    package init(storage: WorkingSet, model: EntityDataModel) {
        self.storage = storage
        self.model = model
    }

    /// Returns the change sets at these positions.
    package func batch(_ prepared: BatchPrepared, _ places: some Sequence<Int>) throws(StateError) -> UploadedBatch {
        var batch = UploadedBatch(number: prepared.batch, changeSets: [])
        for place in places {
            let sent = place < prepared.sent.count ? prepared.sent[place] : []
            batch.changeSets.append(try changeSet(prepared.changeSets[place], sent))
        }
        return batch
    }

    private func changeSet(
        _ logged: [BatchPrepared.Request], _ sent: [BatchPrepared.SentRequest]
    ) throws(StateError) -> UploadedChangeSet {
        let requests = grouped(logged)
        let contents = try contents(of: requests)
        var changeSet = UploadedChangeSet(requests: [])
        for members in requests {
            let isAlone = requests.count { $0.contains { $0.operation == members[0].operation } } == 1
            var request = try request(members, isAlone: isAlone, contents)
            request.wire = sent.first { $0.contentID == request.contentID }?.request
            changeSet.requests.append(request)
        }
        return changeSet
    }

    /// Returns the elements of each request: its own, and those of the operations that it carries.
    private func grouped(_ logged: [BatchPrepared.Request]) -> [[BatchPrepared.Request]] {
        var requests: [[BatchPrepared.Request]] = []
        for element in logged {
            if requests.last?.first?.contentID == element.contentID {
                requests[requests.count - 1].append(element)
            } else {
                requests.append([element])
            }
        }
        return requests
    }

    /// Returns the content of the new entities of a change set: that of the creates, and of the operations that requests
    /// carry. Other operations have a request of their own.
    private func contents(of requests: [[BatchPrepared.Request]]) throws(StateError) -> SentContents {
        var carried: Set<SequenceNumber> = []
        for members in requests { carried.formUnion(members.dropFirst().map(\.operation)) }
        var operations: [Operation] = []
        for sequence in Set(requests.joined().map(\.operation)).sorted() {
            guard let operation = try storage.pendingOperation(sequence)?.operation else { continue }
            let isCreate = if case .create = operation.action { true } else { false }
            if isCreate || carried.contains(sequence) { operations.append(operation) }
        }
        return SentContents(operations, model)
    }

    /// Returns a request.
    ///
    /// - Parameter isAlone: Whether the operation has no other request. Only then the effect follows from the operation
    ///   if the record does not contain it. Otherwise the response is read as that to a link, which has no content.
    private func request(
        _ members: [BatchPrepared.Request], isAlone: Bool, _ contents: SentContents
    ) throws(StateError) -> UploadedRequest {
        var operations: [SequenceNumber: Operation] = [:]
        for member in members {
            if let pending = try storage.pendingOperation(member.operation) {
                operations[member.operation] = pending.operation
            }
        }
        let own = members[0]
        let derived = isAlone ? operations[own.operation].map { BatchPrepared.Effect($0) } : nil
        var request = UploadedRequest(
            contentID: own.contentID, operation: own.operation, carries: members.dropFirst().map(\.operation),
            effect: own.effect ?? derived ?? .link, creates: own.creates)
        if own.effect == nil, derived == .create {
            request.creates = operations[own.operation]?.createdEntities.first.map { NewEntity($0) }
        }
        request.ended = Set(members.map(\.operation)).subtracting(operations.keys)
        if let operation = operations[own.operation], let call = operation.call {
            request.called = operation.called
            let found = try EntityResolver(storage: storage, model: model).invocation(call, in: operation)
            if case .success(let invocation) = found { request.invocation = invocation }
        }
        request.references = own.references
        if request.effect == .create, let creates = request.creates { request.body = contents.body(of: creates) }
        return request
    }
}

/// The content of new entities, according to the operations of one change set.
private struct SentContents {
    private var creations: [EntityID: Creation] = [:]
    /// Links that other operations add to new entities.
    private var links: [EntityID: [Link]] = [:]
    private let model: EntityDataModel

    init(_ operations: [Operation], _ model: EntityDataModel) {
        self.model = model
        for operation in operations {
            switch operation.action {
            case .create(let creation, let parent):
                let owner = parent.flatMap { parent in
                    creations[parent.entity].flatMap { model.findEntityType($0.type) }?.findProperty(parent.navigation)
                }
                add(creation.withoutDecidedProperties(model, through: owner))
            case .update(let entity, let changes, let bindings):
                creations[entity]?.values.merge(changes)
                creations[entity]?.bindings += bindings
            case .createLink(let link), .updateLink(let link):
                links[link.from, default: []].append(link)
                links[link.to, default: []].append(link)
            case .delete, .deleteLink: break
            }
        }
    }

    private mutating func add(_ creation: Creation) {
        creations[creation.entity] = creation
        for level in creation.inline { for child in level.entities { add(child) } }
    }

    /// Returns the content of a new entity, or nil if no operation creates it.
    func body(of new: NewEntity) -> EntityBody? {
        guard let creation = creations[new.id], let type = model.findEntityType(creation.type) else { return nil }
        var body = EntityBody(type: type, values: creation.values)
        for binding in creation.bindings { bind(binding.navigation, binding.targets, &body) }
        for link in links[new.id] ?? [] { bind(link.navigation, [link.from, link.to], &body) }
        for level in new.below {
            guard let navigation = type.findProperty(level.navigation) else { continue }
            let declared = navigation.navigation.flatMap { model.findEntityType($0.targetType) } ?? type
            let children = level.entities.map { child in
                var body = self.body(of: child) ?? EntityBody(type: declared, values: [:])
                if navigation.isCollection { body.contentID = String(child.id.rawValue) }
                return body
            }
            body.inline.append(EntityBody.InlineEntities(navigation: navigation, entities: children))
        }
        return body
    }

    /// Adds a binding. It distinguishes entities with equal values; the form of its references does not matter.
    private func bind(_ name: String, _ targets: [EntityID], _ body: inout EntityBody) {
        guard let navigation = body.type.findProperty(name) ?? body.type.navigationProperties.first else { return }
        body.bindings.append(
            EntityBody.Binding(navigation: navigation, targets: targets.map { .url("\(name)/\($0.rawValue)") }))
    }
}

extension BatchPrepared.Effect {
    fileprivate init(_ operation: Operation) {
        self =
            switch operation.action {
            case _ where operation.call != nil: .invoke
            case .create: .create
            case .update: .update
            case .delete: .delete
            case .createLink, .updateLink: .link
            case .deleteLink: .unlink
            }
    }
}

extension BatchPrepared.SentRequest {
    package init(_ request: WireRequest, contentID: String) {
        self.init(
            contentID: contentID, method: request.method, url: request.url,
            headers: request.headers.fields.map { Operation.Header(name: $0.name, value: $0.value) },
            body: request.body)
    }

    package var request: WireRequest {
        WireRequest(method: method, url: url, headers: HTTPHeaders(headers.map { ($0.name, $0.value) }), body: body)
    }
}
