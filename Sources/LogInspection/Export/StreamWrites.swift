import Operations
import SyncCore

/// The unsent operations of a log that write a stream. Their contents are in files next to the log, which an export
/// does not include.
///
/// It holds one number per operation in memory.
struct StreamWrites {
    private var open: Set<SequenceNumber> = []

    var count: Int { open.count }

    /// Adds a record. Undone operations are kept, because they may be redone.
    mutating func add(_ body: Record.Body, _ sequence: SequenceNumber) {
        switch body {
        case .operation(let operation): add(operation, sequence)
        case .batchAnswered(let answered):
            for outcome in answered.outcomes {
                if case .confirmed = outcome.result { open.remove(outcome.operation) }
            }
        case .operationsElided(let operations): open.subtract(operations)
        case .operationsAmended(let amended):
            for amended in amended {
                open.remove(amended.operation)
                add(amended.content, amended.operation)
            }
        default: break
        }
    }

    /// Adds a record of a snapshot.
    mutating func add(snapshotItem kind: UInt8, _ payload: [UInt8]) {
        guard kind == SnapshotCodec.ItemKind.operation.rawValue else { return }
        switch try? SnapshotCodec.decode(.operation, payload: payload) {
        case .pending(let pending): add(pending.operation, pending.sequence)
        case .undone(let undone): add(undone.operation.operation, undone.sequence)
        default: break
        }
    }

    private mutating func add(_ operation: Operation, _ sequence: SequenceNumber) {
        if operation.stream?.content != nil { open.insert(sequence) }
    }
}
