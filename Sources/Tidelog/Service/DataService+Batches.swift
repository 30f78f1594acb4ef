import EDM
import SyncEngine

extension DataService {
    /// Executes the change sets and queries of the batch in order; each change set takes effect as a whole or not at
    /// all.
    ///
    /// Online, consecutive parts are sent in one `$batch` if they do not affect the same entities, because a new
    /// entity has no address before the response. A service may continue after a failed part (V2 does); the results
    /// of the later parts are applied too.
    ///
    /// - Throws: The error of the first part that fails. Earlier parts stay applied.
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
            case .query(let query, let headers, _):
                calls.append(.query(try request(query), headers: query.requestHeaders(headers)))
            }
            places.append(index)
        }
        var failure: TidelogError?
        for (index, outcome) in zip(places, try await provider.process(calls)) {
            switch (outcome, batch.parts[index]) {
            case (.changes(let results), .changes(let changes)):
                modifications[index]?.apply(results, factory(model))
                changes.isApplied = true
            case (.query(let answer), .query(let query, let headers, _)):
                batch.parts[index] = .query(query, headers, result(answer, model))
            case (.failed(let error), _): failure = failure ?? error
            default: break
            }
        }
        if let failure { throw failure }
    }
}

extension RequestBatch {
    /// Returns the longest range of parts that affect disjoint entities.
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
    /// The entities that the modification names, including bound entities and new ones below them.
    fileprivate var entities: [ObjectIdentifier] {
        let named: [EntityValue] =
            switch kind {
            case .create(let entity, let parent): [entity] + (parent.map { [$0.0] } ?? [])
            case .update(let entity), .delete(let entity): [entity]
            case .createLink(let from, _, let to), .updateLink(let from, _, let to): [from, to]
            case .deleteLink(let from, _, let to): [from] + (to.map { [$0] } ?? [])
            case .invoke(let call): call.entities
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
