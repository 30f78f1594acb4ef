import EDM
import ODataQuery
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// Determines the outcome of operations in doubt by reading. It never sends an operation again.
struct InDoubtResolver {
    let store: LocalStore
    let session: ServiceSession
    /// The policy that replaces the store's policy for all sets, if there is one.
    var policy: ServiceOptions.DoubtPolicy?
    /// Entities that do not exist any more, because deletions in doubt took effect. Nothing can be linked to them.
    var removed: Set<EntityID> = []
    /// The values of the entities that had the keys of creates before, by create. These entities were to be deleted
    /// first.
    var former: [SequenceNumber: PropertyValues] = [:]
    /// Whether an entity whose key and values are normalized forms of those of a create is its result. Otherwise they
    /// have to be equal.
    var acceptsNormalizedValues = true

    enum Finding {
        case tookEffect(BatchID, EntityPayload, EntitySet)
        /// The operation did not take effect.
        case mayBeSentAgain
        /// The outcome cannot be read, but the operation is idempotent.
        case mayBeDoneTwice
        /// The outcome cannot be determined: the service does not allow the read, or the create has a service-generated
        /// key and no other distinguishing value.
        case unknown

        var tookEffect: Bool { if case .tookEffect = self { true } else { false } }
    }

    func finding(_ pending: PendingOperation) async throws(TidelogError) -> Finding {
        do throws(TidelogError) {
            return try await read(pending)
        } catch {
            // An entity that cannot be read must not keep other operations from being sent.
            guard error.isLastingAnswer || error.isOfReading else { throw error }
            return .unknown
        }
    }

    private func read(_ pending: PendingOperation) async throws(TidelogError) -> Finding {
        guard case .inDoubt(let batch, _) = pending.status else { return .mayBeSentAgain }
        // The state of an entity proves neither that an action has changed it nor that none has.
        guard pending.operation.call == nil else { return .unknown }
        switch pending.operation.action {
        case .create(let creation, let parent):
            return try await finding(creation, of: pending, in: parent, batch)
        case .update(let id, let changes, let bindings):
            let reading = EntityReader(store: store, session: session)
            if let stream = pending.operation.stream {
                guard try await holds(stream, id), let (payload, set) = try await reading.read(id) else {
                    return .mayBeSentAgain
                }
                return .tookEffect(batch, payload, set)
            }
            guard bindings.allSatisfy({ $0.targets.allSatisfy(removed.contains) }) else { return .mayBeDoneTwice }
            guard let (payload, set) = try await reading.read(id) else { return .mayBeSentAgain }
            if holds(payload, changes) { return .tookEffect(batch, payload, set) }
            let former = try await store.references.formerValues(of: id) ?? [:]
            let type = try await store.model.findEntityType(payload.type ?? "") ?? set.entityType
            let isNormalized = changes.areNormalized(in: payload.values, former: former, of: type)
            return isNormalized ? .tookEffect(batch, payload, set) : .mayBeSentAgain
        // Setting or removing a link and deleting an entity are idempotent.
        case .delete, .createLink, .updateLink, .deleteLink: return .mayBeDoneTwice
        }
    }

