import OfflineStore
import OperationLog
import Operations

/// The search for the record after which a verdict changes, in the range between two positions of a store.
struct BisectSearch {
    private let store: InspectedStore
    private let reader: LogReader
    /// The search before its first evaluation.
    private let search: Bisection

    init(
        _ store: InspectedStore, good: PointInTime, bad: PointInTime, _ reader: LogReader
    ) throws(TidelogError) {
        let (first, last) = (try store.sequence(of: good, reader), try store.sequence(of: bad, reader))
        guard first < last else {
            throw TidelogError(
                .invalidRequest, "The bad place \(last) does not follow the good place \(first).",
                recovery: "Choose an earlier place as the good one.")
        }
        self.store = store
        self.reader = reader
        search = Bisection(good: first, bad: last)
    }

    /// Asks an external judge, which receives a copy of the store for each position.
    ///
    /// - Parameter scratch: The directory for the copies.
    func run(
        _ scratch: String, _ judge: (String) throws(TidelogError) -> Bisection.Verdict
    ) async throws(TidelogError) -> BisectReport {
        var search = search
        var report = BisectReport(search)
        while let place = search.next() {
            let copy = StoreCopy(directory: scratch + "/\(place)")
            try copy.write(store, through: place)
            let verdict = try judge(copy.directory)
            search.record(verdict, at: place)
            report.evaluations.append(.init(sequence: place, verdict: verdict))
        }
        report.outcome = search.outcome ?? .neverHolds
        if case .found(let sequence) = report.outcome {
            report.entry = try await store.entry(sequence, reader, try await store.past(at: .sequence(sequence)))
        }
        return report
    }

    /// Evaluates a condition on the states of the store.
    func run(_ trials: inout ConditionEvaluator) async throws(TidelogError) -> BisectReport {
        var search = search
        var report = BisectReport(search)
        while let place = search.next(preferring: trials.cheapPlaces) {
            let verdict: Bisection.Verdict =
                try await trials.holds(at: place, notBefore: search.good) ? .holds : .holdsNot
            search.record(verdict, at: place)
            report.evaluations.append(.init(sequence: place, verdict: verdict))
            trials.keep(above: search.open.above, below: search.open.below)
        }
        if !trials.isKnown, let refusal = trials.refusal { throw refusal }
        report.outcome = search.outcome ?? .neverHolds
        if case .found(let sequence) = report.outcome {
            report.isRestored = try await trials.isRestored(at: sequence)
            if !report.isRestored { report.entry = try await trials.entry(sequence) }
        }
        return report
    }
}
