public import OfflineStore
import OperationLog
import Operations

extension InspectedStore {
    /// Searches for the first record after which the condition holds, in at most ⌈log2 n⌉+1 evaluations.
    ///
    /// If the condition changes several times, one of the records is found after which it begins to hold. Cost: at most
    /// the records between the positions are folded, once; positions with a snapshot are preferred.
    /// - Parameters:
    ///   - good: A position after which the condition does not hold.
    ///   - bad: A later position after which it holds.
    /// - Throws: `invalidRequest` if the metadata at none of the positions contain the names that the condition uses.
    public func bisect(
        good: PointInTime, bad: PointInTime, when condition: StateCondition
    ) async throws(TidelogError) -> BisectReport {
        try await salvaging { store throws(TidelogError) in
            var trials = try ConditionEvaluator(store, condition)
            return try await BisectSearch(store, good: good, bad: bad, trials.reader).run(&trials)
        }
    }

    /// Searches with an external judge, which receives the store at each position as a separate directory that it may
    /// modify.
    ///
    /// Cost: the checksums of the whole log are verified, because in a damaged copy the damage would affect the judge's
    /// verdict.
    /// - Parameters:
    ///   - scratch: An existing empty directory, in which a directory is created for each position.
    ///   - judge: Evaluates the store in the given directory, which it may remove.
    /// - Throws: `invalidRequest` if `bad` does not follow `good`; `notFound` if a compaction has removed the records
    ///   of a position; `noStore` if there is no log; `storage` if the directory of a position cannot be written; the
    ///   errors of `judge`.
    public func bisect(
        good: PointInTime, bad: PointInTime, scratch: String,
        judge: (String) throws(TidelogError) -> Bisection.Verdict
    ) async throws(TidelogError) -> BisectReport {
        let store = try sound()
        return try await BisectSearch(store, good: good, bad: bad, try store.openReader()).run(scratch, judge)
    }
}
