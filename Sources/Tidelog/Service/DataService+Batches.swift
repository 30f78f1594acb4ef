import EDM
import SyncEngine

extension DataService {
    /// Runs the change sets and queries of the batch in order; each change set takes effect as a whole or not at all. Throws
    /// the error of the first that fails; what was applied before stays.
    ///
    /// Online the parts travel in one `$batch` as far as they do not touch the same entities: what a part creates has no
    /// address before the service has answered. A service may go on behind a part that failed (V2 does so); what it did
    /// then is taken over as well.
    public func processBatch(_ batch: RequestBatch) async throws(TidelogError) {
        let model = try await provider.model()
        var next = 0
        while next < batch.parts.count {
            let stretch = batch.independentParts(from: next)
            try await process(batch, stretch, model)
            next = stretch.upperBound
        }
    }

    private func process(
        _ batch: RequestBatch, _ stretch: Range<Int>, _ model: EntityDataModel
    ) async throws(TidelogError) {
        var calls: [BatchCall] = []
        var modifications: [Int: ModificationCall] = [:]
        var places: [Int] = []
        for index in stretch {
            switch batch.parts[index] {
            case .changes(let changes):
                let call = try ModificationCall(changes.operations, model: model, provider: provider)
                guard !call.intents.isEmpty else {
                    call.apply([], factory(model))
                    changes.isApplied = true
                    continue
                }
                modifications[index] = call
                calls.append(.changes(call.intents))
            case .query(let query, _): calls.append(.query(try request(query)))
            }
            places.append(index)
        }
        var failure: TidelogError?
        for (index, outcome) in zip(places, try await provider.process(calls)) {
            switch (outcome, batch.parts[index]) {
            case (.changes(let results), .changes(let changes)):
                modifications[index]?.apply(results, factory(model))
                changes.isApplied = true
            case (.query(let answer), .query(let query, _)):
                batch.parts[index] = .query(query, result(answer, model))
            case (.failed(let error), _): failure = failure ?? error
            default: break
            }
        }
        if let failure { throw failure }
    }
}

extension RequestBatch {
    /// The longest run of parts of which none touches an entity that another one touches.
    fileprivate func independentParts(from start: Int) -> Range<Int> {
        var touched: Set<ObjectIdentifier> = []
        for index in start..<parts.count {
            guard case .changes(let changes) = parts[index] else { continue }
            let own = Set(changes.operations.flatMap(\.entities))
            guard own.isDisjoint(with: touched) else { return start..<index }
            touched.formUnion(own)
        }
        return start..<parts.count
    }
}

extension ChangeSet.Operation {
    /// Every entity that the call names, those that are bound or new below another included.
    fileprivate var entities: [ObjectIdentifier] {
        let named: [EntityValue] =
            switch kind {
            case .create(let entity, let parent): [entity] + (parent.map { [$0.0] } ?? [])
            case .update(let entity), .delete(let entity): [entity]
            case .createLink(let from, _, let to), .updateLink(let from, _, let to): [from, to]
            case .deleteLink(let from, _, let to): [from] + (to.map { [$0] } ?? [])
            }
        var seen: Set<ObjectIdentifier> = []
        func visit(_ entity: EntityValue) {
            guard seen.insert(ObjectIdentifier(entity)).inserted else { return }
            entity.bindings.forEach { visit($0.entity) }
            for related in entity.related.values where related.edit != .none { related.list.forEach(visit) }
        }
        named.forEach(visit)
        return Array(seen)
    }
}
