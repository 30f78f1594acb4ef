internal import CBench
internal import EDM
internal import Foundation
internal import ODataWire
internal import Operations
internal import SyncCore
internal import Views

extension Bench {
    static let upload = Bench(
        name: "upload",
        summary: "A queue of 100,000 operations: planning, encoding and reconciling its batches; and end to end."
    ) { surroundings in
        let operations = surroundings.operations ?? 100_000
        var report = Report()
        surroundings.say("upload: \(operations) operations")
        let queue = try UploadQueue(
            path: surroundings.directory.fresh("views.sqlite"), day: OfflineDay(operations: operations))
        report.cases.append(
            Case("create the queue (state only, no log)", queue.applied, .operationsPerSecond))
        let result = try queue.drain()
        report.cases += result.cases(operations)
        report.notes += result.notes
        for (operations, limit) in [
            (operations / 10, 100), (operations, 100), (operations / 10, 1_000), (operations, 1_000),
        ] {
            surroundings.say("upload: memory, \(operations) operations, \(limit) requests per batch")
            let path = try surroundings.directory.fresh("memory.sqlite")
            _ = try UploadQueue(path: path, day: OfflineDay(operations: operations))
            let peak = try UploadMemory.runInProcess(views: path, limit: limit)
            report.cases.append(
                Case("memory of a plan, \(operations) pending, \(limit) requests", peak, .mebibytes))
        }
        let few = operations / 5
        surroundings.say("upload: \(few) operations end to end")
        report.cases += try await EndToEnd.cases(operations: max(few, 1), in: surroundings.directory)
        return report
    }
}

/// The views of a store that contains only a queue.
final class UploadQueue {
    private let views: SQLiteState
    private let state: WorkingSet
    private var fold: Fold
    private var next: SequenceNumber = 1
    /// The number of operations per second when the queue was created.
    private(set) var applied = 0.0

    init(path: String, day: OfflineDay) throws {
        views = try SQLiteState(path: path, store: "bench")
        state = WorkingSet(over: views)
        fold = try Fold(storage: state)
        var records: [Record] = []
        try day.forEachRecord { records.append($0) }
        let firstOperation = records.count - day.operations
        try apply(Array(records[..<firstOperation]))
        let start = ContinuousClock.now
        try apply(Array(records[firstOperation...]))
        applied = Double(day.operations) / Stopwatch.seconds(since: start)
    }

    private func apply(_ records: [Record]) throws {
        for start in stride(from: 0, to: records.count, by: 1_000) {
            try state.transaction {
                for record in records[start..<min(start + 1_000, records.count)] {
                    try fold.apply(record, sequence: next)
                    next += 1
                }
                try fold.finishRebase()
            }
            _ = fold.drainDirtySet()
        }
    }

    struct Result {
        var batches = 0
        var bytes = 0
        var planning = 0.0
        var writing = 0.0
        /// The time to encode the same requests individually, without a batch.
        var bodies = 0.0
        var preparing = 0.0
        var firstAnswer = 0.0
        var answering = 0.0

        func cases(_ operations: Int) -> [Case] {
            let count = Double(operations)
            return [
                Case("plan", count / planning, .operationsPerSecond, target: .atLeast(200_000)),
                Case(
                    "write batches", Double(bytes) / writing / 1e6, .megabytesPerSecond,
                    against: .init(name: "the requests alone", value: Double(bytes) / bodies / 1e6)),
                Case("prepared, into the state", count / preparing, .operationsPerSecond),
                Case("answered, into the state", count / answering, .operationsPerSecond),
                Case(
                    "the first response, which determines the dependencies of all operations", firstAnswer * 1e3,
                    .milliseconds),
            ]
        }

        var notes: [String] {
            ["\(batches) batches, \(bytes) bytes; the views in SQLite, with generated responses."]
        }
    }

