/// How far a log's commits have come, and who is to bring them further: the rules of the shared sync, as a value.
///
/// Each number is a record's and stands for all records up to it: `durable ≤ syncing ≤ written ≤ encoded`. One sync
/// runs at a time. What is encoded meanwhile waits for the next one, which takes all of it.
struct SyncProgress: Equatable {
    /// Has its number, and is in the writer's memory at least.
    private(set) var encoded: UInt64
    /// The operating system has it.
    private(set) var written: UInt64
    /// It survives a loss of power.
    private(set) var durable: UInt64
    private(set) var phase = Phase.idle
    /// Counts the syncs that were begun.
    private(set) var round: UInt64 = 0

    enum Phase: Equatable {
        case idle
        /// A sync is about to begin. It will cover what is encoded until then.
        case gathering
        case syncing(through: UInt64)
    }

    /// What somebody does who needs a record to be durable.
    enum Turn: Equatable {
        case durable
        /// Nobody syncs: do it.
        case lead
        /// Until the sync with this number has ended; then ask again.
        case wait(round: UInt64)
    }

    init(durable: UInt64) {
        encoded = durable
        written = durable
        self.durable = durable
    }

    func turn(for sequence: UInt64) -> Turn {
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

    /// Whether all that was written is durable now.
    var isWrittenDurable: Bool { written == durable }

    /// Whether all that was written will be durable when no sync runs any more.
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

    /// `isDurable` is whether the sync succeeded.
    mutating func endSync(isDurable: Bool) {
        if isDurable, case .syncing(let through) = phase { durable = max(durable, through) }
        phase = .idle
    }

    /// The log was synced by one who held it all the time.
    mutating func didSyncAlone() {
        precondition(phase == .idle)
        durable = written
    }
}
