import OfflineStore
import Operations
import SyncCore

extension ReportContent {
    /// The largest integer that JavaScript represents exactly.
    private static let largest: UInt64 = (1 << 53) - 1

    /// Removes items with larger numbers, and reports it.
    mutating func leaveOutLargeNumbers() {
        func fits(_ number: UInt64?) -> Bool { number.map { $0 <= Self.largest } ?? true }
        var count = 0
        func keep(_ isKept: Bool) -> Bool {
            if !isKept { count += 1 }
            return isKept
        }
        rows = rows.compactMap { row in
            guard keep(fits(row.sequence)) else { return nil }
            let entities = row.entities.filter { fits($0.rawValue) }
            guard !keep(entities.count == row.entities.count) else { return row }
            return Row(
                sequence: row.sequence, time: row.time, kind: row.kind, outcome: row.outcome, action: row.action,
                text: row.text, entities: entities)
        }
        entities.removeAll { !keep(fits($0.id.rawValue)) }
        batches.removeAll { batch in
            !keep(
                fits(batch.id) && fits(batch.prepared) && fits(batch.ended) && batch.operations.allSatisfy(fits)
                    && batch.outcomes.allSatisfy { fits($0.operation) })
        }
        conflicts.removeAll { !keep(fits($0.entity.rawValue) && $0.operations.allSatisfy(fits)) }
        errors.removeAll { !keep(fits($0.requestID) && fits($0.entity.rawValue)) }
        guard count > 0 else { return }
        notices.append(
            "Numbers above \(Self.largest) are omitted at \(count) places, because browsers cannot represent them.")
    }
}
