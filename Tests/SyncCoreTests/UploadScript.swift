import EDM
import ODataWire
import Operations
import SyncCore

/// A session with the responses of a store and a service that tests make up.
struct UploadScript {
    private(set) var session: UploadSession<TestFailure>
    let profile: ServiceProfile

    init(
        excluding excluded: Set<SequenceNumber> = [], patience: Duration = .seconds(600),
        _ change: (inout ServiceOptions) -> Void = { _ in }
    ) throws {
        session = UploadSession(excluding: excluded, patience: patience)
        var options = ServiceOptions()
        change(&options)
        profile = ServiceProfile(model: try TestStore().model, options: options)
    }

    /// Begins an upload with a plan of change sets with one operation each, up to the first command after it.
    init(
        planning count: Int, suspects: Set<SequenceNumber> = [], _ change: (inout ServiceOptions) -> Void = { _ in }
    ) throws {
        try self.init(change)
        begin(suspects: suspects)
        plan(count)
    }

    mutating func handle(_ event: UploadEvent<TestFailure>) { session.handle(event) }

    /// Continues up to the first plan.
    mutating func begin(suspects: Set<SequenceNumber> = [], deferred: [SequenceNumber: Int] = [:]) {
        handle(.accepted([]))
        handle(.resolved(InDoubtReport(released: suspects, knowledge: UploadKnowledge())))
        var queue = UploadQueue()
        queue.deferred = deferred
        handle(.queue(queue))
        handle(.conflicts(hasResolved: false))
    }

    /// Answers with a plan of change sets with one operation each, numbered from 1.
    mutating func plan(_ count: Int) {
        let changeSets = (1...count).map { number in
            PlannedChangeSet(requests: [
                PlannedRequest(
                    contentID: String(number), operation: UInt64(number),
                    modification: DataModification(.delete(.url("Orders(\(number))"))), creates: nil)
            ])
        }
        handle(.planned(UploadPlan(changeSets: changeSets), since: 1, profile))
    }

    func emptyPlan(awaiting entity: UInt64) -> UploadPlan {
        UploadPlan(held: [3: .keyUnknown(EntityID(rawValue: entity))])
    }

    /// Answers as if nothing else could be sent.
    mutating func finishPlanning() {
        handle(.planned(UploadPlan(), since: 1, profile))
        handle(.conflicts(hasResolved: false))
        handle(.accepted([]))
    }

    /// Answers that the part is logged as batch 1.
    mutating func prepare(_ obstacle: HeaderObstacle? = nil, requests: Int = 1, writesStream: Bool = false) {
        guard case .prepare(let plan, _, _) = session.next else { return }
        var batch = UploadedBatch(plan, number: 1) { WireRequest(method: "DELETE", url: "Orders(\($0.contentID))") }
        if requests > 1 { batch.changeSets[0].requests += batch.changeSets[0].requests }
        if writesStream { batch.changeSets[0].requests[0].stream = UploadedRequest.Stream() }
        handle(.prepared(.ready(batch, obstacle)))
    }

    /// Prepares the part, and answers that the service rejects the batch as a whole.
    mutating func refuse() {
        prepare()
        handle(.response(WireResponse(status: 400)))
    }

    /// Answers that the outcomes are logged with this result of each operation.
    mutating func answer(_ result: BatchAnswered.Result) {
        guard case .answer(let answer) = session.next else { return }
        handle(.answered(answer.batch.operations.map { BatchAnswered.Outcome(operation: $0, result: result) }))
    }

    /// Prepares the part, and answers that the service processed all of it.
    mutating func confirmAll() {
        prepare()
        guard case .send(let batch) = session.next else { return }
        let parts = batch.changeSets.map { _ in
            "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n--c--\r\n"
        }
        let body = parts.joined() + "--b--\r\n"
        handle(
            .response(
                WireResponse(
                    status: 200, headers: ["Content-Type": "multipart/mixed; boundary=b"], body: Array(body.utf8))))
        answer(.confirmed(images: []))
    }

