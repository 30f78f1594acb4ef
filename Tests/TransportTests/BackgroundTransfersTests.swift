import HTTPTypes
import SeededRandom
import Testing

@testable import Transport

/// UQ-27: the decisions about background transfers, as values.
struct BackgroundTransfersTests {
    private let response = BackgroundOutcome.response(
        BackgroundResponse(head: HTTPResponse(status: .ok), url: nil, body: .bytes([])))
    private let lost = BackgroundOutcome.failure(.disconnected, mayHaveBeenSent: true)
    private let cancelled = BackgroundOutcome.failure(.cancelled, mayHaveBeenSent: true)

    @Test func `a request starts only when the tasks of the session are known`() {
        var transfers = BackgroundTransfers()
        #expect(transfers.handle(.requested("a")) == [])
        #expect(transfers.handle(.restored([])) == [.removeLeftovers, .start("a")])
        #expect(transfers.handle(.requested("b")) == [.start("b")])
        #expect(transfers.handle(.ended("a", response)) == [.deliver("a", response)])
        #expect(transfers.handle(.ended("b", lost)) == [.deliver("b", lost)])
    }

    @Test func `the tasks of an earlier process are cancelled, and requests start when all have ended`() {
        var transfers = BackgroundTransfers()
        #expect(transfers.handle(.restored(["y", "x"])) == [.cancel("x"), .cancel("y")])
        #expect(transfers.handle(.requested("a")) == [])
        #expect(transfers.handle(.ended("x", cancelled)) == [.discard(cancelled)])
        #expect(
            transfers.handle(.ended("y", response)) == [.discard(response), .removeLeftovers, .start("a")])
    }

    @Test func `a task of an earlier process that ends before it is reported is not awaited`() {
        var transfers = BackgroundTransfers()
        #expect(transfers.handle(.ended("x", response)) == [.discard(response)])
        #expect(transfers.handle(.restored(["x"])) == [.removeLeftovers])
    }

    @Test func `a cancelled request that has not started was not sent, and never starts`() {
        var transfers = BackgroundTransfers()
        _ = transfers.handle(.requested("a"))
        let unsent = BackgroundOutcome.failure(.cancelled, mayHaveBeenSent: false)
        #expect(transfers.handle(.cancelled("a")) == [.deliver("a", unsent)])
        #expect(transfers.handle(.restored([])) == [.removeLeftovers])
    }

    @Test func `a cancelled request that runs delivers its result when it has ended`() {
        var transfers = BackgroundTransfers()
        _ = transfers.handle(.restored([]))
        _ = transfers.handle(.requested("a"))
        #expect(transfers.handle(.cancelled("a")) == [.cancel("a")])
        #expect(transfers.handle(.ended("a", response)) == [.deliver("a", response)])
        #expect(transfers.handle(.cancelled("a")) == [])
        #expect(transfers.handle(.ended("a", lost)) == [.discard(lost)])
    }

    @Test(arguments: 0..<200)
    func `each request has one result, and none runs at the same time as a task of an earlier process`(
        _ seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var transfers = BackgroundTransfers()
        var old = Set((0..<Int.random(in: 0...3, using: &random)).map { "old\($0)" })
        var requested = 0
        var running: Set<String> = []
        var delivered: [String: Int] = [:]
        var isRestored = false

        func handle(_ event: BackgroundTransfers.Event) {
            for action in transfers.handle(event) {
                switch action {
                case .start(let id):
                    #expect(old.isEmpty, "seed \(seed): \(id) starts, and \(old) run")
                    #expect(running.insert(id).inserted, "seed \(seed): \(id) starts twice")
                case .deliver(let id, _): delivered[id, default: 0] += 1
                case .cancel(let id): #expect(running.contains(id) || old.contains(id), "seed \(seed)")
                case .removeLeftovers: #expect(running.isEmpty && old.isEmpty, "seed \(seed)")
                case .discard, .resumeWaiters: break
                }
            }
        }
        func end(_ id: String) {
            if old.remove(id) == nil { running.remove(id) }
            handle(.ended(id, Bool.random(using: &random) ? response : lost))
        }
        for _ in 0..<60 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where !isRestored:
                isRestored = true
                handle(.restored(old.sorted()))
            case 1:
                requested += 1
                handle(.requested("\(requested)"))
            case 2 where requested > 0: handle(.cancelled("\(Int.random(in: 1...requested, using: &random))"))
            default:
                if let id = old.union(running).sorted().randomElement(using: &random) { end(id) }
            }
        }
        if !isRestored { handle(.restored(old.sorted())) }
        while let id = old.union(running).min() { end(id) }
        #expect(delivered.count == requested && delivered.values.allSatisfy { $0 == 1 }, "seed \(seed): \(delivered)")
    }
}
