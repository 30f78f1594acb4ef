import EDM
import Operations

/// The causes of changes in one record, for one entity.
struct RecordCauses {
    let record: Record
    let sequence: SequenceNumber
    let entity: EntityID
    /// The operations that concern the entity.
    let operations: Set<SequenceNumber>

    /// The operations that the record confirms.
    var confirmed: Set<SequenceNumber> {
        guard case .batchAnswered(let answered) = record.body else { return [] }
        return Set(
            answered.outcomes.compactMap { outcome in
                if case .confirmed = outcome.result { outcome.operation } else { nil }
            })
    }

    func cause(
        of aspect: Provenance.Aspect, in view: EntityView, _ writers: LastWriters, keys: Set<String>
    ) -> (cause: Provenance.Cause, writer: LastWriters.Writer?) {
        let part: LastWriters.WrittenPart? =
            switch aspect {
            case .existence: nil
            case .property(let name): .property(name)
            case .link(let navigation): view.links[navigation]?.last.map { .link(navigation, $0) }
            }
        return cause(of: aspect, part, in: view, writers, keys: keys)
    }

    /// Returns the cause of a change of a part, and its writer if that is another record: a confirmed operation.
    func cause(
        of aspect: Provenance.Aspect, _ part: LastWriters.WrittenPart?, in view: EntityView, _ writers: LastWriters,
        keys: Set<String>
    ) -> (cause: Provenance.Cause, writer: LastWriters.Writer?) {
        switch record.body {
        case .operation: return (.edit(sequence), nil)
        case .batchAnswered(let answered): return answer(answered, aspect, part, in: view, writers, keys)
        case .downloadPage(let page):
            let isGone = page.removed.contains(entity) || page.left.contains(entity)
            return (isGone && aspect == .existence ? .leftQuery(query: page.query) : .download(query: page.query), nil)
        case .downloadFinished(let finished): return (.leftQuery(query: finished.query), nil)
        case .definingQueryRemoved(let name): return (.leftQuery(query: name), nil)
        case .entitiesRead: return (.read, nil)
        case .entitiesMissing: return (.missing, nil)
        case .operationsUndone(let list): return (.undo(own(list)), nil)
        case .operationsRedone(let list): return (.redo(own(list)), nil)
        case .operationsElided(let list): return (.elision(own(list)), nil)
        case .operationsAmended(let amended): return (.amendment(own(amended.map(\.operation))), nil)
        case .conflictResolved(let resolved): return (.conflict(resolved.decision), nil)
        case .serviceInstalled, .operationsIncompatible: return (.metadata, nil)
        default: return (.other(kind: record.kind), nil)
        }
    }

    private func own(_ list: [SequenceNumber]) -> [SequenceNumber] { list.filter(operations.contains) }

    private func answer(
        _ answered: BatchAnswered, _ aspect: Provenance.Aspect, _ part: LastWriters.WrittenPart?,
        in view: EntityView,
        _ writers: LastWriters, _ keys: Set<String>
    ) -> (cause: Provenance.Cause, writer: LastWriters.Writer?) {
        var reported: (operation: SequenceNumber, value: Value?)?
        for outcome in answered.outcomes {
            guard case .confirmed(let images) = outcome.result else { continue }
            for image in images where image.entity == entity {
                guard let name = aspect.name, case .property = aspect else { continue }
                if let value = image.values[name] { reported = (outcome.operation, value) }
            }
        }
        if let part, let (writer, value) = writers.lastEdit(of: part, among: confirmed) {
            guard let reported, reported.value != value else { return (writer.cause, writer) }
        }
        if let reported {
            let isKey = aspect.name.map(keys.contains) ?? false
            return (
                isKey
                    ? .key(batch: answered.batch, operation: reported.operation)
                    : .answer(batch: answered.batch, operation: reported.operation), nil
            )
        }
        // A consequence of the response to another entity, which now has a key.
        return (.key(batch: answered.batch, operation: nil), nil)
    }
}
