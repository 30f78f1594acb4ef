import Operations

/// Reduces a record to the parts about some entities and operations.
struct RecordProjection {
    let entities: Set<EntityID>
    let operations: Set<SequenceNumber>

    func part(of record: Record) -> Record {
        var record = record
        switch record.body {
        case .downloadPage(let page): record.body = .downloadPage(part(of: page))
        case .entitiesRead(let images): record.body = .entitiesRead(images.filter { entities.contains($0.entity) })
        case .entitiesMissing(let missing): record.body = .entitiesMissing(missing.filter(entities.contains))
        case .batchAnswered(let answered): record.body = .batchAnswered(part(of: answered))
        case .batchPrepared(let prepared): record.body = .batchPrepared(part(of: prepared))
        case .streamsStored(let images): record.body = .streamsStored(images.filter { entities.contains($0.entity) })
        case .operationsIncompatible(let incompatible):
            record.body = .operationsIncompatible(incompatible.filter { operations.contains($0.operation) })
        case .operationsAmended(let amended):
            record.body = .operationsAmended(amended.filter { operations.contains($0.operation) })
        default: break
        }
        return record
    }

    private func part(of page: DownloadPage) -> DownloadPage {
        DownloadPage(
            query: page.query, entities: page.entities.filter { entities.contains($0.entity) },
            unchanged: page.unchanged.filter(entities.contains), removed: page.removed.filter(entities.contains),
            left: page.left.filter(entities.contains),
            links: page.links.filter { entities.contains($0.source) || ($0.target.map(entities.contains) ?? false) },
            next: page.next)
    }

    private func part(of answered: BatchAnswered) -> BatchAnswered {
        let outcomes = answered.outcomes.compactMap { outcome -> BatchAnswered.Outcome? in
            guard case .confirmed(let images) = outcome.result else {
                return operations.contains(outcome.operation) ? outcome : nil
            }
            let own = images.filter { entities.contains($0.entity) }
            guard !own.isEmpty || operations.contains(outcome.operation) else { return nil }
            return BatchAnswered.Outcome(operation: outcome.operation, result: .confirmed(images: own))
        }
        return BatchAnswered(batch: answered.batch, outcomes: outcomes)
    }

    private func part(of prepared: BatchPrepared) -> BatchPrepared {
        let changeSets = prepared.changeSets.map { $0.filter { operations.contains($0.operation) } }
        let sent = prepared.sent.enumerated().map { place, requests in
            guard place < changeSets.count else { return [BatchPrepared.SentRequest]() }
            let identifiers = Set(changeSets[place].map(\.contentID))
            return requests.filter { identifiers.contains($0.contentID) }
        }
        var part = BatchPrepared(batch: prepared.batch, changeSets: changeSets, sent: sent)
        part.coalesces = prepared.coalesces
        return part
    }
}