    private func finding(
        _ creation: Creation, of pending: PendingOperation, in parent: Parent?, _ batch: BatchID
    ) async throws(TidelogError) -> Finding {
        let model = try await store.model
        guard let set = model.findEntitySet(creation.set), let type = model.findEntityType(creation.type) else {
            return .unknown
        }
        let reading = EntityReader(store: store, session: session)
        // Children of an entity whose key is unknown cannot be read.
        guard let collection = try await store.references.collection(of: set, below: parent) else { return .unknown }
        if set.isContainedSingle { return .mayBeDoneTwice }
        let place = collection.place
        if let key = KeyPredicate(of: type, in: creation.values) {
            var reference = ResourceReference.entity(set: set, key: key)
            if case .contained(let owner, let navigation, _) = place {
                reference = .contained(in: owner, by: navigation, key: key)
            }
            guard let (payload, _) = try await reading.read(reference, set) else {
                return .mayBeSentAgain
            }
            // The service may generate its own keys and use this one by coincidence, so the sent values have to
            // match too.
            if holds(payload, creation.values) { return .tookEffect(batch, payload, set) }
            let former = former[pending.sequence]
            if acceptsNormalizedValues, former == nil, creation.values.areStored(as: payload.values, of: type) {
                let known = try await store.doubts.priorKnowledge(
                    of: [payload], in: set, container: collection.container, besides: pending)
                // The store has had another entity with this key, which the service notes differently.
                if case .other? = known.first { return .unknown }
                return .tookEffect(batch, payload, set)
            }
            // The deletion before the creation did not take effect either.
            return former.map { holds(payload, $0) } == true ? .mayBeSentAgain : .unknown
        }
        let options = try await store.serviceOptions
        guard policy ?? options.doubts(of: set.name) != .ask else { return .unknown }
        for marks in Self.marks(of: creation, set, type, options) {
            let found = try await reading.search(set, at: place, where: marks)
            switch found.count {
            case 0: return .mayBeSentAgain
            // Another client may have changed it since. The mark is unique, so the existence of the entity is
            // sufficient.
            case 1: return .tookEffect(batch, found[0], set)
            // The mark is not as unique as declared.
            default: continue
            }
        }
        return .unknown
    }

    /// Returns sets of values that identify a new entity uniquely.
    ///
    /// The first set is the property that the app configured; further sets are alternate keys (`Core.AlternateKeys`).
    static func marks(
        of creation: Creation, _ set: EntitySet, _ type: EntityType, _ options: ServiceOptions
    ) -> [[(property: Property, value: Value)]] {
        var names: [[String]] = []
        if let property = options.correlationProperties[set.name] { names.append([property]) }
        names += (set.annotations + type.annotations).flatMap(\.alternateKeys)
        return names.compactMap { names in
            let marks = names.compactMap { name -> (property: Property, value: Value)? in
                guard let property = type.findProperty(name), let value = creation.values[name], value != .null else {
                    return nil
                }
                return (property, value)
            }
            return marks.count == names.count && !marks.isEmpty ? marks : nil
        }
    }

    /// Returns whether the service has the sent bytes of a stream. Reads the whole stream.
    private func holds(_ stream: StreamWrite, _ id: EntityID) async throws(TidelogError) -> Bool {
        let source = try await store.media.streamSource(id, property: stream.property)
        let streamed = try await session.stream(source.url, headers: ["Accept": "*/*"], isMedia: true)
        if streamed.response.status == 204 || streamed.response.status == 404 { return stream.content == nil }
        try streamed.response.requireSuccess("GET", source.url)
        return try await digest(of: streamed.body) == stream.content?.digest
    }

    private func digest(of body: StreamedBody) async throws(TidelogError) -> StreamDigest {
        var hash = StreamHash()
        while true {
            guard let chunk = try await body.next() else { return hash.finish() }
            hash.add(chunk)
        }
    }

    private func holds(_ payload: EntityPayload, _ values: PropertyValues) -> Bool {
        values.allSatisfy {
            payload.values[$0.name] == $0.value || ($0.value == .null && payload.values[$0.name] == nil)
        }
    }
}

extension TidelogError {
    /// Whether the error concerns only this read, because of the metadata or the response, so that other reads can
    /// succeed.
    var isOfReading: Bool {
        switch code {
        case .invalidRequest, .notFound, .notOData, .unsupported: true
        default: false
        }
    }
}

extension Annotation {
    /// The properties of each alternate key that the annotation declares.
    fileprivate var alternateKeys: [[String]] {
        guard term == "Org.OData.Core.V1.AlternateKeys" || term == "OData.Community.Keys.V1.AlternateKeys" else {
            return []
        }
        return expression.filter { $0.name == "Collection" }.flatMap(\.children).filter { $0.name == "Record" }.map {
            $0.children.filter { $0.attributes["Property"] == "Key" }.flatMap(\.children).flatMap(\.children).compactMap
            {
                $0.children.first { $0.attributes["Property"] == "Name" }?.attributes["PropertyPath"]
            }
        }.filter { !$0.isEmpty }
    }
}
