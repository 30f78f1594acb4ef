import EDM
import ODataWire
import OfflineStore
import OperationLog
import Operations
import SyncCore

/// Computes a what-if history and compares it with the history of a store.
struct WhatIfComputation {
    let store: InspectedStore

    func report(
        of alteration: WhatIfChanges, through end: PointInTime
    ) async throws(TidelogError) -> WhatIfReport {
        let reader = try store.openReader()
        let last = try store.sequence(of: end, reader)
        var named = Array(alteration.skipped) + alteration.order + Array(alteration.answers.keys)
        if !alteration.insertions.isEmpty { named.append(alteration.insertionPlace) }
        if let missing = named.filter({ $0 > last || $0 == 0 }).min(), missing > 0 || alteration.insertions.isEmpty {
            throw TidelogError(
                .notFound, "The log has no operation \(missing).", recovery: "Run 'tidelog log' to list all operations."
            )
        }
        let real = try await store.past(at: .sequence(last))
        let clock = ReplayClock()
        let reading = RecordReader(reader)
        for sequence in Set(alteration.order + alteration.answers.keys).sorted() {
            guard case .operation = try reading.record(sequence).body else {
                throw TidelogError(
                    .notFound, "Record \(sequence) is not an operation.",
                    recovery:
                        "Run 'tidelog log' to list the operations, or 'tidelog show \(sequence)' to see this record.")
            }
        }
        var alteration = alteration
        if !alteration.insertions.isEmpty {
            alteration.insertionPlace = try reading.behindChangeSet(alteration.insertionPlace, last: last)
        }
        let base = try reading.beforeChangeSet(alteration.base(end: last), last: last)
        let altered = try await store.past(at: .sequence(base), environment: clock.environment)
        if await !altered.store.hasModel {
            for sequence in alteration.skipped.sorted() {
                guard case .serviceInstalled = try reading.record(sequence).body else { continue }
                throw TidelogError(
                    .invalidRequest,
                    "Record \(sequence) contains the metadata of the store, which all later records need.",
                    recovery: "Skip another record.")
            }
        }
        var run = WhatIfRun(alteration, base: base, last: last, clock)
        try await altered.store.history.reserveEntities(below: try await real.store.history.nextEntity)
        try await run.go(altered.store, reading)
        if let silent = alteration.answers.keys.filter({ !run.answeredOperations.contains($0) }).min() {
            throw TidelogError(
                .notFound, "The log contains no response to operation \(silent).",
                recovery: "Run 'tidelog show \(silent)' to see its outcome.")
        }
        var report = WhatIfReport(real: real, altered: altered)
        (report.withoutPlace, report.countWithoutPlace) = (run.withoutPlace, run.countWithoutPlace)
        report.droppedAnswers = run.batches.dropped
        report.inserted = run.inserted
        report.standings = run.standings(
            try await real.store.queue.pendingOperations(), try await altered.store.queue.pendingOperations())
        report.realPlan = try await Self.requests(of: real.store)
        report.alteredPlan = try await Self.requests(of: altered.store)
        return report
    }

    private static func requests(of store: LocalStore) async throws(TidelogError) -> [String] {
        guard await store.hasModel else { return [] }
        let (plan, model) = (try await store.uploads.plan(), try await store.model)
        let encoder = BatchEncoder(
            model: model, serviceRoot: try await store.service?.root ?? "", options: try await store.serviceOptions)
        return plan.changeSets.flatMap(\.requests).map { request in
            let wire = encoder.encode(request)
            let body = String(decoding: wire.body.prefix(2_000), as: UTF8.self)
            return "\(wire.method) \(wire.url)" + (body.isEmpty ? "" : " \(body)")
        }
    }
}
