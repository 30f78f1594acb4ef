import EDM
import OfflineStore

extension DataService {
    /// Executes the change sets and queries of the batch in order; each change set takes effect as a whole or not at
    /// all.
    ///
    /// Online, consecutive parts are sent in one `$batch` if they do not affect the same entities, because a new
    /// entity has no address before the response. A service may continue after a failed part (V2 does); the results
    /// of the later parts are applied too.
    ///
    /// A part with a condition is executed if the condition is true, also after a part that failed. The conditions are
    /// sent with the batch if the service supports them (`ServiceOptions.supportsRequestConditions`); otherwise the
    /// batch is sent in several requests.
    ///
    /// - Throws: The error of the first part that fails. Earlier parts stay applied.
    public func processBatch(_ batch: RequestBatch) async throws(TidelogError) {
        let model = try await backend.model()
        let sendsConditions = batch.conditions.isEmpty ? false : try await backend.acceptsConditions()
        var progress = BatchProgress()
        var next = 0
        while next < batch.parts.count {
            let stretch = batch.independentParts(from: next, sendsConditions: sendsConditions)
            try await process(batch, stretch, model, &progress)
            next = stretch.upperBound
        }
        if let failure = progress.failure { throw failure }
    }

    private func process(
        _ batch: RequestBatch, _ stretch: Range<Int>, _ model: EntityDataModel, _ progress: inout BatchProgress
    ) async throws(TidelogError) {
        var calls: [BatchCall] = []
        var modifications: [Int: ModificationCall] = [:]
        /// The part of each call.
        var places: [Int] = []
        for index in stretch {
            guard let condition = progress.condition(of: index, batch.conditions[index]) else {
                progress.succeeded[index] = false
                continue
            }
            switch batch.parts[index] {
            case .changes(let changes):
                let call = try ModificationCall(changes.operations, model: model, provider: backend)
                guard !call.intents.isEmpty else {
                    call.apply([], factory(model))
                    changes.isApplied = true
                    progress.succeeded[index] = true
                    continue
                }
                modifications[index] = call
                calls.append(condition.applied(to: .changes(call.intents), places))
            case .query(let query, let headers, _):
                calls.append(
                    condition.applied(to: .query(try request(query), headers: query.requestHeaders(headers)), places))
            }
            places.append(index)
        }
        for index in places { progress.succeeded[index] = false }
        for (index, outcome) in zip(places, calls.isEmpty ? [] : try await backend.process(calls)) {
            switch (outcome, batch.parts[index]) {
            case (.changes(let results), .changes(let changes)):
                modifications[index]?.apply(results, factory(model))
                changes.isApplied = true
                progress.succeeded[index] = true
            case (.query(let answer), .query(let query, let headers, _)):
                batch.parts[index] = .query(query, headers, result(answer, of: query.withHeaders(headers), model))
                progress.succeeded[index] = true
            case (.failed(let error), _): progress.failure = progress.failure ?? error
            default: break
            }
        }
    }
}

/// The outcomes of the parts of a batch so far.
private struct BatchProgress {
    /// Whether each part with a known outcome succeeded.
    var succeeded: [Int: Bool] = [:]
    /// The error of the first part that failed.
    var failure: TidelogError?

    enum Condition {
        case isTrue
        /// A condition for the service, which depends on parts of the same request.
        case open(BatchCondition)

        /// - Parameter places: The part of each earlier call.
        func applied(to call: BatchCall, _ places: [Int]) -> BatchCall {
            guard case .open(let condition) = self else { return call }
            return .conditional(condition.renumbered { places.firstIndex(of: $0) ?? 0 }, call)
        }
    }

    /// Returns the condition with which a part is executed, or nil if it is not executed.
    func condition(of index: Int, _ condition: BatchCondition?) -> Condition? {
        guard let condition else { return failure == nil ? .isTrue : nil }
        guard let value = condition.value(succeeded) else { return .open(condition.simplified(succeeded)) }
        return value ? .isTrue : nil
    }
}

extension RequestBatch {
    /// Returns the longest range of parts that affect disjoint entities.
    ///
    /// - Parameter sendsConditions: Whether conditions may depend on parts of the same request.
    fileprivate func independentParts(from start: Int, sendsConditions: Bool) -> Range<Int> {
        var touched: Set<ObjectIdentifier> = []
        for index in start..<parts.count {
            if index > start, let condition = conditions[index],
                !sendsConditions || condition.parts.allSatisfy({ $0 < start })
            {
                return start..<index
            }
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
            for relation in entity.related.changed { relation.targets.list.forEach(visit) }
        }
        named.forEach(visit)
        return Array(seen)
    }
}