    /// Sends all operations to a service that confirms each of them.
    func drain() throws -> Result {
        guard let model = fold.model else { throw Failure("There is no model.") }
        let encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: OfflineDay.service.root)
        let options = UploadPlanner.Options(reach: .batch)
        var result = Result()
        var key: Int64 = 10_000_000
        while try state.pendingCount() > 0 {
            var start = ContinuousClock.now
            // As the store does.
            let plan = try views.reading { try UploadPlanner(storage: state, model: model, options: options).plan() }
            result.planning += Stopwatch.seconds(since: start)
            guard !plan.isEmpty else { throw Failure("The rest of the queue is held back: \(plan.held.prefix(3)).") }
            result.batches += 1
            start = ContinuousClock.now
            let body = try Self.batch(plan, encoder, number: UInt64(result.batches)).body
            result.writing += Stopwatch.seconds(since: start)
            result.bytes += body.count
            start = ContinuousClock.now
            var length = 0
            for request in plan.changeSets.flatMap(\.requests) {
                length += encoder.encode(request.modification).body.count
            }
            result.bodies += Stopwatch.seconds(since: start)
            guard length < body.count else { throw Failure("The batch is shorter than its parts.") }
            start = ContinuousClock.now
            let batch = try state.header().nextBatch
            try apply([Record(time: 0, body: .batchPrepared(plan.prepared(as: batch)))])
            result.preparing += Stopwatch.seconds(since: start)
            let outcomes = try plan.changeSets.flatMap(\.operations).map { operation in
                BatchAnswered.Outcome(
                    operation: operation, result: .confirmed(images: try images(operation, &key)))
            }
            start = ContinuousClock.now
            try apply([Record(time: 0, body: .batchAnswered(BatchAnswered(batch: batch, outcomes: outcomes)))])
            let seconds = Stopwatch.seconds(since: start)
            if result.batches == 1 { result.firstAnswer = seconds } else { result.answering += seconds }
        }
        return result
    }

    /// Returns the batch as the engine writes it.
    static func batch(_ plan: UploadPlan, _ encoder: RequestEncoder, number: UInt64) throws -> WireRequest {
        let parts = plan.changeSets.map { changeSet in
            BatchPart.changeSet(
                changeSet.requests.map {
                    .init(contentID: $0.contentID, request: encoder.encode($0.modification).asBatchPart)
                })
        }
        return try BatchExchange(
            BatchRequest(parts: parts), version: encoder.version, options: encoder.options, headers: encoder.headers,
            number: number
        ).request
    }

    private func images(_ operation: SequenceNumber, _ key: inout Int64) throws -> [EntityImage] {
        guard let pending = try state.pendingOperation(operation)?.operation else { return [] }
        switch pending.action {
        case .create(let creation, _):
            key += 1
            return [
                EntityImage(
                    entity: creation.entity, set: creation.set, type: creation.type, values: ["ID": .integer(key)],
                    etag: "1")
            ]
        case .update(let entity, _, _):
            return [EntityImage(entity: entity, set: "Orders", type: "Shop.Order", values: [:], etag: "2")]
        default: return []
        }
    }
}

/// Plans one batch in a separate process and returns its memory usage.
enum UploadMemory {
    static func runInProcess(views path: String, limit: Int) throws -> Double {
        try ChildProcess.result([Bench.upload.name, "--views", path, "--operations", "\(limit)"])
    }

    static func run(views path: String, limit: Int) throws {
        let views = try SQLiteState(path: path, store: "bench")
        let state = WorkingSet(over: views)
        guard let model = views.model else { throw Failure("There is no model.") }
        let options = UploadPlanner.Options(requestLimit: limit, reach: .batch)
        let plan = try UploadPlanner(storage: state, model: model, options: options).plan()
        let encoder = RequestEncoder(
            version: model.version, model: model, serviceRoot: OfflineDay.service.root)
        _ = try UploadQueue.batch(plan, encoder, number: 1)
        try ChildProcess.answer(ChildProcess.peak)
    }
}
