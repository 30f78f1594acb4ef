internal import Synchronization

/// Answers look-ups of single keys by one statement for all that wait at the same moment.
///
/// The statement of a look-up begins after the look-up, so it finds everything that was committed before. Two statements
/// begin at least `pause` apart: their number does not depend on the number of look-ups.
final class GroupedLookup<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Answer = Result<Value?, LedgerStorageError>

    private struct LookupState {
        var waiting: [Key: [CheckedContinuation<Answer, Never>]] = [:]
        var isRunning = false
    }

    private let pause: Duration
    private let find: @Sendable ([Key]) async -> Result<[Key: Value], LedgerStorageError>
    private let state = Mutex(LookupState())

    /// - Parameter find: Returns the values of those keys that have one.
    init(
        pause: Duration, _ find: @escaping @Sendable ([Key]) async -> Result<[Key: Value], LedgerStorageError>
    ) {
        self.pause = pause
        self.find = find
    }

    /// Returns the value of a key, if it has one.
    func value(_ key: Key) async throws(LedgerStorageError) -> Value? {
        let answer = await withCheckedContinuation { (continuation: CheckedContinuation<Answer, Never>) in
            let begins = state.withLock { state in
                state.waiting[key, default: []].append(continuation)
                defer { state.isRunning = true }
                return !state.isRunning
            }
            if begins { Task { await run() } }
        }
        return try answer.get()
    }

    /// Executes statements until no look-up waits.
    private func run() async {
        while let group = next() {
            let end = ContinuousClock.now + pause
            let found = await find(Array(group.keys))
            for (key, continuations) in group {
                let answer = found.map { $0[key] }
                for continuation in continuations { continuation.resume(returning: answer) }
            }
            try? await Task.sleep(until: end, clock: .continuous)
        }
    }

    private func next() -> [Key: [CheckedContinuation<Answer, Never>]]? {
        state.withLock { state in
            state.isRunning = !state.waiting.isEmpty
            defer { state.waiting = [:] }
            return state.isRunning ? state.waiting : nil
        }
    }
}
