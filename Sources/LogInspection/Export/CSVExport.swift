import EDM
import OfflineStore
import OperationLog
import Operations

/// A log as a table for spreadsheets: one row per record, according to RFC 4180 (CRLF, doubled quotes), in UTF-8.
///
/// The columns: `sequence`, `time` (ISO 8601, UTC), `kind`, `fate` (of operations), `action`, `entities`
/// (`Customers(~3) Orders(~4)`), `batch`, `operations` (sequence numbers), `status`, `code` and `message` (of the first
/// rejection), `summary`.
///
/// A spreadsheet interprets a cell that begins with `=`, `+`, `-`, `@`, a tab or a line end as a formula; such cells
/// are prefixed with an apostrophe.
public struct CSVExport {
    static let columns = [
        "sequence", "time", "kind", "fate", "action", "entities", "batch", "operations", "status", "code", "message",
        "summary",
    ]

    private let store: InspectedStore
    private let range: ExportRange

    /// Creates an export of the records in a range; by default of the whole log.
    public init(_ store: InspectedStore, range: ExportRange = ExportRange()) {
        self.store = store
        self.range = range
    }

    /// Calls `row` with each row, including its line end. It holds one record and the outcome of each operation in
    /// memory.
    ///
    /// - Returns: Whether all records could be read.
    /// - Throws: A `TidelogError` if the log cannot be read, with the code `notFound` if a compaction has removed the
    ///   records of the range; the errors of `row`.
    public func writeRows(_ row: (String) throws -> Void) throws -> Bool {
        do {
            let outcomes = try store.history.outcomes()
            let bounds = try store.bounds(of: range)
            var isSound = true
            try row(Self.row(Self.columns))
            let items = store.history.items()
            while let item = try items.next() {
                if case .damage = item { isSound = false }
                if case .undecodable = item { isSound = false }
                guard bounds.contains(item.sequence) else { continue }
                try row(Self.row(Self.cells(item, outcomes, items.sets)))
            }
            return isSound
        } catch let error as LogError {
            throw TidelogError(error)
        }
    }

    private static func cells(_ item: HistoryItem, _ outcomes: OperationOutcomes, _ sets: EntitySets) -> [String] {
        switch item {
        case .entry(let entry), .carried(let entry, _, _):
            let facts = RowFacts(entry.record.body)
            return [
                String(entry.sequence), entry.timeText ?? "", entry.kind, outcomes[entry.sequence]?.name ?? "",
                facts.action, entry.entities.map(sets.reference).joined(separator: " "),
                facts.batch.map(String.init) ?? "", facts.operations.map(String.init).joined(separator: " "),
                facts.refusal.map { String($0.status) } ?? "", facts.refusal?.code ?? "", facts.refusal?.message ?? "",
                entry.summary,
            ]
        case .lost(let range):
            return cells(range.lowerBound, "lost", "records up to \(range.upperBound), lost by damage")
        case .undecodable(let sequence, let kind, let reason):
            return cells(sequence, "undecodable", "a record of kind \(kind) that cannot be read: \(reason)")
        case .damage(let damage, _): return cells(damage.sequence, "damage", damage.description)
        case .compacted(let sequence, let next):
            return cells(sequence, "compacted", "records before \(next) were removed by a compaction")
        }
    }

    private static func cells(_ sequence: SequenceNumber, _ kind: String, _ summary: String) -> [String] {
        [String(sequence), "", kind] + Array(repeating: "", count: columns.count - 4) + [summary]
    }

    static func row(_ cells: [String]) -> String { cells.map(cell).joined(separator: ",") + "\r\n" }

    static func cell(_ text: String) -> String {
        var text = text
        switch text.utf8.first {
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0x09, 0x0A, 0x0D:
            text = "'" + text
        default: break
        }
        let needsQuotes = text.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
        return needsQuotes ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : text
    }
}

/// The columns of a record in addition to its summary.
struct RowFacts {
    var action = ""
    var batch: BatchID?
    var operations: [SequenceNumber] = []
    /// The first rejection.
    var refusal: Refusal?

    init(_ body: Record.Body) {
        switch body {
        case .operation(let operation): action = operation.actionName
        case .batchPrepared(let prepared): (batch, operations) = (prepared.batch, prepared.operations)
        case .batchAccepted(let accepted): batch = accepted.batch
        case .batchInterrupted(let interrupted): batch = interrupted.batch
        case .batchAnswered(let answered):
            (batch, operations) = (answered.batch, answered.outcomes.map(\.operation))
            refusal = answered.outcomes.lazy.compactMap(\.result.refusal).first
        case .operationsReleased(let list), .operationsUndone(let list), .operationsRedone(let list),
            .operationsElided(let list), .clientChangesKept(let list), .deliveryChanged(let list, _):
            operations = list
        case .operationsIncompatible(let incompatible):
            operations = incompatible.map(\.operation)
            refusal = incompatible.first?.refusal
        case .operationsAmended(let amended): operations = amended.map(\.operation)
        case .conflictResolved(let resolved): operations = resolved.takenBack + resolved.released
        default: break
        }
    }
}

extension BatchAnswered.Result {
    /// The rejection, or nil for other results.
    var refusal: Refusal? {
        switch self {
        case .rejected(let refusal), .deferred(let refusal, _): refusal
        case .confirmed, .notProcessed, .inDoubt: nil
        }
    }

    /// The name in the JSON of a history.
    var name: String {
        switch self {
        case .confirmed: "confirmed"
        case .rejected: "rejected"
        case .deferred: "deferred"
        case .notProcessed: "notProcessed"
        case .inDoubt: "inDoubt"
        }
    }
}

extension Operation {
    /// The name in the JSON of a history.
    var actionName: String {
        if call != nil { return "call" }
        return switch action {
        case .create: "create"
        case .update: "update"
        case .delete: "delete"
        case .createLink: "createLink"
        case .updateLink: "updateLink"
        case .deleteLink: "deleteLink"
        }
    }
}

extension InspectedStore {
    /// Returns the sequence numbers of the range. Without a beginning it starts at 0, so that the remains of a
    /// compaction are included.
    func bounds(of range: ExportRange) throws(TidelogError) -> Range<SequenceNumber> {
        if range == ExportRange() { return 0 ..< .max }
        let passage = try range.passage(in: try soundReader().reader, place: files.log)
        let first = range.from == nil ? 0 : passage.first
        return first..<max(first, range.to == nil ? .max : passage.last + 1)
    }
}
