/// The state machine of the shared sync: the progress of a log's commits, and which thread must sync next.
///
/// Each number is a sequence number and stands for all records up to it: `durable ≤ syncing ≤ written ≤ encoded`. One
/// sync runs at a time. Commits that are encoded in the meantime wait for the next sync, which includes all of them.
struct SyncProgress: Equatable {
    /// The last record that has a sequence number and is at least in the writer's memory.
    private(set) var encoded: UInt64
    /// The last record that the operating system has.
    private(set) var written: UInt64
    /// The last record that survives a loss of power.
    private(set) var durable: UInt64
    private(set) var phase = Phase.idle
    /// The number of syncs begun so far.
    private(set) var round: UInt64 = 0

    enum Phase: Equatable {
        case idle
        /// A sync is about to begin. It will include everything that is encoded before it begins.
        case gathering
        case syncing(through: UInt64)
    }

    /// The action of a thread that needs a record to be durable.
    enum SyncAction: Equatable {
        case durable
        /// No sync is running: run one.
        case lead
        /// Wait until the sync with this number has ended, then call again.
        case wait(round: UInt64)
    }

    init(durable: UInt64) {
        encoded = durable
        written = durable
        self.durable = durable
    }

    func turn(for sequence: UInt64) -> SyncAction {
        if sequence <= durable { return .durable }
        switch phase {
        case .idle: return .lead
        case .gathering: return .wait(round: round)
        case .syncing(let through): return .wait(round: sequence <= through ? round : round + 1)
        }
    }

    var isSyncing: Bool {
        if case .syncing = phase { true } else { false }
    }

    /// Whether all written records are durable.
    var isWrittenDurable: Bool { written == durable }

    /// Whether all written records will be durable when the running sync has ended.
    var isWrittenCovered: Bool {
        if case .syncing(let through) = phase { return written == through }
        return isWrittenDurable
    }

    mutating func didEncode(through sequence: UInt64) { encoded = sequence }

    mutating func didWrite() { written = encoded }

    mutating func beginGathering() {
        precondition(phase == .idle)
        phase = .gathering
        round += 1
    }

    mutating func beginSync() {
        precondition(phase == .gathering)
        phase = .syncing(through: written)
    }

    /// - Parameter isDurable: Whether the sync succeeded.
    mutating func endSync(isDurable: Bool) {
        if isDurable, case .syncing(let through) = phase { durable = max(durable, through) }
        phase = .idle
    }

    /// The log was synced while the monitor was held.
    mutating func didSyncAlone() {
        precondition(phase == .idle)
        durable = written
    }
}