    /// Returns the report of a poll of batch 5, which contains operation 1.
    func report(
        _ answer: MonitorReport<TestFailure>.Answer, age: Int64 = 0, isRepeated: Bool = false
    ) -> MonitorReport<TestFailure> {
        let request = UploadedRequest(contentID: "1", operation: 1, effect: .delete)
        return MonitorReport(
            batch: UploadedBatch(number: 5, changeSets: [UploadedChangeSet(requests: [request])]), monitor: "m",
            isRepeated: isRepeated, age: age, answer: answer, profile: profile, now: 0)
    }

    var refusal: Refusal { Refusal(status: 429, code: "", message: "no", method: "POST", url: "x") }

    /// The next command with its operations or batch.
    var next: String {
        switch session.next {
        case .begin: "begin"
        case .listAccepted: "listAccepted"
        case .poll(let batch): "poll \(batch)"
        case .wait(let pause, _): "wait \(pause)"
        case .resolveInDoubt: "resolveInDoubt"
        case .readQueue: "readQueue"
        case .resolveConflicts: "resolveConflicts"
        case .plan: "plan"
        case .elide(let operations, _): "elide \(Self.list(operations))"
        case .prepare(let plan, _, _): "prepare \(Self.list(plan.changeSets.flatMap(\.operations)))"
        case .send(let batch): "send \(Self.list(batch.operations))"
        case .probe: "probe"
        case .withdraw(let batch): "withdraw \(batch.number == 5 ? "5" : Self.list(batch.operations))"
        case .interrupt(let batch, _): "interrupt \(batch)"
        case .accept(let batch, let monitor): "accept \(batch) \(monitor)"
        case .answer(let answer):
            (["answer"] + answer.batch.changeSets.compactMap(\.outcome).map(Self.name)).joined(separator: " ")
        case .recordReferences: "recordReferences"
        case .readNeighborKeys(let entities, _): "readNeighborKeys \(Self.list(entities.map(\.rawValue)))"
        case .finish(let obstacle): obstacle.map { "finish \(Self.name($0))" } ?? "finish"
        case .fail(let obstacle): "fail \(Self.name(obstacle))"
        }
    }

    private static func list(_ numbers: some Sequence<UInt64>) -> String {
        numbers.map { String($0) }.joined(separator: " ")
    }

    private static func name(_ outcome: ChangeSetOutcome) -> String {
        switch outcome {
        case .members: "members"
        case .failed: "failed"
        case .notProcessed: "notProcessed"
        case .inDoubt: "inDoubt"
        }
    }

    private static func name(_ obstacle: UploadObstacle<TestFailure>) -> String {
        switch obstacle {
        case .failure(let failure): failure.message
        case .response(let response, let target): "\(response.status) \(target)"
        case .doubt(let reason, _): reason
        }
    }
}

/// An error of a request.
struct TestFailure: DeliveryFailure {
    var message = "lost"
    var mayHaveReachedService = false
    var isCancellation = false
    var isOfLostContent = false
    var isLastingOfMonitor = false
    var isSilence = false
}

/// The responses of a status monitor.
enum TestPoll: Sendable {
    case gone, unauthorized, unavailable, forbidden, foreign, silent, cancelled, refusedBatch, unknownBatch

    var answer: MonitorReport<TestFailure>.Answer {
        switch self {
        case .gone: .response(WireResponse(status: 410))
        case .unauthorized: .response(WireResponse(status: 401))
        case .unavailable: .response(WireResponse(status: 503))
        case .forbidden: .response(WireResponse(status: 403))
        case .foreign: .foreign
        case .silent: .failure(TestFailure(isSilence: true))
        case .cancelled: .failure(TestFailure(isCancellation: true))
        case .refusedBatch: .response(WireResponse(status: 200, headers: ["AsyncResult": "400"]))
        case .unknownBatch: .response(WireResponse(status: 200, headers: ["AsyncResult": "500"]))
        }
    }
}

struct Unexpected: Error {
    let command: String
    init(_ command: String) { self.command = command }
}
