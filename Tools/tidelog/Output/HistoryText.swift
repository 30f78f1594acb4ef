internal import LogInspection
internal import OperationLog
internal import Operations

/// A position of the log as a line: number, time, status of the operation, and summary.
struct HistoryText {
    private let item: HistoryItem
    private let outcomes: OperationOutcomes

    init(_ item: HistoryItem, outcomes: OperationOutcomes) {
        self.item = item
        self.outcomes = outcomes
    }

    /// Whether the position contains something unreadable.
    var isDamage: Bool {
        switch item {
        case .undecodable, .damage: true
        case .entry, .lost, .compacted, .carried: false
        }
    }

    /// Whether the line is shown even if only operations are requested. An undo counts as an operation.
    var isAlwaysShown: Bool {
        guard case .entry(let entry) = item else { return true }
        switch entry.record.body {
        case .operation, .operationsUndone, .operationsRedone, .deliveryChanged, .operationsElided, .clientChangesKept,
            .conflictResolved,
            .operationsIncompatible:
            return true
        default: return false
        }
    }

    /// Whether nothing can follow.
    var isEnd: Bool { if case .damage(_, resumesAt: nil) = item { true } else { false } }

    var line: String {
        switch item {
        case .entry(let entry), .carried(let entry, _, _):
            let outcome = Self.painted(outcomes[entry.sequence])
            return "\(column(entry.sequence))  \(entry.timeText ?? "-")  \(outcome)  \(entry.summary)"
        case .lost(let range):
            let last = range.upperBound
            return "\(column(range.lowerBound))  "
                + (range.count == 1 ? "a record that was" : "to \(last): \(range.count) records that were")
                + " lost by damage; \(range.count == 1 ? "its content" : "their contents") cannot be recovered"
        case .undecodable(let sequence, let kind, let reason):
            return "\(column(sequence))  a record of kind \(kind) that cannot be read: \(oneLine(reason))"
        case .damage(let damage, let resumesAt):
            let end = resumesAt.map { "The log continues with \($0)." } ?? "No record after it can be read."
            return "\(column(damage.sequence))  \(oneLine(damage.description)) \(end)"
        case .compacted(let sequence, let resumesAt):
            return
                "\(column(sequence))  Operations before \(resumesAt) were compacted; a snapshot contains their result."
        }
    }

    /// Returns the dependencies of the operation and the batch that sent it, one in each line, for output below
    /// ``line``.
    func graphLines(_ edges: [OperationDependences.Edge]) -> [String] {
        guard case .entry(let entry) = item else { return [] }
        let indent = String(repeating: " ", count: 8)
        var lines = edges.map { edge in
            let what =
                switch edge.reason {
                case .creates: "creates \(edge.entity.map(String.init(describing:)) ?? "")"
                case .changes: "changes \(edge.entity.map(String.init(describing:)) ?? "")"
                case .changeSet: "is in the same change set"
                case .transaction: "is in the same transaction"
                }
            return "needs \(edge.operation), which \(what)"
        }
        if entry.operation != nil, let batch = outcomes[entry.sequence]?.batch { lines.append("batch \(batch)") }
        return lines.enumerated().map { place, line in
            indent + (place == lines.count - 1 ? "└─ " : "├─ ") + line
        }
    }

    private func column(_ sequence: SequenceNumber) -> String {
        let text = String(sequence)
        return String(repeating: " ", count: max(0, 6 - text.count)) + text
    }

    /// Returns the status in color, padded to the width of the longest one.
    private static func painted(_ outcome: OperationOutcome?) -> String {
        let text = outcome.map(words) ?? ""
        let padded = text + String(repeating: " ", count: max(0, 9 - text.count))
        return switch outcome {
        case .confirmed: TextColor.good(padded)
        case .pending, .inFlight, .deferred: TextColor.warning(padded)
        case .inDoubt, .rejected, .unknown: TextColor.bad(padded)
        case .undone, .elided, .kept: TextColor.faint(padded)
        case nil: padded
        }
    }

    private static func words(_ outcome: OperationOutcome) -> String {
        switch outcome {
        case .pending: "pending"
        case .inFlight: "in flight"
        case .inDoubt: "in doubt"
        case .confirmed: "confirmed"
        case .rejected: "rejected"
        case .deferred: "postponed"
        case .undone: "undone"
        case .elided: "elided"
        case .kept: "kept"
        case .unknown: "unknown"
        }
    }
}
